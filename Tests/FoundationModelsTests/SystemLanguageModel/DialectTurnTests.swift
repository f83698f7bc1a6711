import Foundation
import FoundationModels
import Inference
import Testing

/// Models that write tool calls in the form of their templates.
@Suite struct DialectTurnTests {
    private static let hermes = ToolDialect(
        opening: "<tool_call>\n{\"name\": \"", middle: "\", \"arguments\": ",
        between: "}\n</tool_call>\n<tool_call>\n{\"name\": \"", ending: "}\n</tool_call><|end|>\n")
    private static let bare = ToolDialect(
        opening: "{\"name\": \"", middle: "\", \"parameters\": ", between: nil, ending: "}<|end|>")

    private func session(_ dialect: ToolDialect, _ answers: [String]) -> (LanguageModelSession, ScriptedBackend) {
        let backend = ScriptedBackend(dialect: dialect) { _, index in
            guard index < answers.count else { throw Fault(name: "call \(index)") }
            return answers[index]
        }
        let tools: [any Tool] = [EchoTool(), EchoTool(name: "shout")]
        return (LanguageModelSession(model: SystemLanguageModel(backend: backend), tools: tools), backend)
    }

    @Test func answersComeStraight() async throws {
        let (session, backend) = session(Self.hermes, ["All is well < fine."])
        var snapshots: [String] = []
        for try await snapshot in session.streamResponse(to: "How is it?") { snapshots.append(snapshot.content) }
        #expect(snapshots.last == "All is well < fine.")
        #expect(snapshots.count > 1)
        #expect(backend.generations.count == 1)
        // The template shows the tools, not the text.
        #expect(backend.generations[0].prompt.tools.map(\.name) == ["echo", "shout"])
        #expect(backend.generations[0].prompt.messages == [ChatMessage(.user, "How is it?")])
    }

    @Test func callsAreReadAndGoOnFromWhatIsThere() async throws {
        let (session, backend) = session(
            Self.hermes,
            [
                "\n<tool_call> whatever", "shout", #"{"text": "a"}"#, "\n<tool_call>", "echo", #"{"text": "b"}"#, "",
                "Done.",
            ])
        #expect(try await session.respond(to: "Say a and b.").content == "Done.")
        #expect(
            session.transcript.kinds == ["instructions", "prompt", "toolCalls", "toolOutput", "toolOutput", "response"])
        let generations = backend.generations
        #expect(generations[1].choices == ["echo", "shout"])
        #expect(generations[1].prompt.answer.map(\.text) == [Self.hermes.opening])
        #expect(
            generations[4].prompt.answer.map(\.text).joined()
                == "<tool_call>\n{\"name\": \"shout\", \"arguments\": {\"text\": \"a\"}}\n</tool_call>\n<tool_call>\n{\"name\": \""
        )
        // What a model wrote is no template's text.
        #expect(generations[4].prompt.answer.map(\.isOfTemplate) == [true, false, true, false, true])
        // The calls and their results are in the conversation as such.
        let last = try #require(generations.last).prompt.messages
        #expect(last.map(\.role) == [.user, .assistant, .tool, .tool])
        #expect(last[1].toolCalls.map(\.name) == ["shout", "echo"])
        #expect(last[3].toolName == "echo")
    }

    @Test func textBeforeACallIsPartOfTheResponse() async throws {
        let (session, _) = session(
            Self.hermes, ["Let me see.\n<tool_call>", "echo", #"{"text": "a"}"#, "", "It is a."])
        #expect(try await session.respond(to: "Say a.").content == "It is a.")
        #expect(
            session.transcript.kinds == ["instructions", "prompt", "response", "toolCalls", "toolOutput", "response"])
        #expect(session.transcript[2].text == "Let me see.\n")
    }

    @Test func T7_protocolTextIsNeverShown() async throws {
        let (session, _) = session(Self.hermes, ["<tool_call>", "echo", #"{"text": "a"}"#, "", "ok"])
        for try await snapshot in session.streamResponse(to: "Say a.") {
            #expect(!snapshot.content.contains("<tool"))
        }
    }

    @Test func jsonAnswersAreNoCallsOfBareDialects() async throws {
        let answers = [#"{"name": "Ann", "age": 7, "town": "Oslo"}"#, #"See: {"name": "echo"}"#, "{"]
        for answer in answers {
            let (session, backend) = session(Self.bare, [answer])
            #expect(try await session.respond(to: "JSON, please.").content == answer)
            #expect(backend.generations.count == 1)
        }
        let (session, _) = session(Self.bare, [#"{"name": "shout", "param"#, "shout", #"{"text": "a"}"#, "Done."])
        #expect(try await session.respond(to: "Say a.").content == "Done.")
    }

    @Test func requiredBeginsWithTheCall() async throws {
        let (session, backend) = session(Self.hermes, ["echo", #"{"text": "a"}"#, ""])
        await #expect(throws: Fault(name: "call 3")) {
            try await session.respond(to: "Hi", options: GenerationOptions(toolCallingMode: .required))
        }
        #expect(backend.generations[0].choices == ["echo", "shout"])
    }

    @Test func theSameCallAgainIsAnAnswer() async throws {
        let (session, backend) = session(
            Self.hermes,
            ["<tool_call>", "echo", #"{"text": "a"}"#, "", "<tool_call>", "echo", #"{"text": "a"}"#, "It is a."])
        #expect(try await session.respond(to: "Say a.").content == "It is a.")
        #expect(backend.generations.last?.prompt.tools.isEmpty == true)
    }

    @Test func answersUnderASchemaChooseFirst() async throws {
        let (session, backend) = session(Self.hermes, ["none", #"{"name": "a", "steps": [], "minutes": 1}"#])
        let recipe = try await session.respond(to: "Bread", generating: Recipe.self).content
        #expect(recipe.minutes == 1)
        #expect(backend.generations[0].choices == ["echo", "shout", "none"])
    }
}
