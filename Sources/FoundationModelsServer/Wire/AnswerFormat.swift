import Inference
import JSON
import Tokenizers

/// How answers are written: as chat completions or as text completions, whole or in chunks.
protocol AnswerFormat: Sendable {
    /// The chunks of one event, each a value of `choices`.
    func chunks(_ event: NumberedEvent, isFirst: Bool) -> [JSONValue]
    /// A whole answer, a value of `choices`.
    func choice(_ number: Int, _ answer: CollectedAnswer) -> JSONValue
    var envelope: Envelope { get }
}

/// What stands around the choices.
struct Envelope: Sendable {
    var id: String
    var object: String
    var chunkObject: String
    var created: Int
    var model: String

    private func object(_ name: String, choices: [JSONValue]) -> JSONObject {
        [
            "id": .string(id), "object": .string(name), "created": .number(JSONNumber(created)),
            "model": .string(model), "choices": .array(choices),
        ]
    }

    func whole(_ choices: [JSONValue], usage: AnswerUsage) -> JSONValue {
        var object = object(self.object, choices: choices)
        object["usage"] = usage.json
        return .object(object)
    }

    /// - Parameter usage: The outer nil leaves the member out; the inner one is null, as in all chunks but the last.
    func chunk(_ choices: [JSONValue], usage: AnswerUsage??) -> JSONValue {
        var object = object(chunkObject, choices: choices)
        if let usage { object["usage"] = usage?.json ?? .null }
        return .object(object)
    }
}

extension AnswerUsage {
    var json: JSONValue {
        func number(_ value: Int) -> JSONValue { .number(JSONNumber(value)) }
        return [
            "prompt_tokens": number(prompt), "completion_tokens": number(completion),
            "total_tokens": number(prompt + completion),
            "prompt_tokens_details": ["cached_tokens": number(cached)],
            "completion_tokens_details": ["reasoning_tokens": number(reasoning)],
        ]
    }
}

/// An answer that has come to its end.
struct CollectedAnswer: Sendable {
    struct Call: Sendable {
        var id: String
        var name: String
        var arguments: String
    }

    var text = ""
    var thoughts = ""
    var logprobs: [TokenLogprobs] = []
    var calls: [Call] = []
    var reason = AnswerEnd.Reason.stop

    mutating func append(_ event: AnswerEvent) {
        switch event {
        case .text(let text, let logprobs):
            self.text += text
            self.logprobs += logprobs
        case .thought(let text): thoughts += text
        case .toolCall(let id, let name): calls.append(Call(id: id, name: name, arguments: ""))
        case .toolArguments(let text): if !calls.isEmpty { calls[calls.count - 1].arguments += text }
        case .finished(let end): reason = end.reason
        case .failed: break
        }
    }
}

struct ChatFormat: AnswerFormat {
    let envelope: Envelope
    let tokenizer: Tokenizer
    let hasLogprobs: Bool
    /// The calls of each answer that have begun, for the index that a chunk names.
    private let callCounts = CallCounts()

    init(envelope: Envelope, tokenizer: Tokenizer, hasLogprobs: Bool) {
        self.envelope = envelope
        self.tokenizer = tokenizer
        self.hasLogprobs = hasLogprobs
    }

    func chunks(_ event: NumberedEvent, isFirst: Bool) -> [JSONValue] {
        var chunks: [JSONValue] = []
        func append(_ delta: JSONValue, logprobs: JSONValue = .null, reason: AnswerEnd.Reason? = nil) {
            chunks.append([
                "index": .number(JSONNumber(event.answer)), "delta": delta, "logprobs": logprobs,
                "finish_reason": reason.map { .string($0.rawValue) } ?? .null,
            ])
        }
        if isFirst {
            let hasContent: Bool =
                switch event.event {
                case .toolCall, .thought: false
                default: true
                }
            append(["role": "assistant", "content": hasContent ? "" : .null])
        }
        switch event.event {
        case .text(let text, let logprobs):
            append(["content": .string(text)], logprobs: hasLogprobs ? json(logprobs) : .null)
        case .thought(let text): append(["reasoning_content": .string(text)])
        case .toolCall(let id, let name):
            append([
                "tool_calls": [
                    [
                        "index": .number(JSONNumber(callCounts.begin(event.answer))), "id": .string(id),
                        "type": "function", "function": ["name": .string(name), "arguments": ""],
                    ]
                ]
            ])
        case .toolArguments(let text):
            append([
                "tool_calls": [
                    [
                        "index": .number(JSONNumber(callCounts.current(event.answer))),
                        "function": ["arguments": .string(text)],
                    ]
                ]
            ])
        case .finished(let end): append([:], reason: end.reason)
        case .failed: break
        }
        return chunks
    }

