import FoundationModels
import Testing

/// A model on this machine that thinks in tags, as a scripted engine: thoughts become reasoning, and all else is as it was.
@Suite struct ThinkingTests {
    @Generable
    struct City: Equatable {
        var name: String
    }

    /// Answers a prompt that is to think with a thought, and others with an answer.
    private static func backend(
        thought: String, answer: String = "Oslo.", contextSize: Int = 20_000
    ) -> ScriptedBackend {
        ScriptedBackend(reasons: true, contextSize: contextSize) { generation, _ in
            generation.prompt.thinks && generation.prompt.answer.isEmpty ? thought : answer
        }
    }

    private static func respond(
        _ backend: ScriptedBackend, level: ContextOptions.ReasoningLevel? = nil,
        options: GenerationOptions = GenerationOptions()
    ) async throws -> (LanguageModelSession, LanguageModelSession.Response<String>) {
        let session = LanguageModelSession(model: SystemLanguageModel(backend: backend))
        let response = try await session.respond(
            to: "A city?", options: options, contextOptions: ContextOptions(reasoningLevel: level))
        return (session, response)
    }

    private static func thoughts(_ session: LanguageModelSession) -> [String] {
        session.transcript.compactMap { entry in
            guard case .reasoning(let reasoning) = entry else { return nil }
            return reasoning.segments.map { segment in
                if case .text(let text) = segment { text.content } else { "?" }
            }.joined()
        }
    }

    @Test func thoughtsAreReasoningEntriesBeforeTheResponse() async throws {
        let backend = Self.backend(thought: "Norway's capital.\n</think>\n\nThis comes too early")
        #expect(SystemLanguageModel(backend: backend).capabilities.contains(.reasoning))
        let (session, response) = try await Self.respond(backend)
        #expect(response.content == "Oslo.")
        #expect(Self.thoughts(session) == ["Norway's capital."])
        guard case .reasoning? = session.transcript.dropLast().last, case .response? = session.transcript.last else {
            Issue.record("the order is \(session.transcript)")
            return
        }
        // The answer goes on from the thoughts, closed as the template closes them.
        let asked = backend.generations
        #expect(asked.count == 2)
        #expect(asked[1].prompt.thinks)
        #expect(asked[1].prompt.answer.map(\.text) == ["Norway's capital.", "\n</think>\n\n"])
        #expect(asked[1].prompt.answer.map(\.isOfTemplate) == [false, true])
        // Three words came until the thoughts were closed, and the answer has the three that the engine counts.
        #expect(response.usage.output.reasoningTokenCount == 2)
        #expect(response.usage.output.totalTokenCount == 5)
    }

    @Test(
        "thoughts that are not closed are closed for the model",
        arguments: [("I wonder", "I wonder"), ("I wonder </thin", "I wonder </thin"), ("", ""), ("</think>", "")])
    func unclosed(text: String, thought: String) async throws {
        let backend = Self.backend(thought: text)
        let (session, response) = try await Self.respond(backend)
        #expect(response.content == "Oslo.")
        #expect(Self.thoughts(session) == (thought.isEmpty ? [] : [thought]))
        #expect(backend.generations.last?.prompt.answer.map(\.text) == [thought, "\n</think>\n\n"])
    }

    @Test func tagsInTheAnswerAreItsText() async throws {
        let answer = "Models write <think>so</think> first."
        let (session, response) = try await Self.respond(Self.backend(thought: "Hm.</think>", answer: answer))
        #expect(response.content == answer)
        #expect(Self.thoughts(session) == ["Hm."])
    }

    @Test func aSchemaBindsTheAnswerAlone() async throws {
        let backend = Self.backend(thought: "Norway.</think>", answer: #"{"name": "Oslo"}"#)
        let session = LanguageModelSession(model: SystemLanguageModel(backend: backend))
        #expect(try await session.respond(to: "A city?", generating: City.self).content == City(name: "Oslo"))
        #expect(backend.generations.map { $0.schema != nil } == [false, true])
        #expect(Self.thoughts(session) == ["Norway."])
    }

    @Test(
        "levels are budgets of tokens",
        arguments: [
            (.light, 512), (.moderate, 2048), (nil, 2048), (.deep, 8192), (.custom("7"), 7),
        ] as [(ContextOptions.ReasoningLevel?, Int)])
    func budgets(level: ContextOptions.ReasoningLevel?, budget: Int) async throws {
        // A word is a token.
        let backend = Self.backend(thought: Array(repeating: "so", count: 9000).joined(separator: " "))
        let (session, response) = try await Self.respond(backend, level: level)
        #expect(backend.generations[0].options.maximumResponseTokens == budget)
        #expect(response.content == "Oslo.")
        #expect(Self.thoughts(session)[0].split(separator: " ").count == budget)
        #expect(response.usage.output.reasoningTokenCount == budget)
    }

    @Test func thoughtsTakeNoMoreThanHalfOfWhatThereIs() async throws {
        let endless = Array(repeating: "so", count: 9000).joined(separator: " ")
        let limited = Self.backend(thought: endless)
        let (_, response) = try await Self.respond(
            limited, options: GenerationOptions(maximumResponseTokens: 20))
        #expect(response.usage.output.reasoningTokenCount == 10)
        #expect(limited.generations.map(\.options.maximumResponseTokens) == [10, 10])
        // The prompt has ten tokens.
        let small = Self.backend(thought: endless, contextSize: 110)
        #expect(try await Self.respond(small).1.usage.output.reasoningTokenCount == 50)
    }

    @Test func aModelThatIsNotToThinkAnswersAtOnce() async throws {
        for level in ["none", "0"] {
            let backend = Self.backend(thought: "Hm.</think>")
            let (session, _) = try await Self.respond(backend, level: .custom(level))
            #expect(backend.generations.map(\.prompt.thinks) == [false])
            #expect(Self.thoughts(session).isEmpty)
        }
        await #expect {
            try await Self.respond(Self.backend(thought: ""), level: .custom("wildly"))
        } throws: { error in
            guard case LanguageModelError.unsupportedCapability(let details) = error else { return false }
            return details.debugDescription.contains("\"wildly\"")
        }
    }

    @Test func streamsShowThoughtsWhileTheyCome() async throws {
        let backend = Self.backend(thought: "One two three</think>", answer: "Oslo it is.")
        let session = LanguageModelSession(model: SystemLanguageModel(backend: backend))
        var counts: [Int] = []
        var contents: [String] = []
        for try await snapshot in session.streamResponse(to: "A city?") {
            counts.append(snapshot.usage.output.reasoningTokenCount)
            contents.append(snapshot.content)
        }
        #expect(contents.last == "Oslo it is.")
        #expect(!contents.contains { $0.contains("two") })
        #expect(counts.last == 3)
    }

    @Test func toolsAreChosenBeforeThinkingWhereTheyAreChosen() async throws {
        let backend = ScriptedBackend(reasons: true, contextSize: 20_000) { generation, _ in
            if let choices = generation.choices { return choices.last! }
            return generation.prompt.thinks && generation.prompt.answer.isEmpty ? "Hm.</think>" : "Oslo."
        }
        let session = LanguageModelSession(model: SystemLanguageModel(backend: backend), tools: [Weather()])
        #expect(try await session.respond(to: "A city?").content == "Oslo.")
        #expect(backend.generations.map(\.prompt.thinks) == [false, true, true])
    }
}

private struct Weather: Tool {
    let name = "weather"
    let description = "Tells the weather."

    @Generable
    struct Arguments {
        var city: String
    }

    func call(arguments: Arguments) async throws -> String { "Rain" }
}
