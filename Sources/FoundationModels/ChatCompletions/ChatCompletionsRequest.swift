import Foundation
import JSON

extension LanguageModelExecutorGenerationRequest {
    /// The request as the body of a Chat Completions request.
    ///
    /// Beside what the protocol has, `top_k` is sent, which most servers of open models understand and others refuse.
    ///
    /// - Throws: `LanguageModelError.unsupportedTranscriptContent` for an image that cannot be read.
    package func chatCompletionsBody(for endpoint: ChatCompletionsEndpoint) throws -> JSONValue {
        var body: JSONObject = ["model": .string(endpoint.modelName)]
        body["messages"] = .array(try transcript.chatCompletionsMessages())
        switch generationOptions.samplingMode?.kind {
        case .greedy?: body["temperature"] = 0
        case .randomTopK(let count, let seed)?:
            body["top_k"] = .number(JSONNumber(count))
            body["seed"] = seed.map { .number(JSONNumber(Int(truncatingIfNeeded: $0 & UInt64(Int64.max)))) }
        case .randomProbabilityThreshold(let threshold, let seed)?:
            body["top_p"] = JSONNumber(threshold).map(JSONValue.number)
            body["seed"] = seed.map { .number(JSONNumber(Int(truncatingIfNeeded: $0 & UInt64(Int64.max)))) }
        case nil: break
        }
        if body["temperature"] == nil {
            body["temperature"] = generationOptions.temperature.flatMap { JSONNumber($0) }.map(JSONValue.number)
        }
        if let limit = generationOptions.maximumResponseTokens {
            body["max_completion_tokens"] = .number(JSONNumber(limit))
            // The older name is the only one that many servers know, and one that the newest ones refuse beside the other.
            let host = endpoint.baseURL.host?.lowercased() ?? ""
            if !host.hasSuffix("openai.com"), !host.hasSuffix("openai.azure.com") {
                body["max_tokens"] = .number(JSONNumber(limit))
            }
        }
        body["reasoning_effort"] = contextOptions.reasoningLevel.map { .string($0.chatCompletionsEffort) }
        if !enabledToolDefinitions.isEmpty {
            body["tools"] = .array(enabledToolDefinitions.map(\.chatCompletionsTool))
            body["tool_choice"] = toolChoice
        }
        if let schema {
            body["response_format"] = [
                "type": "json_schema",
                "json_schema": [
                    "name": .string(schema.chatCompletionsName), "schema": schema.publishedSchema, "strict": true,
                ],
            ]
        }
        body["stream"] = true
        body["stream_options"] = ["include_usage": true]
        return .object(body)
    }

    /// Which tool the model is to call. One that has to be called is named where there is no other: some servers know no
    /// `required`.
    private var toolChoice: JSONValue {
        guard generationOptions.toolCallingMode?.kind == .required else { return "auto" }
        guard enabledToolDefinitions.count == 1 else { return "required" }
        return ["type": "function", "function": ["name": .string(enabledToolDefinitions[0].name)]]
    }
}

extension ContextOptions.ReasoningLevel {
    /// The protocol's word for the level.
    fileprivate var chatCompletionsEffort: String {
        switch self {
        case .light: "low"
        case .moderate: "medium"
        case .deep: "high"
        case .custom(let name): name
        }
    }
}

extension GenerationSchema {
    /// The name as the protocol allows it: letters, digits, `_` and `-`, 64 at most.
    fileprivate var chatCompletionsName: String {
        let allowed = name.unicodeScalars.map { scalar -> Character in
            let isAllowed = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            return isAllowed || scalar == "_" || scalar == "-" ? Character(scalar) : "_"
        }
        return allowed.isEmpty ? "schema" : String(allowed.prefix(64))
    }
}

extension Transcript.ToolDefinition {
    fileprivate var chatCompletionsTool: JSONValue {
        [
            "type": "function",
            "function": [
                "name": .string(name), "description": .string(description),
                "parameters": parameters.publishedSchema,
            ],
        ]
    }
}
