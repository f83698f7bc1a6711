import Foundation
import FoundationModels
import FoundationModelsTesting
import Testing

@Suite struct TranscriptKeepingTests {
    @Test func P1_earlierTurnsReachTheModel() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(model: model)
        try await session.respond(to: "First")
        try await session.respond(to: "Second")
        #expect(model.requests[1].transcript.map(\.text) == ["First", "ok", "Second"])
    }

    @Test func P2_respondAddsTheResponse() async throws {
        let session = LanguageModelSession(model: ScriptedLanguageModel(alwaysAnswering: "ok"))
        let response = try await session.respond(to: "Hi")
        #expect(session.transcript.kinds == ["prompt", "response"])
        #expect(Array(response.transcriptEntries) == Array(session.transcript))
        #expect(response.rawContent == GeneratedContent("ok"))
    }

    @Test func P3_instructionsSurviveRestoring() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(model: model, tools: [EchoTool()], instructions: "Be brief.")
        try await session.respond(to: "Hi")
        let restored = try JSONDecoder().decode(Transcript.self, from: JSONEncoder().encode(session.transcript))
        let next = LanguageModelSession(model: model, tools: [EchoTool()], transcript: restored)
        try await next.respond(to: "Ho")
        #expect(model.requests[1].transcript[0] == session.transcript[0])
        #expect(model.requests[1].transcript.map(\.text) == ["Be brief.", "Hi", "ok", "Ho"])
    }

    @Test func P4_toolsOfATranscriptAreHistory() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(model: model, tools: [EchoTool()])
        let restored = LanguageModelSession(model: model, transcript: session.transcript)
        try await restored.respond(to: "Hi")
        #expect(model.requests[0].enabledToolDefinitions.isEmpty)
        let again = LanguageModelSession(model: model, tools: [EchoTool()], transcript: session.transcript)
        try await again.respond(to: "Hi")
        #expect(model.requests[1].enabledToolDefinitions.map(\.name) == ["echo"])
    }

    @Test func P5_definitionsAreNoText() async throws {
        let model = ScriptedLanguageModel(turns: [[.reasoning("hm"), .text("ok")]])
        let session = LanguageModelSession(model: model, tools: [EchoTool()], instructions: "Be brief.")
        guard case .instructions(let instructions)? = session.transcript.first else {
            Issue.record("no instructions")
            return
        }
        #expect(instructions.segments.map(\.description) == ["Be brief."])
        #expect(instructions.toolDefinitions.map(\.name) == ["echo"])
        try await session.respond(to: "Hi")
        #expect(session.transcript.kinds == ["instructions", "prompt", "reasoning", "response"])
    }

    @Test func theFirstEntryIsThereOnlyWhenThereIsSomethingToSay() {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        #expect(LanguageModelSession(model: model).transcript.isEmpty)
        #expect(LanguageModelSession(model: model, instructions: nil as String?).transcript.isEmpty)
        #expect(LanguageModelSession(model: model, instructions: "a").transcript.kinds == ["instructions"])
        #expect(LanguageModelSession(model: model, tools: [EchoTool()]).transcript.kinds == ["instructions"])
        #expect(
            LanguageModelSession(model: model) {
                "a"; "b"
            }.transcript.map(\.text) == ["a\nb"])
    }

    @Test func promptsRecordWhatWasAskedFor() async throws {
        let text = #"{"name": "Bread", "steps": [], "minutes": 1}"#
        let model = ScriptedLanguageModel(alwaysAnswering: text)
        let session = LanguageModelSession(model: model)
        let options = GenerationOptions(temperature: 0.5)
        try await session.respond(to: "Text", options: options)
        try await session.respond(to: "Recipe", generating: Recipe.self)
        try await session.respond(to: "Recipe", generating: Recipe.self, includeSchemaInPrompt: false)
        try await session.respond(to: "Meta", metadata: ["a": "b", "n": 2])
        let prompts = session.transcript.compactMap { entry -> Transcript.Prompt? in
            if case .prompt(let prompt) = entry { prompt } else { nil }
        }
        #expect(prompts[0].options == options)
        #expect(prompts[0].responseFormat == nil)
        #expect(prompts.map(\.contextOptions.includeSchemaInPrompt) == [nil, true, false, nil])
        #expect(prompts[1].responseFormat?.name == "Recipe")
        #expect(prompts[1].responseFormat == Transcript.ResponseFormat(type: Recipe.self))
        #expect(prompts[3].metadata == ["a": GeneratedContent("b"), "n": GeneratedContent(2)])
        #expect(model.requests[3].metadata == prompts[3].metadata)
        #expect(model.requests[2].contextOptions.includeSchemaInPrompt == false)
    }

    @Test func structuredResponsesAreOneStructure() async throws {
        let text = #"{"name":  "Bread","steps": ["Mix."], "minutes": 90}"#
        let session = LanguageModelSession(
            model: ScriptedLanguageModel(turns: [[.text(String(text.prefix(9))), .text(String(text.dropFirst(9)))]]))
        let response = try await session.respond(to: "Hi", generating: Recipe.self)
        #expect(response.content == Recipe(name: "Bread", steps: ["Mix."], minutes: 90))
        guard case .response(let entry)? = session.transcript.last, entry.segments.count == 1,
            case .structure(let structure)? = entry.segments.first
        else {
            Issue.record("a structured response has one structured segment")
            return
        }
        #expect(structure.schemaName == "Recipe")
        #expect(try Recipe(structure.content) == response.content)
        // What the model wrote is what it reads again, to the letter.
        #expect(structure.text == text)
    }

    @Test func truncatedStructuresAreParsingErrors() async throws {
        let model = ScriptedLanguageModel(turns: [[.text(#"{"name": "Br"#)], [.text("ok")]])
        let session = LanguageModelSession(model: model)
        let error = await #expect(throws: GeneratedContent.ParsingError.self) {
            try await session.respond(to: "Hi", generating: Recipe.self)
        }
        #expect(error?.localizedDescription == "GeneratedContent does not contain a property 'steps'.")
        #expect(session.transcript.isEmpty)
        #expect(try await session.respond(to: "Hi").content == "ok")
    }

    @Test func toolsReadTheirSchemaOnce() async throws {
        let count = Recorder(0)
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(model: model, tools: [ObservedTool(count: count)])
        for _ in 0..<3 { try await session.respond(to: "Hi") }
        #expect(count.value == 1)
    }

    @Test func usageIsSummed() async throws {
        let model = ScriptedLanguageModel(turns: [
            [.toolCall("echo", arguments: #"{"text": "a"}"#), .usage(input: 10, cached: 0, output: 5)],
            [.reasoning("r", tokenCount: 9), .text("ok"), .usage(input: 20, cached: 12, output: 7, reasoning: 3)],
            [.reasoning("r", tokenCount: 4), .text("a", tokenCount: 2), .text("b", tokenCount: 1)],
        ])
        let session = LanguageModelSession(model: model, tools: [EchoTool()])
        let first = try await session.respond(to: "Hi")
        #expect(first.usage.input.totalTokenCount == 30)
        #expect(first.usage.input.cachedTokenCount == 12)
        #expect(first.usage.output.totalTokenCount == 12)
        #expect(first.usage.output.reasoningTokenCount == 3)
        // Without a report, what the fragments count.
        let second = try await session.respond(to: "Hi")
        #expect(second.usage.output.totalTokenCount == 7)
        #expect(second.usage.output.reasoningTokenCount == 4)
        #expect(session.usage.totalTokenCount == 30 + 12 + 7)
    }

    @Test func K4_usageIsReplacedNotAdded() async throws {
        let model = ScriptedLanguageModel(turns: [
            (1...3).flatMap { [.text("\($0)"), .usage(input: 1, output: $0)] }
        ])
        let response = try await LanguageModelSession(model: model).respond(to: "Hi")
        #expect(response.usage.output.totalTokenCount == 3)
        #expect(response.content == "123")
    }
}

private struct ObservedTool: Tool {
    let name = "observed"
    let description = "Counts how often its parameters are read."
    let count: Recorder<Int>

    @Generable
    struct Arguments {}

    var parameters: GenerationSchema {
        count.change { $0 += 1 }
        return Arguments.generationSchema
    }

    func call(arguments: Arguments) async throws -> String { "" }
}
