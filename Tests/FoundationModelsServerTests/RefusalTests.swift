import FoundationModelsServer
import JSON
import Testing

/// Requests that are refused, each with the field that is wrong.
@Suite struct RefusalTests {
    static let hello = #""messages": [{"role": "user", "content": "Hello"}]"#
    static let tool = #""tools": [{"type": "function", "function": {"name": "look"}}]"#

    @Test(arguments: [
        (#""messages": 3"#, "messages", "invalid_type"),
        (#""messages": []"#, "messages", "invalid_value"),
        (#""messages": [{"content": "x"}]"#, "messages[0].role", "missing_required_parameter"),
        (#""messages": [{"role": "boss", "content": "x"}]"#, "messages[0].role", "invalid_value"),
        (#""messages": [{"role": "user"}]"#, "messages[0].content", "missing_required_parameter"),
        (#""messages": [{"role": "user", "content": "x", "mood": 1}]"#, "messages[0].mood", "unknown_parameter"),
        (
            #""messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}]"#,
            "messages[0].content[0].type", "unsupported_value"
        ),
        (
            #""messages": [{"role": "tool", "content": "x", "tool_call_id": "no"}]"#, "messages[0].tool_call_id",
            "invalid_value"
        ),
        (hello + #", "temprature": 1"#, "temprature", "unknown_parameter"),
        (hello + #", "temperature": 3"#, "temperature", "invalid_value"),
        (hello + #", "temperature": "warm""#, "temperature", "invalid_type"),
        (hello + #", "top_p": -1"#, "top_p", "invalid_value"),
        (hello + #", "top_p": 0.5, "top_k": 3"#, "top_k", "unsupported_value"),
        (hello + #", "n": 0"#, "n", "invalid_value"),
        (hello + #", "n": 1000000"#, "n", "invalid_value"),
        (hello + #", "n": 1e99"#, "n", "invalid_value"),
        (hello + #", "max_tokens": 0"#, "max_tokens", "invalid_value"),
        (hello + #", "max_tokens": 2, "max_completion_tokens": 3"#, "max_tokens", "invalid_value"),
        (hello + #", "frequency_penalty": 0.5"#, "frequency_penalty", "unsupported_parameter"),
        (hello + #", "logit_bias": {"5": 1}"#, "logit_bias", "unsupported_parameter"),
        (hello + #", "top_logprobs": 2"#, "top_logprobs", "invalid_value"),
        (hello + #", "logprobs": true, "top_logprobs": 21"#, "top_logprobs", "invalid_value"),
        (hello + #", "stop": [""]"#, "stop[0]", "invalid_value"),
        (hello + #", "stream_options": {}"#, "stream_options", "invalid_value"),
        (hello + #", "modalities": ["audio"]"#, "modalities", "unsupported_parameter"),
        (hello + #", "functions": [{}]"#, "functions", "unsupported_parameter"),
        (hello + #", "tool_choice": "required""#, "tool_choice", "invalid_value"),
        (hello + #", "response_format": {"type": "xml"}"#, "response_format.type", "unsupported_value"),
        (
            hello + #", "response_format": {"type": "json_schema", "json_schema": {"name": "x"}}"#,
            "response_format.json_schema.schema", "missing_required_parameter"
        ),
        (
            hello
                + #", "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "strin"}}}"#,
            "response_format.json_schema.schema", "unsupported_schema"
        ),
        (hello + ", " + tool + #", "tool_choice": "perhaps""#, "tool_choice", "invalid_value"),
        (
            hello + ", " + tool + #", "tool_choice": {"type": "function", "function": {"name": "find"}}"#,
            "tool_choice.function.name", "invalid_value"
        ),
        (
            hello + #", "tools": [{"type": "function", "function": {"name": "a b"}}]"#, "tools[0].function.name",
            "invalid_value"
        ),
        (hello + #", "tools": [{"type": "web_search"}]"#, "tools[0].type", "unsupported_value"),
    ])
    func chatFields(members: String, parameter: String, code: String) async throws {
        let answer = try await ServedModel.server().request("/v1/chat/completions", "{\(members)}")
        let error = try JSONValue(parsing: answer.text)["error"]
        #expect(answer.status == 400)
        #expect(error?["param"]?.stringValue == parameter, "\(answer.text)")
        #expect(error?["code"]?.stringValue == code, "\(answer.text)")
        #expect(error?["type"] == "invalid_request_error")
    }

    @Test(arguments: [
        (#""prompt": {}"#, "prompt"), (#""prompt": []"#, "prompt"), (#""prompt": [1, "a"]"#, "prompt[1]"),
        (#""prompt": [99999999]"#, "prompt"), (#""prompt": "a", "suffix": "b""#, "suffix"),
        (#""prompt": "a", "best_of": 3"#, "best_of"), (#""prompt": "a", "echo": true, "logprobs": 1"#, "echo"),
        (#""prompt": ["a", "b", "c"], "n": 9"#, "prompt"), (#""prompt": "a", "messages": []"#, "messages"),
    ])
    func completionFields(members: String, parameter: String) async throws {
        let answer = try await ServedModel.server().request("/v1/completions", "{\(members)}")
        #expect(answer.status == 400)
        #expect(try JSONValue(parsing: answer.text)["error"]?["param"]?.stringValue == parameter, "\(answer.text)")
    }

    @Test(arguments: [
        ("POST", "/v1/chat/completions", "", 400), ("POST", "/v1/chat/completions", "{", 400),
        ("POST", "/v1/chat/completions", "[]", 400), ("GET", "/v1/chat/completions", "", 405),
        ("POST", "/v1/models", "{}", 405), ("GET", "/v1/nothing", "", 404), ("GET", "/v1/models/other", "", 404),
        ("POST", "/v1/embeddings", "{}", 400), ("BREW", "/", "", 405),
        ("POST", "/v1/chat/completions", "{\(hello), \"model\": \"gpt-4\"}", 404),
    ])
    func statuses(method: String, path: String, body: String, status: Int) async throws {
        let answer = try await ServedModel.server().request(path, body, method: method)
        #expect(answer.status == status)
        #expect(try JSONValue(parsing: answer.text)["error"]?["message"]?.stringValue?.isEmpty == false)
    }

    @Test func aPromptThatDoesNotFitIsRefusedBeforeAnythingIsComputed() async throws {
        let text = String(repeating: "word ", count: 2000)
        for stream in ["false", "true"] {
            let answer = try await ServedModel.server().request(
                "/v1/chat/completions",
                #"{"messages": [{"role": "user", "content": "\#(text)"}], "stream": \#(stream)}"#)
            #expect(answer.status == 400)
            #expect(try JSONValue(parsing: answer.text)["error"]?["code"] == "context_length_exceeded")
        }
    }

    @Test func bodiesMustBeJSON() async throws {
        let answer = try await ServedModel.server().request(
            "/v1/chat/completions", "{}", headers: ["content-type": ["text/plain"]])
        #expect(answer.status == 415)
    }
}
