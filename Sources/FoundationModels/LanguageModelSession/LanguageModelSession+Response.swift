extension LanguageModelSession {
    /// An answer.
    @dynamicMemberLookup
    public struct Response<Content> where Content: Generable {
        /// The answer as the type that was asked for.
        public let content: Content
        /// The answer as the model gave it.
        public let rawContent: GeneratedContent
        /// What the request added to the transcript, its prompt included.
        public let transcriptEntries: ArraySlice<Transcript.Entry>
        /// The tokens of this request.
        public let usage: Usage
    }
}

extension LanguageModelSession.Response: Sendable where Content: Sendable {}