    func choice(_ number: Int, _ answer: CollectedAnswer) -> JSONValue {
        var message: JSONObject = [
            "role": "assistant", "content": answer.calls.isEmpty ? .string(answer.text) : .null, "refusal": .null,
        ]
        // The field's name with DeepSeek, llama.cpp and vLLM; OpenAI's own servers keep thoughts to themselves.
        if !answer.thoughts.isEmpty { message["reasoning_content"] = .string(answer.thoughts) }
        if !answer.calls.isEmpty {
            message["tool_calls"] = .array(
                answer.calls.map { call in
                    [
                        "id": .string(call.id), "type": "function",
                        "function": ["name": .string(call.name), "arguments": .string(call.arguments)],
                    ]
                })
        }
        return [
            "index": .number(JSONNumber(number)), "message": .object(message),
            "logprobs": hasLogprobs && answer.calls.isEmpty ? json(answer.logprobs) : .null,
            "finish_reason": .string(answer.reason.rawValue),
        ]
    }

    private func json(_ logprobs: [TokenLogprobs]) -> JSONValue {
        func object(_ candidate: TokenLogprobs.Candidate) -> JSONObject {
            let bytes = tokenizer.bytes(of: candidate.token)
            return [
                "token": .string(String(decoding: bytes, as: UTF8.self)),
                "logprob": .logprob(candidate.logprob),
                "bytes": .array(bytes.map { .number(JSONNumber(Int($0))) }),
            ]
        }
        return [
            "content": .array(
                logprobs.map { token in
                    var entry = object(token.chosen)
                    entry["top_logprobs"] = .array(token.top.map { .object(object($0)) })
                    return .object(entry)
                }),
            "refusal": .null,
        ]
    }
}

extension JSONValue {
    /// A probability's logarithm. JSON has no infinity: what cannot be is as good as impossible.
    static func logprob(_ value: Double) -> JSONValue { JSONNumber(value).map(JSONValue.number) ?? -9999 }
}

struct CompletionFormat: AnswerFormat {
    let envelope: Envelope
    let tokenizer: Tokenizer
    let hasLogprobs: Bool
    /// What each answer begins with.
    let echoes: [String]

    func chunks(_ event: NumberedEvent, isFirst: Bool) -> [JSONValue] {
        var chunks: [JSONValue] = []
        func append(_ text: String, logprobs: [TokenLogprobs]? = nil, reason: AnswerEnd.Reason? = nil) {
            chunks.append([
                "index": .number(JSONNumber(event.answer)), "text": .string(text),
                "logprobs": logprobs.map(json) ?? .null,
                "finish_reason": reason.map { .string($0.rawValue) } ?? .null,
            ])
        }
        if isFirst, !echoes[event.answer].isEmpty { append(echoes[event.answer]) }
        switch event.event {
        case .text(let text, let logprobs): append(text, logprobs: hasLogprobs ? logprobs : nil)
        case .finished(let end): append("", reason: end.reason)
        case .thought, .toolCall, .toolArguments, .failed: break
        }
        return chunks
    }

    func choice(_ number: Int, _ answer: CollectedAnswer) -> JSONValue {
        [
            "index": .number(JSONNumber(number)), "text": .string(echoes[number] + answer.text),
            "logprobs": hasLogprobs ? json(answer.logprobs) : .null,
            "finish_reason": .string(answer.reason.rawValue),
        ]
    }

    private func json(_ logprobs: [TokenLogprobs]) -> JSONValue {
        func text(_ token: TokenID) -> String { String(decoding: tokenizer.bytes(of: token), as: UTF8.self) }
        var offset = 0
        var offsets: [JSONValue] = []
        for token in logprobs {
            offsets.append(.number(JSONNumber(offset)))
            offset += text(token.chosen.token).unicodeScalars.count
        }
        return [
            "tokens": .array(logprobs.map { .string(text($0.chosen.token)) }),
            "token_logprobs": .array(logprobs.map { .logprob($0.chosen.logprob) }),
            "top_logprobs": .array(
                logprobs.map { token in
                    .object(JSONObject(token.top.map { (text($0.token), .logprob($0.logprob)) }))
                }),
            "text_offset": .array(offsets),
        ]
    }
}
