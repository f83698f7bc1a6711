import JSON

/// One piece of an answer, as a server streams it, or a whole answer of a server that does not stream.
package struct ChatCompletionsChunk: Hashable, Sendable {
    package var text: String?
    package var reasoning: String?
    package var refusal: String?
    package var toolCalls: [ToolCall] = []
    package var finishReason: String?
    package var usage: Usage?

    /// A piece of a tool call. The first one of a call has its identifier and name.
    package struct ToolCall: Hashable, Sendable {
        package var index: Int
        package var id: String?
        package var name: String?
        package var arguments: String?
    }

    package struct Usage: Hashable, Sendable {
        package var promptTokens: Int
        package var cachedTokens: Int
        package var completionTokens: Int
        package var reasoningTokens: Int
    }

    /// - Throws: When the value has another form, or is an error that the server reports.
    init(_ value: JSONValue) throws(ChatCompletionsFailure) {
        guard case .object(let object) = value else { throw .malformed("a chunk is a \(value.kind)") }
        if let report = ChatCompletionsFailure.Report(value) { throw .reported(report) }
        usage = object["usage"].flatMap(Usage.init)
        // The last chunk may have usage alone.
        guard case .array(let choices)? = object["choices"] else {
            guard object["choices"] == nil, usage != nil else { throw .malformed("a chunk has no choices") }
            return
        }
        guard let choice = choices.first else { return }
        finishReason = choice["finish_reason"]?.stringValue
        guard case .object(let delta)? = choice["delta"] ?? choice["message"] else { return }
        text = delta["content"].flatMap(Self.text)
        reasoning = delta["reasoning_content"]?.stringValue ?? delta["reasoning"]?.stringValue
        refusal = delta["refusal"]?.stringValue
        guard case .array(let calls)? = delta["tool_calls"] else { return }
        for (position, call) in calls.enumerated() {
            guard case .object(let call) = call else { throw .malformed("a tool call is no object") }
            let arguments = call["function"]?["arguments"]
            toolCalls.append(
                ToolCall(
                    index: call["index"]?.numberValue?.intValue ?? position, id: call["id"]?.stringValue,
                    name: call["function"]?["name"]?.stringValue,
                    // Some servers send the arguments themselves instead of their text.
                    arguments: arguments?.stringValue ?? (arguments?.objectValue != nil ? arguments?.text() : nil)))
        }
    }

    /// The text of a content that is a text or a list of parts.
    private static func text(_ content: JSONValue) -> String? {
        if let parts = content.arrayValue { return parts.compactMap { $0["text"]?.stringValue }.joined() }
        return content.stringValue
    }
}

extension ChatCompletionsChunk.Usage {
    fileprivate init?(_ value: JSONValue) {
        guard case .object(let object) = value else { return nil }
        func count(_ value: JSONValue?) -> Int { max(0, value?.numberValue?.intValue ?? 0) }
        promptTokens = count(object["prompt_tokens"])
        completionTokens = count(object["completion_tokens"])
        cachedTokens = min(promptTokens, count(object["prompt_tokens_details"]?["cached_tokens"]))
        reasoningTokens = min(completionTokens, count(object["completion_tokens_details"]?["reasoning_tokens"]))
    }
}
