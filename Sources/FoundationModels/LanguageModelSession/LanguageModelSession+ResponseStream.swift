extension LanguageModelSession {
    /// An answer while it is made.
    ///
    /// The request begins when the stream is made. When the stream and all its iterators are gone the request is cancelled;
    /// the transcript keeps the prompt and what has come of the answer.
    public struct ResponseStream<Content> where Content: Generable {
        private let reader: ResponseReader

        init(_ reader: ResponseReader) { self.reader = reader }
    }
}

extension LanguageModelSession.ResponseStream {
    /// The answer as far as it has come: each snapshot holds all that the one before it held.
    public struct Snapshot {
        public var content: Content.PartiallyGenerated
        public var rawContent: GeneratedContent
        /// What the request has added to the transcript so far.
        public var transcriptEntries: ArraySlice<Transcript.Entry>
        /// The tokens of the request so far.
        public var usage: LanguageModelSession.Usage
    }
}

extension LanguageModelSession.ResponseStream.Snapshot: Sendable where Content.PartiallyGenerated: Sendable {}

extension LanguageModelSession.ResponseStream: AsyncSequence {
    public typealias Element = Snapshot

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader) }

    /// The whole answer, once it is there; also after snapshots were read.
    public nonisolated(nonsending) func collect() async throws -> sending LanguageModelSession.Response<Content> {
        let last = try await reader.buffer.collect()
        let rawContent = try reader.buffer.content(of: last.text)
        return LanguageModelSession.Response(
            content: try Content(rawContent), rawContent: rawContent, transcriptEntries: last.transcriptEntries,
            usage: last.usage)
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        public typealias Element = Snapshot

        let reader: ResponseReader

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Snapshot? {
            while let snapshot = try await reader.buffer.next(isolation: actor) {
                // What has come may not show yet what it will be: then there is nothing to show either.
                if let typed = typed(snapshot) { return typed }
            }
            return nil
        }

        private func typed(_ snapshot: ResponseBuffer.Snapshot) -> Snapshot? {
            do {
                let rawContent = try reader.buffer.content(of: snapshot.text)
                return Snapshot(
                    content: try Content.PartiallyGenerated(rawContent), rawContent: rawContent,
                    transcriptEntries: snapshot.transcriptEntries, usage: snapshot.usage)
            } catch {
                return nil
            }
        }
    }
}

extension LanguageModelSession.ResponseStream where Content == String {
    /// A stream that has ended before it is read.
    static func finished(text: String) -> LanguageModelSession.ResponseStream<String> {
        let buffer = ResponseBuffer(isStructured: false)
        let entry = Transcript.Entry.response(
            Transcript.Response(metadata: [:], segments: [.text(Transcript.TextSegment(content: text))]))
        let snapshot = ResponseBuffer.Snapshot(text: text, transcriptEntries: [entry], usage: .zero)
        buffer.publish(snapshot)
        buffer.finish(.success(snapshot))
        return LanguageModelSession.ResponseStream(ResponseReader(buffer))
    }
}

extension ResponseBuffer {
    /// The content that a text of the model stands for.
    func content(of text: String) throws -> GeneratedContent {
        guard isStructured else { return GeneratedContent(text) }
        return try GeneratedContent(json: text, id: generationID)
    }
}
