import Foundation
import FoundationModels
import Testing

/// The rules by which events become entries.
@Suite struct TurnFoldTests {
    private func fold(_ events: [LanguageModelExecutorGenerationChannel.Event]) -> TurnFold {
        events.reduce(into: TurnFold()) { $0.apply($1) }
    }

    @Test func onlyNeighboursOfOneKindCoalesce() {
        let fold = fold([
            .reasoning(action: .appendText("a", tokenCount: 1)), .reasoning(action: .appendText("b", tokenCount: 1)),
            .response(action: .appendText("c", tokenCount: 1)), .reasoning(action: .appendText("d", tokenCount: 1)),
            .response(action: .appendText("e", tokenCount: 1)), .response(action: .appendText("f", tokenCount: 1)),
        ])
        #expect(fold.entries.map(\.kind) == ["reasoning", "response", "reasoning", "response"])
        #expect(fold.entries.map(\.text) == ["ab", "c", "d", "ef"])
        #expect(fold.usage.output.totalTokenCount == 6)
        #expect(fold.usage.output.reasoningTokenCount == 3)
    }

    @Test func identifiersAnchor() {
        let fold = fold([
            .response(entryID: "r", action: .appendText("a", tokenCount: 1)),
            .reasoning(entryID: "t", action: .appendText("b", tokenCount: 1)),
            .response(entryID: "r", action: .appendText("c", tokenCount: 1)),
            // Without one, it goes where the last event went.
            .response(action: .appendText("d", tokenCount: 1)),
        ])
        #expect(fold.entries.map(\.id) == ["r", "t"])
        #expect(fold.entries.map(\.text) == ["acd", "b"])
    }

    @Test func metadataAloneMakesNoEntryButWaitsForOne() {
        let alone = fold([
            .response(action: .updateMetadata(["a": 1])),
            .response(
                action: .updateUsage(
                    input: .init(totalTokenCount: 1, cachedTokenCount: 0),
                    output: .init(totalTokenCount: 1, reasoningTokenCount: 0))),
        ])
        #expect(alone.entries.isEmpty)
        let followed = fold([
            .response(action: .updateMetadata(["a": 1])), .response(action: .appendText("x", tokenCount: 1)),
        ])
        guard case .response(let response)? = followed.entries.first else {
            Issue.record("no response")
            return
        }
        #expect(response.metadata == ["a": GeneratedContent(1)])
    }

    @Test func metadataIsReplaced() {
        let fold = fold([
            .response(entryID: "r", action: .appendText("x", tokenCount: 1)),
            .response(entryID: "r", action: .updateMetadata(["a": 1, "b": 2])),
            .response(entryID: "r", action: .updateMetadata(["c": 3])),
        ])
        #expect(fold.response?.metadata == ["c": GeneratedContent(3)])
    }

    @Test func segments() {
        let image = Transcript.AttachmentSegment(
            id: "i", content: .image(Transcript.ImageAttachment(imageURL: URL(fileURLWithPath: "/tmp/a.png"))))
        let fold = fold([
            .response(action: .appendText("a", segmentID: "1", tokenCount: 1)),
            .response(action: .appendText("b", segmentID: "2", tokenCount: 1)),
            .response(action: .appendText("c", segmentID: "1", tokenCount: 1)),
            .response(action: .addAttachmentSegment(image)), .response(action: .appendText("d", tokenCount: 1)),
            .response(action: .replaceTextSegment("B", segmentID: "2", tokenCount: 5)),
        ])
        #expect(fold.response?.segments.map(\.text) == ["ac", "B", nil, "d"])
        #expect(fold.usage.output.totalTokenCount == 3 + 5)
        var removed = fold
        removed.apply(.response(action: .removeAttachmentSegment(id: "i")))
        #expect(removed.response?.segments.count == 3)
    }

    @Test func signatures() {
        let fold = fold([
            .reasoning(action: .appendText("a", tokenCount: 1)),
            .reasoning(action: .updateSignature(Data([1, 2]), tokenCount: 3)),
        ])
        guard case .reasoning(let reasoning)? = fold.entries.first else {
            Issue.record("no reasoning")
            return
        }
        #expect(reasoning.signature == Data([1, 2]))
        #expect(fold.usage.output.reasoningTokenCount == 4)
    }

    @Test func toolCallsCanBeTakenBack() {
        func call(_ id: String, _ text: String) -> LanguageModelExecutorGenerationChannel.Event {
            .toolCalls(action: .toolCall(id: id, name: "t", action: .appendArguments(text, tokenCount: 1)))
        }
        var fold = fold([call("1", "{"), call("2", "{}"), call("1", "}")])
        #expect(fold.entries.count == 1)
        guard case .toolCalls(let calls) = fold.entries[0] else { return }
        #expect(calls.map(\.id) == ["1", "2"])
        #expect(calls.map(\.argumentsText) == ["{}", "{}"])
        fold.apply(.toolCalls(action: .removeToolCall(id: "1")))
        fold.apply(.toolCalls(action: .removeToolCall(id: "2")))
        #expect(fold.entries.isEmpty)
    }
}
