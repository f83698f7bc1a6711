import Foundation
import FoundationModels
import FoundationModelsTesting
import Testing

extension SessionPropertyValues {
    @SessionPropertyEntry fileprivate var topic: String = "bread"
    @SessionPropertyEntry fileprivate var isFormal: Bool = false
}

@Suite struct ProfileTests {
    @Test func bodiesAreEvaluatedBeforeEachCall() async throws {
        let model = ScriptedLanguageModel { request, index in
            index == 0 ? [.toolCall("topic", arguments: #"{"topic": "cheese"}"#)] : [.text("ok")]
        }
        let session = LanguageModelSession(model: model, dynamicInstructions: TopicInstructions())
        try await session.respond(to: "Hi")
        #expect(model.requests.map { $0.transcript[0].text } == ["Talk about bread.", "Talk about cheese."])
        #expect(session.properties.topic == "cheese")
        #expect(session.transcript.kinds == ["instructions", "prompt", "toolCalls", "toolOutput", "response"])
        #expect(session.transcript[0].text == "Talk about cheese.")
        #expect(session.trace.notes.contains { $0.contains("part 1 of the instructions") })
    }

    @Test func unchangedInstructionsStayTheSameEntry() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(model: model, dynamicInstructions: TopicInstructions())
        try await session.respond(to: "Hi")
        let first = session.transcript[0]
        try await session.respond(to: "Hi")
        #expect(session.transcript[0] == first)
        #expect(session.trace.notes.isEmpty)
    }

    @Test func buildersNestAndBranch() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(model: model, dynamicInstructions: NestedInstructions())
        try await session.respond(to: "Hi")
        guard case .instructions(let informal) = session.transcript[0] else { return }
        #expect(informal.segments.compactMap(\.text) == ["Talk about bread.", "Be easy.", "a", "b"])
        #expect(informal.toolDefinitions.map(\.name) == ["topic", "echo", "first", "second"])
        session.properties.isFormal = true
        try await session.respond(to: "Hi")
        guard case .instructions(let formal) = session.transcript[0] else { return }
        #expect(formal.segments.compactMap(\.text) == ["Talk about bread.", "Be formal.", "Say sir.", "a", "b"])
    }

    @Test func whatIsSaidNearerGoesFirst() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let other = ScriptedLanguageModel(alwaysAnswering: "other")
        let session = LanguageModelSession(
            profile: LanguageModelSession.Profile {}
                .model(model).temperature(0.1).maximumResponseTokens(nil).samplingMode(.greedy)
                .reasoningLevel(.light)
                .temperature(0.9).maximumResponseTokens(50).model(other).samplingMode(.random(top: 3))
                .reasoningLevel(.deep))
        try await session.respond(to: "Hi")
        #expect(other.requests.isEmpty)
        let request = try #require(model.requests.first)
        #expect(request.generationOptions.temperature == 0.1)
        #expect(request.generationOptions.maximumResponseTokens == 50)
        #expect(request.generationOptions.samplingMode == .greedy)
        #expect(request.contextOptions.reasoningLevel == .light)
        // And the call itself first of all.
        try await session.respond(
            to: "Hi", options: GenerationOptions(temperature: 0.7),
            contextOptions: ContextOptions(reasoningLevel: .deep))
        #expect(model.requests[1].generationOptions.temperature == 0.7)
        #expect(model.requests[1].contextOptions.reasoningLevel == .deep)
    }

    @Test func callbacksRunInTheirOrder() async throws {
        let events = Recorder<[String]>([])
        let model = ScriptedLanguageModel(turns: [
            [.reasoning("r"), .toolCall("echo", id: "1", arguments: #"{"text": "a"}"#)], [.text("ok")],
        ])
        let session = LanguageModelSession(
            profile: LanguageModelSession.Profile { EchoTool() }
                .onPrompt { events.append("inner prompt") }
                .onActivate { events.append("activate") }
                .onReasoning { events.append("reasoning \($0.segments.count)") }
                .onToolCall { events.append("call \($0.id)") }
                .onToolOutput { call, output in events.append("output \(call.id) \(output.id)") }
                .onResponse { events.append("response") }
                .onPrompt { (prompt: Transcript.Prompt) in events.append("outer prompt \(prompt.segments.count)") }
                .model(model))
        try await session.respond(to: "Hi")
        #expect(
            events.value == [
                "activate", "outer prompt 1", "inner prompt", "reasoning 1", "call 1", "output 1 1", "outer prompt 1",
                "inner prompt", "response",
            ])
    }

    @Test func switchingDeactivatesFirst() async throws {
        let events = Recorder<[String]>([])
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(profile: FormalProfile(model: model, events: events))
        try await session.respond(to: "Hi")
        try await session.respond(to: "Hi")
        session.properties.isFormal = true
        try await session.respond(to: "Hi")
        #expect(
            events.value == [
                "easy on", "easy prompt", "easy prompt", "easy off", "formal on", "formal prompt",
            ])
    }

    @Test func aThrowingCallbackRevertsTheTurn() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(
            profile: LanguageModelSession.Profile {}.model(model).onResponse { throw Fault() })
        await #expect(throws: Fault()) { try await session.respond(to: "Hi") }
        #expect(session.transcript.isEmpty)
        let preserving = LanguageModelSession(
            profile: LanguageModelSession.Profile {}.model(model).onResponse { throw Fault() }
                .transcriptErrorHandlingPolicy(.preserveTranscript))
        await #expect(throws: Fault()) { try await preserving.respond(to: "Hi") }
        #expect(preserving.transcript.kinds == ["prompt", "response"])
    }

    @Test func transformsRunInnermostFirstAndLeaveTheTranscript() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let order = Recorder<[String]>([])
        let session = LanguageModelSession(
            profile: LanguageModelSession.Profile { Instructions("I.") }
                .historyTransform { entries in
                    order.append("inner \(entries.count)")
                    return Array(entries.suffix(2))
                }
                .historyTransform { entries in
                    order.append("outer \(entries.count)")
                    return Array(entries.suffix(1))
                }
                .model(model))
        try await session.respond(to: "One")
        try await session.respond(to: "Two")
        #expect(order.value == ["inner 1", "outer 1", "inner 3", "outer 2"])
        #expect(model.requests[1].transcript.kinds == ["instructions", "prompt"])
        #expect(session.transcript.count == 5)
    }

    @Test func callbacksMayRewriteTheHistory() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(
            profile: LanguageModelSession.Profile {}.modifier(WindowModifier(size: 2)).model(model))
        for word in ["one", "two", "three"] { try await session.respond(to: word) }
        #expect(model.requests[2].transcript.map(\.text) == ["ok", "three"])
        #expect(session.transcript.map(\.text) == ["ok", "three", "ok"])
        #expect(!session.isResponding)
    }

    @Test func entriesOfARequestAreFoundInARewrittenHistory() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(
            profile: LanguageModelSession.Profile {}.modifier(WindowModifier(size: 1)).model(model))
        try await session.respond(to: "one")
        let response = try await session.respond(to: "two")
        #expect(response.transcriptEntries.map(\.text) == ["two", "ok"])
    }

    @Test func toolsMayOnlyReadTheHistory() async throws {
        let model = ScriptedLanguageModel(turns: [[.toolCall("forget", arguments: "{}")], [.text("ok")]])
        let session = LanguageModelSession(model: model, tools: [ForgetTool()])
        try await session.respond(to: "Hi")
        #expect(session.transcript.kinds == ["instructions", "prompt", "toolCalls", "toolOutput", "response"])
        // The tool saw the turn that it was called in.
        #expect(session.transcript[3].text == "2")
        #expect(session.trace.notes.contains { $0.contains("the write is ignored") })
    }

    @Test func aProfileWithoutAModelIsAnError() async throws {
        let session = LanguageModelSession(profile: LanguageModelSession.Profile { Instructions("a") })
        await #expect(throws: LanguageModelSession.ConfigurationError.missingModel) {
            try await session.respond(to: "Hi")
        }
    }

    @Test func propertiesAreOfASession() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let one = LanguageModelSession(model: model)
        let two = LanguageModelSession(model: model)
        one.properties.topic = "wine"
        #expect(one.properties.topic == "wine")
        #expect(two.properties.topic == "bread")
        // Outside of a session there is the default.
        #expect(TopicTool().topic == "bread")
    }
}

