import Foundation
import Synchronization

/// What stands between the task that answers a request and those who wait for the answer.
///
/// Snapshots are cumulative, so a reader who falls far behind loses nothing when older ones are dropped: at most
/// ``pendingLimit`` wait, beyond that the newest takes the place of the one before it.
final class ResponseBuffer: Sendable {
    /// The answer so far, not yet of the type that was asked for.
    struct Snapshot: Sendable {
        /// What the model wrote: text, or the JSON text of structured content.
        var text: String
        var transcriptEntries: ArraySlice<Transcript.Entry>
        var usage: LanguageModelSession.Usage
    }

    static let pendingLimit = 256

    private struct State {
        var pending: [Snapshot] = []
        var outcome: Result<Snapshot, any Error>?
        var waiters: [CheckedContinuation<Void, Never>] = []
        var isCollecting = false
        var interruption: (any Error)?
        var isAbandoned = false
        var task: Task<Void, Never>?

        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters = [] }
            return waiters
        }
    }

    /// Identifies the content of the response, the same in each snapshot.
    let generationID = GenerationID()
    /// Whether the text is the JSON text of structured content.
    let isStructured: Bool

    private let state = Mutex(State())

    init(isStructured: Bool) { self.isStructured = isStructured }

    // MARK: The writing side

    func attach(_ task: Task<Void, Never>) {
        let isStopped = state.withLock { state in
            state.task = task
            return state.interruption != nil || state.isAbandoned
        }
        if isStopped { task.cancel() }
    }

    /// Whether a snapshot would be read by anyone.
    var wantsSnapshots: Bool { state.withLock { !$0.isCollecting && !$0.isAbandoned } }

    func publish(_ snapshot: Snapshot) {
        let waiters = state.withLock { state in
            if state.pending.count == Self.pendingLimit { state.pending.removeLast() }
            state.pending.append(snapshot)
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    func finish(_ outcome: Result<Snapshot, any Error>) {
        let waiters = state.withLock { state in
            if state.outcome == nil { state.outcome = outcome }
            state.task = nil
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    // MARK: The reading side

    /// The next snapshot; nil after the last. Throws what the request failed with.
    func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Snapshot? {
        while true {
            let step: Result<Snapshot?, any Error>? = state.withLock { state in
                if !state.pending.isEmpty { return .success(state.pending.removeFirst()) }
                return state.outcome.map { outcome in outcome.map { _ in nil } }
            }
            if let step { return try step.get() }
            await wait()
        }
    }

    /// The whole answer.
    func collect(isolation actor: isolated (any Actor)? = #isolation) async throws -> Snapshot {
        state.withLock { state in
            state.isCollecting = true
            state.pending = []
        }
        while true {
            if let outcome = state.withLock({ $0.outcome }) { return try outcome.get() }
            await wait()
        }
    }

    /// Waits until something changed. When the waiting task is cancelled, so is the request.
    private func wait(isolation actor: isolated (any Actor)? = #isolation) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if !state.pending.isEmpty || state.outcome != nil { return true }
                    state.waiters.append(continuation)
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.task }?.cancel()
        }
    }

    // MARK: Stopping

    /// Ends the request with an error of the session's own.
    func interrupt(with error: any Error) {
        let task = state.withLock { state in
            state.interruption = state.interruption ?? error
            return state.task
        }
        task?.cancel()
    }

    var isInterrupted: Bool { state.withLock { $0.interruption != nil } }
    var interruption: (any Error)? { state.withLock { $0.interruption } }

    /// Nobody waits for the answer any more.
    func abandon() {
        let task = state.withLock { state in
            state.isAbandoned = true
            state.pending = []
            return state.task
        }
        task?.cancel()
    }

    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }
}

/// Held by a stream and its iterators: when the last of them goes, nobody waits any more.
final class ResponseReader: Sendable {
    let buffer: ResponseBuffer

    init(_ buffer: ResponseBuffer) { self.buffer = buffer }

    deinit { buffer.abandon() }
}
