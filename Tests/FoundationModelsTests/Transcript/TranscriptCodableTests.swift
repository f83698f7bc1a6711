import Foundation
import FoundationModels
import JSON
import Testing

@Suite struct TranscriptCodableTests {
    private static func fixture(_ name: String) throws -> Data {
        let url = try #require(Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Fixtures"))
        return try Data(contentsOf: url)
    }

    private static func encode(_ transcript: Transcript) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return try encoder.encode(transcript)
    }

    @Test(arguments: ["test_transcript", "test_transcript_full"])
    func fixturesComeBackAsTheyWere(_ name: String) throws {
        let data = try Self.fixture(name)
        let transcript = try JSONDecoder().decode(Transcript.self, from: data)
        let written = try Self.encode(transcript)
        #expect(try JSONValue(parsing: Array(written)) == JSONValue(parsing: Array(data)))
        #expect(try Self.encode(JSONDecoder().decode(Transcript.self, from: written)) == written)
        #expect(try JSONDecoder().decode(Transcript.self, from: written) == transcript)
    }

    @Test func theFullFixtureSaysWhatItSays() throws {
        let transcript = try JSONDecoder().decode(Transcript.self, from: Self.fixture("test_transcript_full"))
        guard case .instructions(let instructions)? = transcript.first else {
            Issue.record("no instructions")
            return
        }
        #expect(instructions.toolDefinitions.map(\.name) == ["searchBreadDatabaseTool"])
        guard case .response(let response)? = transcript.last, case .structure(let structure)? = response.segments.first
        else {
            Issue.record("no structure")
            return
        }
        #expect(response.assetIDs.count == 3)
        #expect(structure.schemaName == "Recipe")
        // The order of the schema that the prompt asked for.
        guard case .structure(_, let keys) = structure.content.kind else { return }
        #expect(keys == ["name", "ingredients", "instructions"])
        for case .toolOutput(let output) in transcript {
            #expect(
                transcript.contains { entry in
                    if case .toolCalls(let calls) = entry { calls.contains { $0.id == output.id } } else { false }
                })
        }
    }

    /// A transcript with everything that a transcript can hold.
    static var everything: Transcript {
        let schema = Recipe.generationSchema
        var hidden = Transcript.ToolDefinition(name: "hidden", description: "", parameters: schema)
        hidden.isIncludedInInstructions = false
        let pixels = CGImage(width: 1, height: 2, pixels: Data(repeating: 7, count: 8))!
        let metadata: [String: any ConvertibleToGeneratedContent] = [
            "text": "a", "number": 1.5, "list": [1, 2], "nothing": nil as String?, "truth": true,
        ]
        let samplings: [GenerationOptions.SamplingMode?] = [
            nil, .greedy, .random(top: 3), .random(top: 3, seed: .max), .random(probabilityThreshold: 0.25),
            .random(probabilityThreshold: 1, seed: 0),
        ]
        let modes: [GenerationOptions.ToolCallingMode?] = [nil, .allowed, .required, .disallowed]
        let levels: [ContextOptions.ReasoningLevel?] = [nil, .light, .moderate, .deep, .custom("9 lives")]
        var entries: [Transcript.Entry] = [
            .instructions(
                Transcript.Instructions(
                    id: "i", segments: [.text(Transcript.TextSegment(id: "s", content: "Be \"brief\".\n日本 🙂"))],
                    toolDefinitions: [
                        Transcript.ToolDefinition(name: "t", description: "d", parameters: schema), hidden,
                    ]))
        ]
        for (number, sampling) in samplings.enumerated() {
            for mode in modes {
                entries.append(
                    .prompt(
                        Transcript.Prompt(
                            id: "p\(number)", metadata: number == 0 ? metadata : [:],
                            segments: [.text(Transcript.TextSegment(id: "s", content: ""))],
                            options: GenerationOptions(
                                samplingMode: sampling, temperature: number == 2 ? 0.1 : nil,
                                maximumResponseTokens: number == 3 ? 7 : nil, toolCallingMode: mode))))
            }
        }
        for level in levels {
            entries.append(
                .prompt(
                    Transcript.Prompt(
                        id: "c", segments: [], responseFormat: Transcript.ResponseFormat(schema: schema),
                        contextOptions: ContextOptions(includeSchemaInPrompt: level == .deep, reasoningLevel: level))))
        }
        entries += [
            .prompt(
                Transcript.Prompt(
                    id: "a",
                    segments: [
                        .attachment(
                            Transcript.AttachmentSegment(
                                id: "1",
                                content: .image(
                                    Transcript.ImageAttachment(
                                        imageURL: URL(string: "file:///tmp/a%20b.png")!, orientation: .left)),
                                label: "one")),
                        .attachment(
                            Transcript.AttachmentSegment(
                                id: "2", content: .image(Transcript.ImageAttachment(imageData: Data([1, 2, 255]))))),
                        .attachment(
                            Transcript.AttachmentSegment(
                                id: "3", content: .image(Transcript.ImageAttachment(pixels, orientation: .up)))),
                    ])),
            .reasoning(
                Transcript.Reasoning(
                    id: "r", metadata: metadata, segments: [.text(Transcript.TextSegment(id: "s", content: "hm"))],
                    signature: Data([0, 1, 2]))),
            .toolCalls(
                Transcript.ToolCalls(
                    id: "tc",
                    [
                        Transcript.ToolCall(
                            id: "1", metadata: metadata, toolName: "t",
                            arguments: GeneratedContent(properties: ["b": 1, "a": [true]])),
                        Transcript.ToolCall(id: "2", toolName: "t", arguments: GeneratedContent(7)),
                    ])),
            .toolOutput(
                Transcript.ToolOutput(
                    id: "1", toolName: "t",
                    segments: [
                        .structure(
                            Transcript.StructuredSegment(
                                id: "s", schemaName: "Recipe",
                                content: Recipe(name: "a", steps: ["b"], minutes: -1).generatedContent))
                    ])),
            .response(
                Transcript.Response(
                    id: "resp", metadata: metadata, segments: [.text(Transcript.TextSegment(id: "s", content: "ok"))])),
            .response(Transcript.Response(id: "assets", assetIDs: ["x", "y"], segments: [])),
        ]
        return Transcript(entries: entries)
    }

    @Test func P7_everyKindComesBack() throws {
        let data = try Self.encode(Self.everything)
        let back = try JSONDecoder().decode(Transcript.self, from: data)
        for (left, right) in zip(Self.everything, back) { #expect(left == right) }
        #expect(back == Self.everything)
        #expect(try Self.encode(back) == data)
        // And by another coder.
        let list = try PropertyListEncoder().encode(["t": try Self.encode(Self.everything)])
        #expect(!list.isEmpty)
    }

    @Test(arguments: [
        (#"{"role": "oracle", "id": "1"}"#, "role"),
        (#"{"role": "user", "id": "1", "contents": [{"type": "hologram", "id": "2"}]}"#, "type"),
        (#"{"role": "tool", "id": "1", "contents": []}"#, "toolName"),
        (
            #"{"role": "response", "id": "1", "toolCalls": [{"id": "2", "name": "t", "arguments": "not json"}]}"#,
            "arguments"
        ),
    ])
    func P7_unknownKindsFailWithAPath(_ entry: String, _ key: String) throws {
        let text = #"{"type": "FoundationModels.Transcript", "version": 1, "transcript": {"entries": [\#(entry)]}}"#
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Transcript.self, from: Data(text.utf8))
        }
        let context: DecodingError.Context? =
            switch error {
            case .dataCorrupted(let context)?: context
            case .keyNotFound(let missing, let context)?:
                DecodingError.Context(codingPath: context.codingPath + [missing], debugDescription: "")
            case .typeMismatch(_, let context)?, .valueNotFound(_, let context)?: context
            default: nil
            }
        #expect(context?.codingPath.last?.stringValue == key)
        #expect(context?.codingPath.contains { $0.intValue == 0 } == true)
    }

    @Test(arguments: [("1", true), ("\"1\"", true), ("\"1.1\"", true), ("1.1", true), ("2", false), ("\"x\"", false)])
    func versions(_ version: String, _ isReadable: Bool) {
        let text = #"{"type": "FoundationModels.Transcript", "version": \#(version), "transcript": {"entries": []}}"#
        let transcript = try? JSONDecoder().decode(Transcript.self, from: Data(text.utf8))
        #expect((transcript != nil) == isReadable)
    }
}
