import Foundation
import FoundationModelsServer
import Inference
import JSON
import Testing

extension ServedModelTests {
    /// Answers of a real model, without a network.
    @Suite struct ModelServerTests {
        let server: ModelServer

        init() throws { server = try ServedModel.server() }

        private let hello = #""messages": [{"role": "user", "content": "Say hello."}], "temperature": 0"#

        @Test func aWholeAnswer() async throws {
            let answer = try await server.chat(hello + #", "max_tokens": 5"#)
            let choice = try #require(answer["choices"]?[0])
            #expect(answer["object"] == "chat.completion" && answer["model"] == "small")
            #expect(choice["message"]?["role"] == "assistant")
            #expect(choice["message"]?["content"]?.stringValue?.isEmpty == false)
            #expect(choice["finish_reason"] == "length")
            #expect(answer["usage"]?["completion_tokens"] == 5)
            // All but the last token of the prompt is known, unless another test has needed the place of it meanwhile.
            var again = answer
            for _ in 0..<5 {
                again = try await server.chat(hello + #", "max_completion_tokens": 5"#)
                if again["usage"]?["prompt_tokens_details"]?["cached_tokens"] != 0 { break }
            }
            #expect(again["choices"]?[0]?["message"]?["content"] == choice["message"]?["content"])
            let prompt = try #require(again["usage"]?["prompt_tokens"]?.numberValue?.intValue)
            #expect(again["usage"]?["prompt_tokens_details"]?["cached_tokens"] == .number(JSONNumber(prompt - 1)))
            #expect(again["usage"]?["total_tokens"] == .number(JSONNumber(prompt + 5)))
        }

        @Test func aStreamSaysWhatTheWholeAnswerSays() async throws {
            let whole = try await server.chat(hello + #", "max_tokens": 12, "logprobs": true, "top_logprobs": 2"#)
            let stream = try await server.request(
                "/v1/chat/completions",
                "{\(hello), \"max_tokens\": 12, \"logprobs\": true, \"top_logprobs\": 2, \"stream\": true, "
                    + "\"stream_options\": {\"include_usage\": true}}")
            #expect(stream.headers["Content-Type"] == "text/event-stream")
            #expect(stream.text.hasSuffix("data: [DONE]\n\n"))
            let events = try events(stream.text)
            #expect(events.dropLast().allSatisfy { $0["usage"] == .null && $0["object"] == "chat.completion.chunk" })
            #expect(Set(events.map { $0["id"] }).count == 1)
            #expect(events.last?["choices"] == [] && events.last?["usage"]?["completion_tokens"] == 12)
            #expect(events.first?["choices"]?[0]?["delta"]?["role"] == "assistant")
            let deltas = events.compactMap { $0["choices"]?[0] }
            let text = deltas.compactMap { $0["delta"]?["content"]?.stringValue }.joined()
            #expect(.string(text) == whole["choices"]?[0]?["message"]?["content"])
            #expect(deltas.last?["finish_reason"] == "length")
            func tokens(_ choice: JSONValue) -> [JSONValue] {
                (choice["logprobs"]?["content"]?.arrayValue ?? []).compactMap { $0["token"] }
            }
            let choice = try #require(whole["choices"]?[0])
            #expect(tokens(choice).count == 12)
            #expect(deltas.flatMap(tokens) == tokens(choice))
        }

        @Test func logprobsAreThoseOfTheTokens() async throws {
            let answer = try await server.chat(hello + #", "max_tokens": 6, "logprobs": true, "top_logprobs": 3"#)
            let choice = try #require(answer["choices"]?[0])
            let tokens = try #require(choice["logprobs"]?["content"]?.arrayValue)
            #expect(tokens.count == 6)
            #expect(
                .string(tokens.compactMap { $0["token"]?.stringValue }.joined()) == choice["message"]?["content"])
            for token in tokens {
                let top = try #require(token["top_logprobs"]?.arrayValue)
                let values = top.compactMap { $0["logprob"]?.numberValue?.doubleValue }
                // A greedy choice is the likeliest token.
                #expect(top.count == 3 && top[0]["token"] == token["token"] && top[0]["logprob"] == token["logprob"])
                #expect(values == values.sorted(by: >) && values.allSatisfy { $0 <= 0 })
                #expect(values.reduce(0) { $0 + exp($1) } <= 1.000001)
            }
        }

        @Test func severalAnswersAreNumberedAndFollowTheirSeeds() async throws {
            let parameters = #""messages": [{"role": "user", "content": "A word?"}], "temperature": 1, "max_tokens": 8"#
            let three = try await server.chat(parameters + #", "seed": 7, "n": 3"#)
            let choices = try #require(three["choices"]?.arrayValue)
            #expect(choices.map { $0["index"] } == [0, 1, 2])
            // Answers are computed side by side, which changes the last digits of logits, so single tokens may differ;
            // the first one does not.
            let single = try await server.chat(parameters + #", "seed": 7"#)
            #expect(try await server.chat(parameters + #", "seed": 7"#)["choices"] == single["choices"])
            #expect(Set(choices.compactMap { $0["message"]?["content"]?.stringValue }).count > 1)
        }

        @Test func stopTextsEndTheAnswer() async throws {
            let free = try await server.chat(hello + #", "max_tokens": 20"#)
            let text = try #require(free["choices"]?[0]?["message"]?["content"]?.stringValue)
            let stop = String(text.dropFirst(4).prefix(3))
            let quoted = JSONValue.quoted(stop)
            let stopped = try await server.chat(hello + #", "max_tokens": 20, "stop": [\#(quoted)]"#)
            #expect(stopped["choices"]?[0]?["finish_reason"] == "stop")
            let expected = text.range(of: stop).map { String(text[..<$0.lowerBound]) }
            #expect(stopped["choices"]?[0]?["message"]?["content"]?.stringValue == expected)
        }

        @Test func answersFollowTheSchema() async throws {
            let schema =
                #"{"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer", "minimum": 0, "maximum": 99}}, "required": ["name", "age"]}"#
            for logprobs in ["false", "true"] {
                let answer = try await server.chat(
                    hello
                        + #", "logprobs": \#(logprobs), "response_format": {"type": "json_schema", "json_schema": {"name": "person", "strict": true, "schema": \#(schema)}}"#
                )
                let text = try #require(answer["choices"]?[0]?["message"]?["content"]?.stringValue)
                let value = try JSONValue(parsing: text)
                #expect(value.objectValue?.keys == ["name", "age"])
                #expect((0...99).contains(try #require(value["age"]?.numberValue?.intValue)))
                #expect(answer["choices"]?[0]?["finish_reason"] == "stop")
            }
        }

        @Test func R7_structuredContentComesPieceByPiece() async throws {
            let schema =
                #"{"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "tags": {"type": "array", "items": {"enum": ["red", "green"]}, "minItems": 2, "maxItems": 3}, "age": {"type": "integer", "minimum": 0, "maximum": 99}}, "required": ["name", "tags", "age"], "additionalProperties": false}"#
            let members =
                hello
                + #", "response_format": {"type": "json_schema", "json_schema": {"name": "person", "strict": true, "schema": \#(schema)}}"#
            let whole = try await server.chat(members)
            let stream = try await server.request("/v1/chat/completions", "{\(members), \"stream\": true}")
            let pieces = try events(stream.text).compactMap { $0["choices"]?[0]?["delta"]?["content"]?.stringValue }
            #expect(.string(pieces.joined()) == whole["choices"]?[0]?["message"]?["content"])
            // What has come at any time is the beginning of a value, in which the properties appear one after the other.
            var text = ""
            var counts: [Int] = []
            for piece in pieces where !piece.isEmpty {
                text += piece
                counts.append(try JSONValue.parsePartial(text).value.objectValue?.keys.count ?? 0)
            }
            #expect(counts == counts.sorted() && counts.last == 3)
            #expect(Set(counts).isSuperset(of: [1, 2, 3]), "\(pieces)")
        }

        @Test func C4_theWindowIsToldAndWhatToolsNeedCountsToo() async throws {
            let list = try await JSONValue(parsing: server.request("/v1/models", "", method: "GET").text)
            let window = try #require(list["data"]?[0]?["context_window"]?.numberValue?.intValue)
            #expect(window == 1024)
            // "hello" fits; with the definitions of tools that come along it does not.
            let words = String(repeating: "word ", count: 60)
            let tools = (0..<30).map {
                #"{"type": "function", "function": {"name": "tool\#($0)", "description": "\#(words)", "parameters": {"type": "object", "properties": {}}}}"#
            }
            let plain = #""messages": [{"role": "user", "content": "hello"}], "max_tokens": 2"#
            let asked = plain + ", \"tools\": [\(tools.joined(separator: ","))]"
            _ = try await server.chat(plain)
            for stream in ["false", "true"] {
                let answer = try await server.request("/v1/chat/completions", "{\(asked), \"stream\": \(stream)}")
                #expect(answer.status == 400)
                let error = try JSONValue(parsing: answer.text)["error"]
                #expect(error?["code"] == "context_length_exceeded" && error?["type"] == "invalid_request_error")
                let message = try #require(error?["message"]?.stringValue)
                let numbers = message.matches(of: /\d+/).compactMap { Int($0.output) }
                #expect(numbers.contains(window) && numbers.contains { $0 > 30 * 60 }, "\(message)")
            }
            // Tools that may not be called need no room.
            _ = try await server.chat(asked + #", "tool_choice": "none""#)
        }

        @Test func anyJSONObject() async throws {
            let answer = try await server.chat(
                hello + #", "max_tokens": 60, "response_format": {"type": "json_object"}"#)
            let text = try #require(answer["choices"]?[0]?["message"]?["content"]?.stringValue)
            #expect(text.hasPrefix("{"))
            #expect(try JSONValue.parsePartial(text).value.objectValue != nil)
        }

        // MARK: Tools

        private static let tools =
            #""tools": [{"type": "function", "function": {"name": "get_weather", "description": "Gets the weather of a city.", "parameters": {"type": "object", "properties": {"city": {"type": "string", "maxLength": 20}}, "required": ["city"]}}}, {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {"zone": {"enum": ["UTC", "CET"]}}, "required": ["zone"]}}}]"#

        @Test func aNamedToolIsCalledOnce() async throws {
            let answer = try await server.chat(
                hello + ", \(Self.tools)" + #", "tool_choice": {"type": "function", "function": {"name": "get_time"}}"#)
            let choice = try #require(answer["choices"]?[0])
            #expect(choice["finish_reason"] == "tool_calls" && choice["message"]?["content"] == .null)
            let calls = try #require(choice["message"]?["tool_calls"]?.arrayValue)
            #expect(calls.count == 1 && calls[0]["type"] == "function" && calls[0]["function"]?["name"] == "get_time")
            let arguments = try JSONValue(parsing: #require(calls[0]["function"]?["arguments"]?.stringValue))
            #expect(["UTC", "CET"].contains(arguments["zone"]?.stringValue))
        }

        @Test func aRequiredCallIsMadeAndStreamed() async throws {
            let members =
                #"{"messages": [{"role": "user", "content": "What is the weather in Paris?"}], "temperature": 0, \#(Self.tools), "tool_choice": "required", "parallel_tool_calls": false"#
            let whole = try await JSONValue(parsing: server.request("/v1/chat/completions", members + "}").text)
            let call = try #require(whole["choices"]?[0]?["message"]?["tool_calls"]?[0]?["function"])
            let stream = try await events(server.request("/v1/chat/completions", members + #", "stream": true}"#).text)
            let deltas = stream.compactMap { $0["choices"]?[0]?["delta"]?["tool_calls"]?[0] }
            #expect(deltas.first?["function"]?["name"] == call["name"])
            #expect(deltas.allSatisfy { $0["index"] == 0 })
            #expect(
                deltas.first?["id"]?.stringValue?.isEmpty == false && deltas.dropFirst().allSatisfy { $0["id"] == nil })
            let arguments = deltas.compactMap { $0["function"]?["arguments"]?.stringValue }.joined()
            #expect(.string(arguments) == call["arguments"])
            #expect(stream.last?["choices"]?[0]?["finish_reason"] == "tool_calls")
        }

        @Test func withoutAChoiceOfToolsTheAnswerIsText() async throws {
            let answer = try await server.chat(hello + #", "max_tokens": 4, \#(Self.tools), "tool_choice": "none""#)
            #expect(answer["choices"]?[0]?["message"]?["tool_calls"] == nil)
            #expect(answer["choices"]?[0]?["message"]?["content"]?.stringValue?.isEmpty == false)
        }

        @Test func anAnswerAfterAToolsResult() async throws {
            let messages =
                #""messages": [{"role": "user", "content": "What time is it?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "get_time", "arguments": "{\"zone\": \"UTC\"}"}}]}, {"role": "tool", "tool_call_id": "c1", "content": "12:30"}], "temperature": 0, "max_tokens": 8"#
            let answer = try await server.chat("\(messages), \(Self.tools), \"tool_choice\": \"none\"")
            #expect(answer["choices"]?[0]?["message"]?["content"]?.stringValue?.isEmpty == false)
        }

        // MARK: Other endpoints

        @Test func textCompletions() async throws {
            let answer = try await server.request(
                "/v1/completions",
                #"{"prompt": ["One two", "Red green"], "max_tokens": 3, "temperature": 0, "n": 2, "echo": true}"#)
            let value = try JSONValue(parsing: answer.text)
            let choices = try #require(value["choices"]?.arrayValue)
            #expect(value["object"] == "text_completion" && choices.count == 4)
            #expect(choices.map { $0["text"]?.stringValue?.prefix(3) } == ["One", "One", "Red", "Red"])
            var prompts: [Int] = []
            for text in ["One two", "Red green"] {
                let counted = try await server.request("/tokenize", "{\"content\": \"\(text)\", \"add_special\": true}")
                prompts.append(try #require(try JSONValue(parsing: counted.text)["count"]?.numberValue?.intValue))
            }
            #expect(value["usage"]?["prompt_tokens"] == .number(JSONNumber(prompts.reduce(0, +))))
            #expect(value["usage"]?["completion_tokens"] == 12)
        }

        @Test func theModelAndItsWindow() async throws {
            let list = try await JSONValue(parsing: server.request("/v1/models", "", method: "GET").text)
            #expect(list["data"]?[0]?["id"] == "small" && list["data"]?[0]?["context_window"] == 1024)
            let model = try await JSONValue(parsing: server.request("/v1/models/small", "", method: "GET").text)
            #expect(model == list["data"]?[0])
        }

        @Test func metricsCountTokens() async throws {
            _ = try await server.chat(hello + #", "max_tokens": 5"#)
            let text = try await server.request("/metrics", "", method: "GET").text
            #expect(text.contains("fm_generations_total{ending=\"complete\"} 1\n"))
            #expect(text.contains("fm_completion_tokens_total 5\n"))
            for line in text.split(separator: "\n") where !line.hasPrefix("#") {
                #expect(line.wholeMatch(of: /fm_[a-z_]+(\{[^}]*\})? [0-9.e+-]+/) != nil, "\(line)")
            }
        }

        @Test func aQuotaThatIsUsedUp() async throws {
            let server = try ServedModel.server { $0.allowance = .init(tokensPerDay: 10) }
            let first = try await server.request("/v1/chat/completions", "{\(hello), \"max_tokens\": 5}")
            #expect(first.status == 200 && first.headers["x-ratelimit-remaining-tokens"] == "0")
            let second = try await server.request("/v1/chat/completions", "{\(hello), \"max_tokens\": 5}")
            #expect(second.status == 429 && second.headers["Retry-After"] != nil)
            #expect(second.headers["x-ratelimit-remaining-tokens"] == "0")
            #expect(try JSONValue(parsing: second.text)["error"]?["code"] == "insufficient_quota")
        }

        @Test func aRequestThatTakesTooLongEnds() async throws {
            let server = try ServedModel.server { $0.timeLimit = .milliseconds(300) }
            let answer = try await server.request(
                "/v1/completions", #"{"prompt": "One two three four", "max_tokens": 900, "temperature": 0}"#)
            #expect(answer.status == 504)
            #expect(server.activeCount == 0)
        }
    }
}
