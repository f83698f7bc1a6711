import FoundationModels
import Inference
import Testing

/// Typed answers and arguments of calls that end at the maximum of tokens: errors that say so, and keep what came.
@Suite struct CutAnswerTests {
    @Generable
    struct Place: Equatable {
        var city: String
        var country: String
    }

    /// A word is a token.
    private static let json = #"{"city": "Oslo by the sea", "country": "Norway"}"#

    private static func unfinished(_ error: any Error) -> GeneratedContent.ParsingError? {
        guard let error = error as? GeneratedContent.ParsingError, error.isUnfinished else { return nil }
        return error
    }

    @Test func answersNameTheLimit() async throws {
        let backend = ScriptedBackend { _, _ in Self.json }
        let session = LanguageModelSession(model: SystemLanguageModel(backend: backend))
        let options = GenerationOptions(maximumResponseTokens: 4)
        do {
            _ = try await session.respond(to: "A city?", generating: Place.self, options: options)
            Issue.record("no error")
        } catch {
            let unfinished = try #require(Self.unfinished(error), "\(error)")
            #expect(unfinished.rawContent == #"{"city": "Oslo by the"#)
            #expect(
                unfinished.debugDescription
                    == "GeneratedContent does not contain a property 'country'. The response ended after 4 tokens, the most "
                    + "that the request allows, before the content was complete. Allow more response tokens.")
        }
        let enough = GenerationOptions(maximumResponseTokens: 8)
        let place = try await session.respond(to: "A city?", generating: Place.self, options: enough).content
        #expect(place == Place(city: "Oslo by the sea", country: "Norway"))
    }

    @Test("arguments name the limit and the tool", arguments: [false, true])
    func arguments(inDialect: Bool) async throws {
        let dialect = ToolDialect(
            opening: "<call>\n{\"name\": \"", middle: "\", \"arguments\": ", between: nil, ending: "}<|end|>")
        let backend = ScriptedBackend(dialect: inDialect ? dialect : nil) { generation, _ in
            if let choices = generation.choices { return choices[0] }
            return generation.schema == nil ? "<call>" : Self.json
        }
        let session = LanguageModelSession(
            model: SystemLanguageModel(backend: backend), tools: [EchoTool(), EchoTool(name: "shout")])
        session.transcriptErrorHandlingPolicy = .preserveTranscript
        do {
            _ = try await session.respond(to: "Say it.", options: GenerationOptions(maximumResponseTokens: 3))
            Issue.record("no error")
        } catch {
            let failed = try #require(error as? LanguageModelSession.ToolCallError, "\(error)")
            #expect(failed.tool.name == "echo")
            #expect(try #require(Self.unfinished(failed.underlyingError)).rawContent == #"{"city": "Oslo by"#)
            #expect(
                failed.errorDescription
                    == "The tool \"echo\" failed: The JSON of its arguments ended after 3 tokens, the most that the "
                    + "request allows, before the content was complete. Allow more response tokens.")
        }
        // A session that keeps what fails keeps the call.
        #expect(session.transcript.kinds == ["instructions", "prompt", "toolCalls"])
    }
}
