import Synchronization

/// Waits for work that may not hear of its cancellation. When the waiting task is cancelled the work is too, and the wait ends at
/// once with a `CancellationError`, whether the work ends or not.
@concurrent
func abandonable<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    try await abandonable([work])[0]
}

/// Does several pieces of work at the same time and waits for them as ``abandonable(_:)`` does for one. The first that throws ends the wait
/// and cancels the others.
@concurrent
func abandonable<Value: Sendable>(
    _ works: [@Sendable () async throws -> Value]
) async throws -> [Value] {
    guard !works.isEmpty else { return [] }
    let gathering = Gathering<Value>(count: works.count)
    let tasks = works.enumerated().map { index, work in
        Task {
            do {
                let value = try await work()
                gathering.take(value, at: index)
            } catch {
                gathering.fail(error)
            }
        }
    }
    defer { for task in tasks { task.cancel() } }
    return try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { gathering.wait($0) }
    } onCancel: {
        gathering.fail(CancellationError())
    }
}

/// The values of several tasks, or the first error.
private final class Gathering<Value: Sendable>: Sendable {
    private struct State {
        var values: [Value?]
        var missing: Int
        var outcome: Result<[Value], any Error>?
        var continuation: CheckedContinuation<[Value], any Error>?
    }

    private let state: Mutex<State>

    init(count: Int) {
        state = Mutex(State(values: Array(repeating: nil, count: count), missing: count))
    }

    func take(_ value: Value, at index: Int) {
        let finished = state.withLock { state -> CheckedContinuation<[Value], any Error>? in
            guard state.outcome == nil, state.values[index] == nil else { return nil }
            state.values[index] = value
            state.missing -= 1
            guard state.missing == 0 else { return nil }
            state.outcome = .success(state.values.compactMap(\.self))
            defer { state.continuation = nil }
            return state.continuation
        }
        resume(finished)
    }

    func fail(_ error: any Error) {
        let finished = state.withLock { state -> CheckedContinuation<[Value], any Error>? in
            guard state.outcome == nil else { return nil }
            state.outcome = .failure(error)
            defer { state.continuation = nil }
            return state.continuation
        }
        resume(finished)
    }

    func wait(_ continuation: CheckedContinuation<[Value], any Error>) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        if let outcome { continuation.resume(with: outcome) }
    }

    private func resume(_ continuation: CheckedContinuation<[Value], any Error>?) {
        guard let continuation, let outcome = state.withLock({ $0.outcome }) else { return }
        continuation.resume(with: outcome)
    }
}
