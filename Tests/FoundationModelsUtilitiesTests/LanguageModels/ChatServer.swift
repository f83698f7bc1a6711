import Foundation
import FoundationModelsUtilities
import JSON
import TestSupport

/// Answers of a Chat Completions server, for `FaultServer`.
enum ChatServer {
    typealias Step = FaultServer.Step

    static let head = FaultServer.head("200 OK", ["Content-Type": "text/event-stream"])
    static let done = event("[DONE]")

    static func event(_ data: String) -> Step { .send(Array("data: \(data)\n\n".utf8)) }

    static func chunk(_ delta: JSONValue, finish: String? = nil) -> Step {
        event(
            JSONValue.object([
                "id": "1", "model": "m",
                "choices": [["index": 0, "delta": delta, "finish_reason": finish.map(JSONValue.string) ?? .null]],
            ]).text())
    }

    static func text(_ text: String) -> Step { chunk(["content": .string(text)]) }

    static func finish(_ reason: String = "stop") -> Step { chunk([:], finish: reason) }

    static let usage = event(
        #"{"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 7, "#
            + #""prompt_tokens_details": {"cached_tokens": 5}, "completion_tokens_details": {"reasoning_tokens": 3}}}"#)

    /// A whole answer of some texts.
    static func answer(_ texts: String...) -> [Step] {
        [head] + texts.map(text) + [finish(), usage, done]
    }

    static func call(_ name: String, id: String? = "call-1", index: Int = 0, _ arguments: [String]) -> [Step] {
        var function: JSONObject = ["name": .string(name), "arguments": ""]
        var steps: [Step] = []
        for (position, piece) in arguments.enumerated() {
            function["arguments"] = .string(piece)
            if position > 0 { function["name"] = nil }
            var call: JSONObject = ["index": .number(JSONNumber(index)), "function": .object(function)]
            if position == 0, let id { call["id"] = .string(id) }
            steps.append(chunk(["tool_calls": [.object(call)]]))
        }
        return steps
    }

    static func status(_ line: String, _ body: String, _ fields: [String: String] = [:]) -> [Step] {
        [FaultServer.head(line, fields), .send(Array(body.utf8))]
    }
}

extension FaultServer {
    /// A model of this server.
    func model(
        supportsGuidedGeneration: Bool = true, headers: [String: String] = [:]
    ) -> ChatCompletionsLanguageModel {
        ChatCompletionsLanguageModel(
            name: "m", url: URL(string: "http://127.0.0.1:\(port)")!, additionalHeaders: headers,
            supportsGuidedGeneration: supportsGuidedGeneration)
    }
}

extension FaultServer.Request {
    var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
}
