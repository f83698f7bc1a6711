import Synchronization

/// A request on its way from the task that made it to the engine's thread, and its events on the way back.
final class GenerationJob: Sendable {
    let request: GenerationRequest
    private let continuation: AsyncThrowingStream<GenerationEvent, any Error>.Continuation
    private let cancelled = Atomic<Bool>(false)
    /// Keeps the engine until the request is done.
    private let engine: Mutex<Engine?>

    init(
        _ request: GenerationRequest, _ continuation: AsyncThrowingStream<GenerationEvent, any Error>.Continuation,
        engine: Engine
    ) {
        self.request = request
        self.continuation = continuation
        self.engine = Mutex(engine)
    }

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    func cancel() { cancelled.store(true, ordering: .relaxed) }

    func send(_ event: GenerationEvent) { continuation.yield(event) }

    func finish(throwing error: (any Error)? = nil) {
        continuation.finish(throwing: error)
        engine.withLock { $0 = nil }
    }
}
