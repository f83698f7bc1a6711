import Synchronization

/// Counts the calls that each answer has begun.
final class CallCounts: Sendable {
    private let counts = Mutex<[Int: Int]>([:])

    /// The index of a new call.
    func begin(_ answer: Int) -> Int {
        counts.withLock { counts in
            counts[answer, default: 0] += 1
            return counts[answer, default: 1] - 1
        }
    }

    func current(_ answer: Int) -> Int { counts.withLock { max(0, ($0[answer] ?? 1) - 1) } }
}
