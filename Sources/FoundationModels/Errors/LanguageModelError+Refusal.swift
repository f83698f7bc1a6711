extension LanguageModelError {
    /// The model declined to answer.
    public struct Refusal: Sendable {
        public var debugDescription: String
        public var metadata: [String: any Sendable]
        let explanationText: String

        public init(explanation: String, debugDescription: String, metadata: [String: any Sendable] = [:]) {
            explanationText = explanation
            self.debugDescription = debugDescription
            self.metadata = metadata
        }

        /// Why the model declined, in its own words.
        public nonisolated(nonsending) var explanation: LanguageModelSession.Response<String> {
            get async throws { try await explanationStream.collect() }
        }

        /// Why the model declined, in its own words, as a stream.
        public var explanationStream: LanguageModelSession.ResponseStream<String> {
            .finished(text: explanationText)
        }
    }
}
