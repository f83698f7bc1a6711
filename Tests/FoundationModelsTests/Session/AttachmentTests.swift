import Foundation
import FoundationModels
import FoundationModelsTesting
import Testing

@Suite struct AttachmentTests {
    @Test func attachmentsBecomeSegments() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "a cat")
        let session = LanguageModelSession(model: model)
        let url = URL(fileURLWithPath: "/tmp/cat.png")
        try await session.respond {
            "What is this?"
            Attachment(imageURL: url, orientation: .left).label("photo")
            "Be brief."
        }
        guard case .prompt(let prompt)? = model.requests[0].transcript.first,
            case .attachment(let attachment) = prompt.segments[1], case .image(let image) = attachment.content
        else {
            Issue.record("no attachment")
            return
        }
        #expect(prompt.segments.map(\.text) == ["What is this?", nil, "Be brief."])
        #expect(attachment.label == "photo")
        #expect(image.url == url)
        #expect(image.orientation == .left)
    }

    @Test func referencesFindTheLastImageOfTheirLabel() throws {
        func entry(_ path: String, _ label: String) -> Transcript.Entry {
            .prompt(
                Transcript.Prompt(segments: [
                    .attachment(
                        Transcript.AttachmentSegment(
                            content: .image(Transcript.ImageAttachment(imageURL: URL(fileURLWithPath: path))),
                            label: label))
                ]))
        }
        let entries = [entry("/a", "one"), entry("/b", "two"), entry("/c", "one")]
        let reference = try ImageReference(GeneratedContent(json: #"{"attachmentLabel": "one"}"#))
        #expect(reference.resolved(in: entries)?.url?.path == "/c")
        #expect(reference.resolved(in: Transcript(entries: entries.prefix(2)))?.url?.path == "/a")
        #expect(try ImageReference(GeneratedContent(json: #"{"attachmentLabel": "x"}"#)).resolved(in: entries) == nil)
        #expect(try ImageReference(reference.generatedContent) == reference)
    }

    @Test(arguments: [
        (1, 1, 4, true), (2, 3, 24, true), (0, 1, 0, false), (1, 1, 3, false), (Int.max, 2, 8, false),
        (-1, -1, 4, false),
    ])
    func picturesHaveTheirBytes(_ width: Int, _ height: Int, _ bytes: Int, _ isPicture: Bool) {
        #expect((CGImage(width: width, height: height, pixels: Data(count: bytes)) != nil) == isPicture)
    }
}
