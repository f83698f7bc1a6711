import Foundation
import FoundationModels
import Inference
import JSON
import Testing

@Suite struct SystemLanguageModelTests {
    @Test func answersFromThePlainConversation() async throws {
        let backend = ScriptedBackend { _, _ in "All is well." }
        let session = LanguageModelSession(model: SystemLanguageModel(backend: backend), instructions: "Be brief.")
        let response = try await session.respond(to: "How is it?")
        #expect(response.content == "All is well.")
        #expect(response.usage.input.totalTokenCount == 10)
        #expect(response.usage.output.totalTokenCount == 3)
        #expect(
            backend.generations[0].prompt.messages == [
                ChatMessage(.system, "Be brief."), ChatMessage(.user, "How is it?"),
            ])
        try await session.respond(to: "And now?")
        #expect(backend.generations[1].prompt.messages.map(\.role) == [.system, .user, .assistant, .user])
        #expect(session.usage.input.cachedTokenCount == 1)
    }

    @Test func schemasConstrainAndAreShownUnlessToldOtherwise() async throws {
        let backend = ScriptedBackend { _, _ in #"{"name": "a","steps": [],"minutes": 1}"# }
        let session = LanguageModelSession(model: SystemLanguageModel(backend: backend))
        let recipe = try await session.respond(to: "Bread", generating: Recipe.self).content
        #expect(recipe == Recipe(name: "a", steps: [], minutes: 1))
        #expect(backend.generations[0].schema?.name == "Recipe")
        #expect(backend.generations[0].prompt.messages.last?.content.contains("\"minutes\"") == true)
        try await session.respond(to: "Bread", generating: Recipe.self, includeSchemaInPrompt: false)
        #expect(backend.generations[1].schema?.name == "Recipe")
        #expect(backend.generations[1].prompt.messages.last?.content == "Bread")
    }

    @Test func toolsAreChosenThenFilledInThenAnsweredFrom() async throws {
        let backend = ScriptedBackend { generation, index in
            switch index {
            case 0: "echo"
            case 1: #"[{"text": "a"}]"#
            case 2: "none"
            default: "The echo says a."
            }
        }
        let session = LanguageModelSession(model: SystemLanguageModel(backend: backend), tools: [TrimmedEchoTool()])
        let response = try await session.respond(to: "Say a.")
        #expect(response.content == "The echo says a.")
        #expect(session.transcript.kinds == ["instructions", "prompt", "toolCalls", "toolOutput", "response"])
        #expect(backend.generations[0].choices == ["echo", "none"])
        #expect(backend.generations[1].schema != nil)
        #expect(backend.generations[2].choices == ["echo", "none"])
        #expect(backend.generations[3].choices == nil)
        // The answer's prompt has the result and no definitions.
        let answer = backend.generations[3].prompt.messages
        #expect(answer.contains { $0.content.contains("echo: a") })
        #expect(!answer.contains { $0.content.contains("Says a text again.") })
        #expect(response.usage.input.totalTokenCount == 40)
    }

    @Test func requiredLeavesNoWayOut() async throws {
        let backend = ScriptedBackend { generation, index in
            guard index < 4 else { throw Fault() }
            return #"[{"text": "\#(index)"}]"#
        }
        let session = LanguageModelSession(model: SystemLanguageModel(backend: backend), tools: [TrimmedEchoTool()])
        await #expect(throws: Fault()) {
            try await session.respond(to: "Hi", options: GenerationOptions(toolCallingMode: .required))
        }
        // With one tool there is nothing to choose.
        #expect(backend.generations.allSatisfy { $0.choices == nil && $0.schema != nil })
    }

    @Test func theSameCallTwiceIsAnAnswer() async throws {
        let backend = ScriptedBackend { generation, _ in
            if generation.choices != nil { return "echo" }
            return generation.schema != nil ? #"[{"text": "a"}]"# : "done"
        }
        let session = LanguageModelSession(model: SystemLanguageModel(backend: backend), tools: [TrimmedEchoTool()])
        #expect(try await session.respond(to: "Hi").content == "done")
        #expect(session.transcript.filter { $0.kind == "toolCalls" }.count == 1)
    }

    @Test func aRoundMayHaveSeveralCalls() async throws {
        let backend = ScriptedBackend { generation, index in
            switch index {
            case 0: "echo"
            // The same call twice is one.
            case 1: #"[{"text": "a"}, {"text": "b"}, {"text": "a"}]"#
            case 2: "echo"
            // What was called before is not called again.
            case 3: #"[{"text": "b"}, {"text": "c"}]"#
            case 4: "none"
            default: "done"
            }
        }
        let session = LanguageModelSession(model: SystemLanguageModel(backend: backend), tools: [TrimmedEchoTool()])
        #expect(try await session.respond(to: "Say a and b.").content == "done")
        let rounds = session.transcript.compactMap { entry -> [String]? in
            if case .toolCalls(let calls) = entry { calls.map(\.argumentsText) } else { nil }
        }
        #expect(rounds == [[#"{"text": "a"}"#, #"{"text": "b"}"#], [#"{"text": "c"}"#]])
        #expect(backend.generations[1].schema?.enforcedSchema["type"] == "array")
        #expect(backend.generations[1].schema?.enforcedSchema["items"]?["properties"]?["text"] != nil)
    }

    @Test func argumentsThatWereCutOffAreAnError() async throws {
        let backend = ScriptedBackend { generation, index in index == 0 ? "echo" : #"[{"text": "a"# }
        let session = LanguageModelSession(model: SystemLanguageModel(backend: backend), tools: [TrimmedEchoTool()])
        await #expect(throws: LanguageModelSession.ToolCallError.self) {
            try await session.respond(to: "Hi", options: GenerationOptions(maximumResponseTokens: 4))
        }
        #expect(session.transcript.kinds == ["instructions"])
    }

    @Test func aToolMayBeNamedLikeTheWordForNone() async throws {
        let backend = ScriptedBackend { generation, index in
            if let choices = generation.choices { return index == 0 ? "none" : choices.last ?? "" }
            return generation.schema != nil ? #"[{"text": "a"}]"# : "done"
        }
        let session = LanguageModelSession(
            model: SystemLanguageModel(backend: backend), tools: [TrimmedEchoTool(name: "none")])
        #expect(try await session.respond(to: "Hi").content == "done")
        #expect(backend.generations[0].choices == ["none", "none of these"])
        #expect(session.transcript.kinds == ["instructions", "prompt", "toolCalls", "toolOutput", "response"])
    }

    @Test func prewarmingReadsWhatARequestWithToolsBeginsWith() async throws {
        let backend = ScriptedBackend { _, index in index == 0 ? "none" : "ok" }
        let session = LanguageModelSession(
            model: SystemLanguageModel(backend: backend), tools: [TrimmedEchoTool()], instructions: "Be brief.")
        session.prewarm()
        try await session.respond(to: "Hi")
        let choice = backend.generations[0].prompt.messages
        let prewarmed = try #require(backend.prewarmedPrompts.first)
        #expect(prewarmed.count == 2)
        for prompt in prewarmed {
            #expect(prompt.messages.count == choice.count)
            #expect(prompt.messages.dropLast().elementsEqual(choice.dropLast()))
        }
        #expect(choice.last?.content.contains("echo(text): ") == true)
    }

    @Test func C1_C3_T18_overflowSaysWhatFillsTheContext() async throws {
        let backend = ScriptedBackend { _, index in
            guard index == 0 else { throw LocalContextOverflow(tokenCount: 168_918, contextSize: 4096) }
            return "ok"
        }
        let session = LanguageModelSession(
            model: SystemLanguageModel(backend: backend),
            transcript: Transcript(entries: [
                .instructions(
                    Transcript.Instructions(
                        segments: [.text(Transcript.TextSegment(content: "Be brief."))], toolDefinitions: [])),
                .toolOutput(
                    Transcript.ToolOutput(
                        id: "1", toolName: "search",
                        segments: [.text(Transcript.TextSegment(content: String(repeating: "word ", count: 90)))])),
            ]))
        try await session.respond(to: "Hi")
        let before = session.transcript
        do {
            try await session.respond(to: "Hi again")
            Issue.record("no error")
        } catch LanguageModelError.contextSizeExceeded(let details) {
            #expect(details.tokenCount == 168_918)
            #expect(details.contextSize == 4096)
            #expect(
                details.debugDescription.hasPrefix(
                    "Content contains 168918 tokens, which exceeds the maximum allowed context size of 4096."))
            #expect(details.debugDescription.contains("The largest entries are the output of search (90 tokens)"))
            let text = LanguageModelError.contextSizeExceeded(details).errorDescription
            #expect(text?.hasPrefix("The conversation has 168918 tokens, more than the 4096") == true)
        }
        #expect(session.transcript == before)
    }

    @Test func anOverflowThatWasNotCountedSaysAtLeast() async throws {
        let backend = ScriptedBackend { _, _ in
            throw LocalContextOverflow(tokenCount: 81_920, contextSize: 8192, isLeast: true)
        }
        let session = LanguageModelSession(model: SystemLanguageModel(backend: backend))
        do {
            try await session.respond(to: String(repeating: "x", count: 5000))
            Issue.record("no error")
        } catch LanguageModelError.contextSizeExceeded(let details) {
            #expect(details.tokenCount == 81_920)
            #expect(details.debugDescription.hasPrefix("Content contains at least 81920 tokens, which exceeds"))
            #expect(details.debugDescription.contains("The largest entries are prompt 0 (5000 bytes)"))
            let text = LanguageModelError.contextSizeExceeded(details).errorDescription
            #expect(text?.hasPrefix("The conversation has at least 81920 tokens, more than the 8192") == true)
        }
    }

    @Test(arguments: [
        SystemLanguageModel.Availability.UnavailableReason.deviceNotEligible, .appleIntelligenceNotEnabled,
        .modelNotReady,
    ])
    func unavailableModelsSayWhy(_ reason: SystemLanguageModel.Availability.UnavailableReason) async throws {
        let backend = ScriptedBackend(availability: .unavailable(reason)) { _, _ in "never" }
        let model = SystemLanguageModel(backend: backend)
        #expect(model.availability == .unavailable(reason))
        #expect(!model.isAvailable)
        do {
            try await LanguageModelSession(model: model).respond(to: "Hi")
            Issue.record("no error")
        } catch SystemLanguageModel.Error.assetsUnavailable(let details) {
            #expect(details.debugDescription == "It was switched off for a test.")
        }
        #expect(backend.generations.isEmpty)
    }

    @Test func K1_K3_tokenCounts() async throws {
        let model = SystemLanguageModel(backend: ScriptedBackend { _, _ in "" })
        #expect(try await model.tokenCount(for: "one two three") == 3)
        #expect(
            try await model.tokenCount(
                for: Prompt {
                    "one"; "two"
                }) == 2)
        #expect(try await model.tokenCount(for: Instructions("one two")) == 2)
        #expect(try await model.tokenCount(for: [] as [any Tool]) == 0)
        #expect(try await model.tokenCount(for: [TrimmedEchoTool()]) > 5)
        #expect(try await model.tokenCount(for: Recipe.generationSchema) > 5)
        #expect(try await model.tokenCount(for: Transcript()) == 0)
        let entries: [Transcript.Entry] = [
            .prompt(Transcript.Prompt(segments: [.text(Transcript.TextSegment(content: "one two"))]))
        ]
        #expect(try await model.tokenCount(for: entries) == 4)
        #expect(model.contextSize == 100)
    }

    @Test(arguments: [
        ("en_US", true), ("en_GB", true), ("es_MX", true), ("ca_ES", true), ("am_ET", false), ("ja_JP", false),
    ])
    func L1_locales(_ identifier: String, _ isSupported: Bool) {
        let model = SystemLanguageModel(backend: ScriptedBackend { _, _ in "" })
        #expect(model.supportsLocale(Locale(identifier: identifier)) == isSupported)
    }

    @Test func prewarmReachesTheEngine() {
        let backend = ScriptedBackend { _, _ in "" }
        let session = LanguageModelSession(model: SystemLanguageModel(backend: backend), instructions: "Be brief.")
        session.prewarm(promptPrefix: Prompt("Tell me"))
        let contents = backend.prewarmedPrompts.map { $0.map { $0.messages.map(\.content) } }
        #expect(contents == [[["Be brief.", "Tell meA"], ["Be brief.", "Tell me1"]]])
    }
}

/// Says a text again without the space that the scripted engine puts behind each word.
private struct TrimmedEchoTool: Tool {
    var name = "echo"
    let description = "Says a text again."

    @Generable
    struct Arguments {
        var text: String
    }

    func call(arguments: Arguments) async throws -> String { "echo: \(arguments.text)" }
}
