import Foundation
import FoundationModelsServer
import Inference
import JSON
import TestSupport
import Testing
import Tokenizers

/// Requests to a model that thinks in tags: random weights, so that its thoughts are nonsense and end with their budget.
@Suite struct ThinkingTests {
    static let engine = Result {
        let folder = ScratchFolder()
        let url = URL(fileURLWithPath: "\(folder.path)/tiny.gguf")
        try TinyModel.write(to: url, context: 4096) {
            $0.pairs.append(("tokenizer.chat_template", .string(TinyModel.thinkingTemplate)))
        }
        return try withExtendedLifetime(folder) {
            try Engine.load(url, options: EngineOptions(threadCount: 1, concurrentRequests: 2))
        }
    }

    let engine: Engine
    let server: ModelServer

    init() throws {
        engine = try Self.engine.get()
        server = ModelServer(engine, ModelServer.Configuration(modelName: "tiny"))
    }

    private static let question = question("the tin")

    private static func question(_ text: String) -> String {
        "\"messages\": [{\"role\": \"user\", \"content\": \"\(text)\"}], \"temperature\": 1, \"seed\": 7"
    }

    /// What the model writes by itself.
    private func text(_ prompt: [TokenID], _ count: Int) async throws -> String {
        var text = ""
        for try await event in engine.generate(
            GenerationRequest(
                prompt: prompt, sampling: Sampling(mode: .random, temperature: 1, seed: 7), maximumTokens: count))
        {
            if case .text(let piece, _) = event { text += piece }
        }
        return text
    }

    private func prompt(_ text: String = "the tin", thinks: Bool) throws -> [TokenID] {
        try engine.tokens(of: [ChatMessage(.user, text)], thinks: thinks)
    }

    /// Some make the model write white space alone, which is no thought.
    private static let questions = ["the tin", "a red hat", "seven", "Who are you, and what is that?"]

    @Test func thoughtsStandBesideTheAnswer() async throws {
        var thoughtful = 0
        for question in Self.questions {
            let prompt = try prompt(question, thinks: true)
            var tags = ThinkingTags(startsInside: true)
            let parts = tags.append(try await text(prompt, 40)) + tags.finish()
            let thoughts = parts.reduce("") { if case .thought(let text) = $1 { $0 + text } else { $0 } }
            // The answer goes on behind the thoughts and their closing tag.
            let answer = try await text(prompt + engine.tokens(ofThoughts: thoughts), 40)

            let members = "\(Self.question(question)), \"max_tokens\": 80"
            let body = try await server.chat(members)
            let message = try #require(body["choices"]?[0]?["message"])
            #expect(message["reasoning_content"]?.stringValue == (thoughts.isEmpty ? nil : thoughts))
            #expect(message["content"]?.stringValue == answer)
            #expect(body["usage"]?["completion_tokens"] == 80)
            #expect(body["usage"]?["completion_tokens_details"] == ["reasoning_tokens": 40])
            #expect(body["choices"]?[0]?["finish_reason"] == "length")

            let stream = try await server.request(
                "/v1/chat/completions",
                "{\(members), \"stream\": true, \"stream_options\": {\"include_usage\": true}}")
            let events = try events(stream.text)
            let deltas = events.compactMap { $0["choices"]?[0]?["delta"] }
            #expect(deltas.compactMap { $0["reasoning_content"]?.stringValue }.joined() == thoughts)
            #expect(deltas.compactMap { $0["content"]?.stringValue }.joined() == answer)
            #expect(events.last?["usage"]?["completion_tokens_details"]?["reasoning_tokens"] == 40)
            guard let last = deltas.lastIndex(where: { $0["reasoning_content"] != nil }) else { continue }
            thoughtful += 1
            #expect(deltas.first == ["role": "assistant", "content": .null])
            // All of them come before the answer, in pieces.
            #expect(last > 2 && deltas[..<last].allSatisfy { $0["content"]?.stringValue == nil })
        }
        #expect(thoughtful > 0)
    }

