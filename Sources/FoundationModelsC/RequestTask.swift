import Foundation
import Synchronization

/// Work whose outcome is told by a callback.
final class RequestTask: HandledObject {
    static let kind = "task"

    private struct State {
        var task: Task<Void, Never>?
        var isCancelled = false
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let end = DispatchSemaphore(value: 0)

    func begin(_ work: sending @escaping () async -> Void) {
        let task = Task.detached { [self] in
            await work()
            state.withLock {
                $0.hasEnded = true
                $0.task = nil
            }
            end.signal()
        }
        let isCancelled = state.withLock { state in
            if !state.hasEnded { state.task = task }
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    /// Whether it was cancelled and has not ended yet.
    var isEnding: Bool { state.withLock { $0.isCancelled && !$0.hasEnded } }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Waits until the work has ended.
    func wait(until deadline: DispatchTime) {
        // Passed on to whoever waits too.
        if end.wait(timeout: deadline) == .success { end.signal() }
    }
}

@_cdecl("FMTaskCancel")
public func cancelTask(_ task: UnsafeRawPointer?) {
    do {
        try HandleTable.shared.object(task, as: RequestTask.self).cancel()
    } catch {
        warn("FMTaskCancel: \(description(of: error))")
    }
}
