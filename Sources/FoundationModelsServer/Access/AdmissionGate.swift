import Foundation
import Synchronization

/// Bounds the generations that are computed and wait, so that a server with too much to do says so at once.
package final class AdmissionGate: Sendable {
    private struct State {
        var admitted = 0
        /// Seconds that a generation takes, a moving average.
        var duration = 2.0
    }

    /// Generations that the engine computes at the same time.
    package let concurrent: Int
    /// Generations that may wait behind them.
    package let queued: Int
    private let state = Mutex(State())

    package init(concurrent: Int, queued: Int) {
        self.concurrent = concurrent
        self.queued = queued
    }

    /// The places of one request. They are given back when it ends.
    package final class Place: Sendable {
        private let gate: AdmissionGate
        private let count: Int
        private let start = ContinuousClock.now
        private let isReleased = Mutex(false)

        fileprivate init(_ gate: AdmissionGate, _ count: Int) {
            self.gate = gate
            self.count = count
        }

        deinit { release() }

        package func release() {
            let isFirst = isReleased.withLock { isReleased in
                defer { isReleased = true }
                return !isReleased
            }
            if isFirst { gate.leave(count, after: (ContinuousClock.now - start) / .seconds(1)) }
        }
    }

    /// Places for some generations, or an error that says when to come again.
    package func enter(_ count: Int) throws(APIError) -> Place {
        guard count <= concurrent + queued else {
            throw .invalid(
                "n", code: "invalid_value",
                "The request asks for \(count) answers; this server takes \(concurrent + queued) at most at a time.")
        }
        let retry: Int? = state.withLock { state in
            guard state.admitted + count > concurrent + queued else {
                state.admitted += count
                return nil
            }
            // When about half of what waits is done, there is room again.
            return Int((state.duration * Double(max(1, queued)) / Double(2 * concurrent)).rounded(.up))
        }
        guard let retry else { return Place(self, count) }
        throw APIError(
            status: 429, type: "requests", code: "server_overloaded", retryAfter: min(max(1, retry), 60),
            "The server has as many requests as it takes. Try again later.")
    }

    private func leave(_ count: Int, after seconds: Double) {
        state.withLock { state in
            state.admitted -= count
            state.duration += 0.1 * (seconds - state.duration)
        }
    }

    package var admitted: Int { state.withLock { $0.admitted } }
    package var waiting: Int { max(0, admitted - concurrent) }
}