    @Test(arguments: [
        #""reasoning_effort": "none""#, #""chat_template_kwargs": {"enable_thinking": false}"#,
        #""chat_template_kwargs": {"thinking": false}, "reasoning_effort": "none""#,
    ]) func whatIsNotToThinkAnswersAtOnce(members: String) async throws {
        let body = try await server.chat("\(Self.question), \"max_tokens\": 16, \(members)")
        let message = body["choices"]?[0]?["message"]
        #expect(message?["reasoning_content"] == nil)
        #expect(message?["content"]?.stringValue == (try await text(try prompt(thinks: false), 16)))
        #expect(body["usage"]?["completion_tokens_details"]?["reasoning_tokens"] == 0)
    }

    @Test func effortsAreBudgets() async throws {
        let body = try await server.chat("\(Self.question), \"max_tokens\": 300, \"reasoning_effort\": \"minimal\"")
        #expect(body["usage"]?["completion_tokens_details"]?["reasoning_tokens"] == 128)
        #expect(body["usage"]?["completion_tokens"] == 300)
    }

    @Test func aSchemaBindsTheAnswerAlone() async throws {
        let body = try await server.chat(
            """
            \(Self.question), "max_tokens": 80, "response_format": {"type": "json_schema", "json_schema": {"schema":
            {"type": "object", "properties": {"a": {"enum": ["one", "two"]}}, "required": ["a"]}}}
            """)
        let message = try #require(body["choices"]?[0]?["message"])
        let value = try JSONValue(parsing: message["content"]?.stringValue ?? "")
        #expect(["one", "two"].contains(value["a"]?.stringValue))
        #expect(message["reasoning_content"]?.stringValue?.isEmpty == false)
        #expect(body["choices"]?[0]?["finish_reason"] == "stop")
    }

    @Test func choosingAToolNeedsNoThought() async throws {
        let body = try await server.chat(
            """
            \(Self.question), "max_tokens": 80, "tool_choice": "required", "tools": [{"type": "function", "function":
            {"name": "f", "parameters": {"type": "object", "properties": {"a": {"enum": ["one", "two"]}},
            "required": ["a"]}}}], "parallel_tool_calls": false
            """)
        let message = body["choices"]?[0]?["message"]
        #expect(message?["tool_calls"]?[0]?["function"]?["name"] == "f")
        #expect(message?["reasoning_content"] == nil)
        #expect(body["usage"]?["completion_tokens_details"]?["reasoning_tokens"] == 0)
    }

    @Test(arguments: [
        (#""reasoning_effort": "wildly""#, "reasoning_effort"), (#""reasoning_effort": 3"#, "reasoning_effort"),
        (#""chat_template_kwargs": {"enable_thinkin": true}"#, "chat_template_kwargs.enable_thinkin"),
        (#""chat_template_kwargs": {"enable_thinking": "no"}"#, "chat_template_kwargs.enable_thinking"),
        (
            #""chat_template_kwargs": {"enable_thinking": true}, "reasoning_effort": "none""#,
            "chat_template_kwargs.enable_thinking"
        ),
        (
            #""chat_template_kwargs": {"enable_thinking": true, "thinking": false}"#,
            "chat_template_kwargs.enable_thinking"
        ),
    ]) func whatMakesNoSenseIsRefused(members: String, parameter: String) async throws {
        let answer = try await server.request("/v1/chat/completions", "{\(Self.question), \(members)}")
        #expect(answer.status == 400)
        #expect(try JSONValue(parsing: answer.text)["error"]?["param"]?.stringValue == parameter, "\(answer.text)")
    }

    @Test func tokensAreThoseOfTheRequest() async throws {
        for (members, thinks) in [("", true), (#", "reasoning_effort": "none""#, false)] {
            let answer = try await server.request("/tokenize", "{\(Self.question)\(members)}")
            let count = try prompt(thinks: thinks).count
            #expect(try JSONValue(parsing: answer.text)["count"]?.numberValue?.intValue == count)
        }
    }

    @Test func otherModelsDoNotThink() async throws {
        let folder = ScratchFolder()
        let url = URL(fileURLWithPath: "\(folder.path)/plain.gguf")
        try TinyModel.write(to: url)
        let plain = ModelServer(
            try Engine.load(url, options: EngineOptions(threadCount: 1)), ModelServer.Configuration(modelName: "plain"))
        let body = try await plain.chat("\(Self.question), \"max_tokens\": 8, \"reasoning_effort\": \"high\"")
        #expect(body["choices"]?[0]?["message"]?["reasoning_content"] == nil)
        #expect(body["usage"]?["completion_tokens"] == 8)
    }
}
