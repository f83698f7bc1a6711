import Synchronization

// Spellings of the first articles about the framework, which programs still use.

extension LanguageModelSession {
    /// Whether the model on this machine can be used.
    @available(*, deprecated, message: "Use SystemLanguageModel.default.isAvailable.")
    public static var isAvailable: Bool { SystemLanguageModel.default.isAvailable }

    /// The tokens of the conversation as the model last saw it: what the last call of the model read and wrote. 0 before the first, and for
    /// models that report no usage. ``SystemLanguageModel/tokenCount(for:)`` counts what has not been sent yet.
    public var transcriptTokenCount: Int {
        registrar.access(self, keyPath: \.usage)
        return state.withLock { $0.lastCallTokenCount }
    }
}

extension LanguageModelSession.ResponseStream.Snapshot where Content == String {
    /// The text so far.
    @available(*, deprecated, renamed: "content")
    public var text: String { content }
}

extension LanguageModelSession.Usage {
    @available(*, deprecated, renamed: "input.totalTokenCount")
    public var promptTokens: Int { input.totalTokenCount }

    @available(*, deprecated, renamed: "output.totalTokenCount")
    public var completionTokens: Int { output.totalTokenCount }

    @available(*, deprecated, renamed: "totalTokenCount")
    public var totalTokens: Int { totalTokenCount }
}

extension LanguageModelSession.Response {
    /// Why a response ended.
    public enum FinishReason: Sendable, Hashable {
        /// The model said all that it had to say.
        case complete
        /// The response was cut at the maximum number of tokens.
        case length
        /// A stop text ended the response. Sessions have none, so this never occurs; it is there to be matched.
        case stop
    }

    /// Why the response ended, as its provider said, or as far as its tokens tell.
    public var finishReason: FinishReason {
        if let reason = usage.finishReason { return reason == "length" ? .length : .complete }
        for case .prompt(let prompt) in transcriptEntries.reversed() {
            guard let maximum = prompt.options.maximumResponseTokens else { continue }
            return usage.output.totalTokenCount >= maximum ? .length : .complete
        }
        return .complete
    }

    /// A property of the content.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Content, Value>) -> Value { content[keyPath: keyPath] }
}

extension GenerationOptions {
    /// Whether the schema is written into the prompt is now said by ``ContextOptions``, or where the request is made.
    @available(*, deprecated, message: "Pass includeSchemaInPrompt to respond or to ContextOptions.")
    public init(
        includeSchemaInPrompt: Bool, samplingMode: SamplingMode? = nil, temperature: Double? = nil,
        maximumResponseTokens: Int? = nil
    ) {
        self.init(samplingMode: samplingMode, temperature: temperature, maximumResponseTokens: maximumResponseTokens)
        earlyIncludeSchemaInPrompt = includeSchemaInPrompt
    }
}
