extension LanguageModelSession {
    /// The tokens of a request, or of a session's requests together.
    public struct Usage: Sendable {
        public var input: Input
        public var output: Output
        /// What the provider said about the usage.
        public var metadata: [String: GeneratedContent]

        public init(input: Input, output: Output, metadata: [String: any ConvertibleToGeneratedContent] = [:]) {
            self.input = input
            self.output = output
            self.metadata = metadata.mapValues(\.generatedContent)
        }

        public struct Input: Sendable {
            public var totalTokenCount: Int
            /// How many of them were known from before and not computed anew.
            public var cachedTokenCount: Int

            public init(totalTokenCount: Int, cachedTokenCount: Int) {
                self.totalTokenCount = totalTokenCount
                self.cachedTokenCount = cachedTokenCount
            }
        }

        public struct Output: Sendable {
            public var totalTokenCount: Int
            /// How many of them were thoughts.
            public var reasoningTokenCount: Int

            public init(totalTokenCount: Int, reasoningTokenCount: Int) {
                self.totalTokenCount = totalTokenCount
                self.reasoningTokenCount = reasoningTokenCount
            }
        }

        /// The tokens read and the tokens written.
        public var totalTokenCount: Int { input.totalTokenCount &+ output.totalTokenCount }
    }
}

extension LanguageModelSession.Usage {
    /// Where the metadata says why a response ended, in the words of Chat Completions: `stop`, `length`.
    package static let finishReasonKey = "finish_reason"

    /// Why the response ended, when its provider said so.
    package var finishReason: String? { try? metadata[Self.finishReasonKey]?.value(String.self) }

    static var zero: Self {
        Self(
            input: Input(totalTokenCount: 0, cachedTokenCount: 0),
            output: Output(totalTokenCount: 0, reasoningTokenCount: 0))
    }

    /// The sum of two usages. The counts are a provider's word: they may be wrong and must not trap.
    func adding(_ other: Self) -> Self {
        Self(
            input: Input(
                totalTokenCount: input.totalTokenCount &+ other.input.totalTokenCount,
                cachedTokenCount: input.cachedTokenCount &+ other.input.cachedTokenCount),
            output: Output(
                totalTokenCount: output.totalTokenCount &+ other.output.totalTokenCount,
                reasoningTokenCount: output.reasoningTokenCount &+ other.output.reasoningTokenCount),
            metadata: metadata.merging(other.metadata) { _, new in new })
    }
}
