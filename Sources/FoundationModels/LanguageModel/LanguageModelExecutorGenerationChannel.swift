/// The way from an executor to the session: a queue of events, in the order in which they were sent.
public struct LanguageModelExecutorGenerationChannel: AsyncSequence, Sendable {
    public typealias Element = Event

    private let stream: AsyncThrowingStream<Event, any Error>
    private let continuation: AsyncThrowingStream<Event, any Error>.Continuation

    public init() {
        (stream, continuation) = AsyncThrowingStream.makeStream()
    }

    /// Sends an event. Events sent after the turn has ended are dropped.
    public nonisolated(nonsending) func send(_ event: Event) async {
        continuation.yield(event)
    }

    /// Ends the sequence once the events sent so far have been taken.
    package func finish(throwing error: (any Error)? = nil) {
        continuation.finish(throwing: error)
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: stream.makeAsyncIterator())
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        public typealias Element = Event

        var base: AsyncThrowingStream<Event, any Error>.AsyncIterator

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Event? {
            try await base.next(isolation: actor)
        }
    }
}