private struct TopicInstructions: DynamicInstructions {
    @SessionProperty(\.topic) var topic

    var body: some DynamicInstructions {
        Instructions("Talk about \(topic).")
        TopicTool()
    }
}

private struct TopicTool: Tool {
    let name = "topic"
    let description = "Changes the topic."
    @SessionProperty(\.topic) var topic

    @Generable
    struct Arguments {
        var topic: String
    }

    func call(arguments: Arguments) async throws -> String {
        topic = arguments.topic
        return "ok"
    }
}

private struct NestedInstructions: DynamicInstructions {
    @SessionProperty(\.isFormal) var isFormal

    var body: some DynamicInstructions {
        TopicInstructions()
        if isFormal {
            Instructions("Be formal.")
        } else {
            Instructions("Be easy.")
        }
        if isFormal { Instructions { "Say sir." } }
        EchoTool()
        [EchoTool(name: "first"), EchoTool(name: "second")]
        ForEach(["a", "b", "a"], id: \.self) { Instructions($0) }
    }
}

private struct FormalProfile: LanguageModelSession.DynamicProfile {
    let model: ScriptedLanguageModel
    let events: Recorder<[String]>
    @SessionProperty(\.isFormal) var isFormal

    var body: some DynamicProfile {
        if isFormal {
            Profile { Instructions("Formal.") }.modifier(NotingModifier(name: "formal", events: events)).model(model)
        } else {
            Profile { Instructions("Easy.") }.modifier(NotingModifier(name: "easy", events: events)).model(model)
        }
    }
}

private struct NotingModifier: LanguageModelSession.DynamicProfileModifier {
    let name: String
    let events: Recorder<[String]>

    func body(content: Content) -> some DynamicProfile {
        content
            .onActivate { events.append("\(name) on") }
            .onDeactivate { events.append("\(name) off") }
            .onPrompt { events.append("\(name) prompt") }
    }
}

private struct WindowModifier: LanguageModelSession.DynamicProfileModifier {
    let size: Int
    @SessionProperty(\.history) var history

    func body(content: Content) -> some DynamicProfile {
        content.onPrompt { history = history.suffix(size) }
    }
}

private struct ForgetTool: Tool {
    let name = "forget"
    let description = "Tries to forget."
    @SessionProperty(\.history) var history

    @Generable
    struct Arguments {}

    func call(arguments: Arguments) async throws -> String {
        let count = history.count
        history = []
        return "\(count)"
    }
}
