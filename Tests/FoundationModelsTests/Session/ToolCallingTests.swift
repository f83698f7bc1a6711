import Foundation
import FoundationModels
import Inference
import FoundationModelsTesting
import Testing

@Suite struct ToolCallingTests {
    @Test func T1_requiredWithoutTools() async throws {
        let model = ScriptedLanguageModel(turns: [])
        let session = LanguageModelSession(model: model)
        let error = await #expect(throws: LanguageModelSession.ConfigurationError.self) {
            try await session.respond(to: "Hi", options: GenerationOptions(toolCallingMode: .required))
        }
        #expect(error == .toolCallingRequiresTools)
        #expect(error?.localizedDescription.contains("Tool choice requires tools") == true)
        #expect(model.requests.isEmpty)
        #expect(session.transcript.isEmpty)
    }

    @Test func T2_requiredEndsByAChangeOfMode() async throws {
        let model = ScriptedLanguageModel { request, _ in
            request.generationOptions.toolCallingMode == .required
                ? [.toolCall("count", arguments: "{}")] : [.text("Done.")]
        }
        let session = LanguageModelSession(profile: CountingProfile(model: model, limit: 1))
        let answer = try await session.respond(to: "Count.")
        #expect(answer.content == "Done.")
        #expect(session.properties.callCount == 1)
        #expect(session.transcript.kinds == ["instructions", "prompt", "toolCalls", "toolOutput", "response"])
    }

    @Test func T2_requiredHasNoLimitOfRounds() async throws {
        let model = ScriptedLanguageModel { request, _ in
            request.generationOptions.toolCallingMode == .required
                ? [.toolCall("count", arguments: "{}")] : [.text("Done.")]
        }
        let session = LanguageModelSession(profile: CountingProfile(model: model, limit: 60))
        try await session.respond(to: "Count.")
        #expect(session.properties.callCount == 60)
    }

    @Test func T2_requiredEndsByAThrownError() async throws {
        let model = ScriptedLanguageModel { _, _ in [.toolCall("echo", arguments: #"{"text": "the answer"}"#)] }
        let final = EchoTool { text in throw Fault(name: text) }
        let session = LanguageModelSession(model: model, tools: [final])
        let error = await #expect(throws: LanguageModelSession.ToolCallError.self) {
            try await session.respond(to: "Hi", options: GenerationOptions(toolCallingMode: .required))
        }
        #expect(error?.underlyingError as? Fault == Fault(name: "the answer"))
        #expect(model.requests.count == 1)
    }

    @Test func T3_unknownToolInInstructionsIsNoted() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(
            model: model, tools: [EchoTool()],
            instructions: "Always use `lookupWeather` before you answer, and echo for the rest.")
        try await session.respond(to: "Hi")
        #expect(session.trace.notes.contains { $0.contains("\"lookupWeather\"") })
        #expect(!session.trace.notes.contains { $0.contains("\"echo\"") })
    }

    @Test func T4_throwingOnToolCallEndsTheTurn() async throws {
        let model = ScriptedLanguageModel(turns: [[.toolCall("echo", arguments: #"{"text": "a"}"#)]])
        let called = Recorder(false)
        let session = LanguageModelSession(
            profile: LanguageModelSession.Profile {
                EchoTool { _ in
                    called.change { $0 = true }
                    return ""
                }
            }
            .model(model)
            .onToolCall { throw Fault(name: "denied") })
        await #expect(throws: Fault(name: "denied")) { try await session.respond(to: "Hi") }
        #expect(!called.value)
        #expect(session.transcript.kinds == ["instructions"] || session.transcript.isEmpty)
    }

    @Test func T5_unlimitedRounds() async throws {
        let model = ScriptedLanguageModel { request, index in
            guard index < 12 else { return [.text("The end.")] }
            let last = request.transcript.last?.text ?? ""
            return [.toolCall("echo", arguments: "{\"text\": \"\(index) \(last.count)\"}")]
        }
        let session = LanguageModelSession(model: model, tools: [EchoTool()])
        let answer = try await session.respond(to: "Go.")
        #expect(answer.content == "The end.")
        #expect(session.transcript.count == 27)
        // Each round saw the output of the one before.
        #expect(model.requests[1].transcript.last?.text == "echo: 0 3")
    }

    @Test func T6_streamingRunsTheSameLoop() async throws {
        let turns: [[ScriptedStep]] = [
            [.reasoning("Let me see."), .toolCall("echo", id: "1", arguments: #"{"text": "#, #""a"}"#)],
            [.text("A"), .text("B")],
        ]
        let whole = LanguageModelSession(model: ScriptedLanguageModel(turns: turns), tools: [EchoTool()])
        let streamed = LanguageModelSession(model: ScriptedLanguageModel(turns: turns), tools: [EchoTool()])
        let answer = try await whole.respond(to: "Go.").content
        var last = ""
        for try await snapshot in streamed.streamResponse(to: "Go.") { last = snapshot.content }
        #expect(answer == "AB")
        #expect(last == "AB")
        #expect(whole.transcript.kinds == streamed.transcript.kinds)
        #expect(whole.transcript.map(\.text) == streamed.transcript.map(\.text))
        #expect(
            whole.transcript.kinds == [
                "instructions", "prompt", "reasoning", "toolCalls", "toolOutput", "response",
            ])
    }

    @Test(arguments: [#"{"text": "#, "text=a", #"{"text": "a"} and more"#, "<tool_call>", #"{"text": 7}"#, "7", "[]"])
    func T7_T9_T13_malformedArguments(_ arguments: String) async throws {
        let model = ScriptedLanguageModel(turns: [[.toolCall("echo", arguments: arguments)]])
        let session = LanguageModelSession(model: model, tools: [EchoTool()])
        let before = session.transcript
        let error = await #expect(throws: LanguageModelSession.ToolCallError.self) {
            try await session.respond(to: "Hi")
        }
        #expect(error?.tool.name == "echo")
        #expect(error?.underlyingError is GeneratedContent.ParsingError)
        #expect(session.transcript == before)
    }

    @Test func T9_noArgumentsAreNotTakenForSome() async throws {
        // Nothing stands for an empty structure, which this tool does not accept.
        let model = ScriptedLanguageModel(turns: [[.toolCall("echo", arguments: "")]])
        let session = LanguageModelSession(model: model, tools: [EchoTool()])
        let error = await #expect(throws: LanguageModelSession.ToolCallError.self) {
            try await session.respond(to: "Hi")
        }
        #expect(error?.underlyingError is GeneratedContent.ParsingError)
    }

    @Test func T8_scalarArguments() async throws {
        let model = ScriptedLanguageModel(turns: [[.toolCall("double", arguments: "7")], [.text("14")]])
        let session = LanguageModelSession(model: model, tools: [DoubleTool()])
        try await session.respond(to: "Double seven.")
        #expect(session.transcript.first { $0.kind == "toolOutput" }?.text == "14")
    }

    @Test func T10_missingIdentifiersAreMade() async throws {
        let model = ScriptedLanguageModel(turns: [
            [
                .toolCall("echo", id: "", arguments: #"{"text": "#, #""a"}"#),
                .toolCall("echo", id: "", arguments: #"{"text": "b"}"#),
            ], [.text("ok")],
        ])
        let session = LanguageModelSession(model: model, tools: [EchoTool()])
        try await session.respond(to: "Hi")
        guard case .toolCalls(let calls)? = session.transcript.first(where: { $0.kind == "toolCalls" }) else {
            Issue.record("no tool calls")
            return
        }
        #expect(calls.count == 2)
        #expect(Set(calls.map(\.id)).count == 2 && calls.allSatisfy { !$0.id.isEmpty })
        let outputs = session.transcript.filter { $0.kind == "toolOutput" }
        #expect(outputs.map(\.id) == calls.map(\.id))
        #expect(outputs.map(\.text) == ["echo: a", "echo: b"])
    }

    @Test func T11_repeatedIdentifiersAreOneCall() async throws {
        let model = ScriptedLanguageModel(turns: [
            [
                .toolCall("echo", id: "call_1", arguments: #"{"text""#),
                .toolCall("echo", id: "call_2", arguments: "{"),
                .toolCall("echo", id: "call_1", arguments: #": "a"}"#),
                .toolCall("echo", id: "call_2", arguments: #""text": "b"}"#),
            ], [.text("ok")],
        ])
        let session = LanguageModelSession(model: model, tools: [EchoTool()])
        try await session.respond(to: "Hi")
        let outputs = session.transcript.filter { $0.kind == "toolOutput" }
        #expect(outputs.map(\.id) == ["call_1", "call_2"])
        #expect(outputs.map(\.text) == ["echo: a", "echo: b"])
    }

    @Test(.timeLimit(.minutes(1))) func T15_cancellationReachesTools() async throws {
        let started = Recorder(false)
        let cancelled = Recorder(false)
        let tool = EchoTool { _ in
            started.change { $0 = true }
            do {
                try await Task.sleep(for: .seconds(3600))
            } catch {
                cancelled.change { $0 = true }
                throw error
            }
            return ""
        }
        let model = ScriptedLanguageModel(turns: [[.toolCall("echo", arguments: #"{"text": "a"}"#)]])
        let session = LanguageModelSession(model: model, tools: [tool])
        let before = session.transcript
        let task = Task { try await session.respond(to: "Hi").content }
        #expect(await eventually { started.value })
        task.cancel()
        // The tool sleeps for an hour: that the caller goes on within the test's minute is the answer.
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(await eventually { cancelled.value })
        #expect(!session.isResponding)
        #expect(session.transcript == before)
    }

    @Test(.timeLimit(.minutes(1))) func T15_aToolDeafToCancellationDoesNotHoldTheCaller() async throws {
        let started = Recorder(false)
        let tool = EchoTool { _ in
            started.change { $0 = true }
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            return ""
        }
        let model = ScriptedLanguageModel(turns: [[.toolCall("echo", arguments: #"{"text": "a"}"#)], [.text("ok")]])
        let session = LanguageModelSession(model: model, tools: [tool])
        let task = Task { try await session.respond(to: "Hi").content }
        #expect(await eventually { started.value })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await session.respond(to: "Again").content == "ok")
    }

    @Test func T16_repeatedIdenticalCallsAreCarriedOut() async throws {
        let model = ScriptedLanguageModel { _, index in
            index < 5 ? [.toolCall("echo", arguments: #"{"text": "same"}"#)] : [.text("ok")]
        }
        let count = Recorder(0)
        let tool = EchoTool { text in
            count.change { $0 += 1 }
            return text
        }
        try await LanguageModelSession(model: model, tools: [tool]).respond(to: "Hi")
        #expect(count.value == 5)
    }

    @Test func T17_definitionsOutsideOfTheInstructions() async throws {
        let model = ScriptedLanguageModel(turns: [[.toolCall("echo", arguments: #"{"text": "a"}"#)], [.text("ok")]])
        let session = LanguageModelSession(
            model: model, tools: [EchoTool(includesSchemaInInstructions: false)], instructions: "Be brief.")
        try await session.respond(to: "Hi")
        let request = try #require(model.requests.first)
        #expect(request.enabledToolDefinitions.map(\.name) == ["echo"])
        let prompt = LocalPrompt(transcript: request.transcript)
        #expect(!prompt.messages.contains { $0.content.contains("echo") })
        // Beside one that is shown.
        let shown = LanguageModelSession(model: model, tools: [EchoTool()], instructions: "Be brief.")
        #expect(LocalPrompt(transcript: shown.transcript).messages[0].content.contains("\"echo\""))
    }

    @Test func T20_duplicateNames() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(model: model, tools: [EchoTool(), EchoTool(), DoubleTool()])
        await #expect(throws: LanguageModelSession.ConfigurationError.duplicateToolName("echo")) {
            try await session.respond(to: "Hi")
        }
        #expect(model.requests.isEmpty)
    }

    @Test func undefinedToolNamesThoseThatAreThere() async throws {
        let model = ScriptedLanguageModel(turns: [[.toolCall("shout", arguments: "{}")]])
        let session = LanguageModelSession(model: model, tools: [EchoTool()])
        let error = await #expect(throws: LanguageModelSession.ToolCallError.self) {
            try await session.respond(to: "Hi")
        }
        #expect(error?.tool.name == "shout")
        #expect(
            error?.underlyingError as? LanguageModelSession.UndefinedToolError
                == .init(toolName: "shout", availableToolNames: ["echo"]))
    }

    @Test func callsOfARoundRunAtTheSameTimeAndKeepTheirOrder() async throws {
        let running = Recorder(0)
        let most = Recorder(0)
        let tool = EchoTool { text in
            running.change { $0 += 1 }
            let now = running.value
            most.change { $0 = max($0, now) }
            // The first takes longest.
            try await Task.sleep(for: .milliseconds(text == "0" ? 60 : 20))
            running.change { $0 -= 1 }
            return text
        }
        let calls = (0..<4).map { ScriptedStep.toolCall("echo", arguments: "{\"text\": \"\($0)\"}") }
        let model = ScriptedLanguageModel(turns: [calls, [.text("ok")]])
        let session = LanguageModelSession(model: model, tools: [tool])
        try await session.respond(to: "Hi")
        #expect(session.transcript.count == 8)
        #expect(session.transcript.filter { $0.kind == "toolOutput" }.map(\.text) == ["0", "1", "2", "3"])
        #expect(most.value > 1)
    }

    @Test func theFirstFailureEndsTheRoundAtOnce() async throws {
        let slowWasCancelled = Recorder(false)
        let tool = EchoTool { text in
            if text == "bad" { throw Fault() }
            do {
                try await Task.sleep(for: .seconds(3600))
            } catch {
                slowWasCancelled.change { $0 = true }
                throw error
            }
            return ""
        }
        let model = ScriptedLanguageModel(turns: [
            [.toolCall("echo", arguments: #"{"text": "slow"}"#), .toolCall("echo", arguments: #"{"text": "bad"}"#)]
        ])
        let session = LanguageModelSession(model: model, tools: [tool])
        let error = await #expect(throws: LanguageModelSession.ToolCallError.self) {
            try await session.respond(to: "Hi")
        }
        #expect(error?.underlyingError as? Fault == Fault())
        #expect(await eventually { slowWasCancelled.value })
    }

    @Test func disallowedShowsNoTools() async throws {
        let model = ScriptedLanguageModel(
            capabilities: LanguageModelCapabilities([]), turns: [[.text("ok")]])
        let session = LanguageModelSession(model: model, tools: [EchoTool()])
        try await session.respond(to: "Hi", options: GenerationOptions(toolCallingMode: .disallowed))
        #expect(model.requests[0].enabledToolDefinitions.isEmpty)
    }

    @Test func defaultNameIsTheNameOfTheType() {
        #expect(FindContacts().name == "FindContacts")
        #expect(FindContacts().includesSchemaInInstructions)
    }

    @Test func outputsBecomeSegments() async throws {
        let model = ScriptedLanguageModel(turns: [
            [
                .toolCall("FindContacts", arguments: #"{"query": "a"}"#),
                .toolCall("FindRecipe", arguments: #"{"query": "a"}"#),
            ], [.text("ok")],
        ])
        let session = LanguageModelSession(model: model, tools: [FindContacts(), FindRecipe()])
        try await session.respond(to: "Hi")
        let outputs = session.transcript.filter { $0.kind == "toolOutput" }
        #expect(outputs[0].text.contains("Ann") && outputs[0].text.contains("Bob"))
        guard case .structure(let structure)? = outputs[1].segments.first else {
            Issue.record("a generable output is a structure")
            return
        }
        #expect(structure.schemaName == "Recipe")
        #expect(try Recipe(structure.content) == Recipe(name: "a", steps: [], minutes: 1))
    }
}

private struct DoubleTool: Tool {
    let name = "double"
    let description = "Doubles a number."
    let parameters = Int.generationSchema

    func call(arguments: Int) async throws -> String { String(arguments * 2) }
}

private struct FindContacts: Tool {
    let description = "Finds contacts."

    @Generable
    struct Arguments {
        var query: String
    }

    func call(arguments: Arguments) async -> [String] { ["Ann", "Bob"] }
}

private struct FindRecipe: Tool {
    let description = "Finds a recipe."

    @Generable
    struct Arguments {
        var query: String
    }

    func call(arguments: Arguments) async -> Recipe { Recipe(name: arguments.query, steps: [], minutes: 1) }
}

extension SessionPropertyValues {
    @SessionPropertyEntry var callCount: Int = 0
}

/// Requires a tool until it has been called often enough.
private struct CountingProfile: LanguageModelSession.DynamicProfile {
    let model: ScriptedLanguageModel
    let limit: Int
    @SessionProperty(\.callCount) var callCount

    var body: some DynamicProfile {
        Profile { CountTool() }
            .model(model)
            .toolCallingMode(callCount < limit ? .required : .allowed)
    }
}

private struct CountTool: Tool {
    let name = "count"
    let description = "Counts."
    @SessionProperty(\.callCount) var callCount

    @Generable
    struct Arguments {}

    func call(arguments: Arguments) async throws -> String {
        callCount += 1
        return "\(callCount)"
    }
}
