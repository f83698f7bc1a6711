import Foundation

/// The processor time that a function takes on its thread: unlike the time on the clock, it does not depend on what else the
/// machine does.
package func processorTime(_ body: () throws -> Void) rethrows -> Duration {
    func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    let start = now()
    try body()
    return now() - start
}

/// How many times the processor time grows when the input becomes 16 times as large: about 16 when it is in proportion to the
/// input, 256 when it is to its square. The least of several rounds counts.
package func growth(of size: Int, rounds: Int = 3, _ body: (Int) -> Void) -> Double {
    let times = [size, 16 * size].map { size in (0..<rounds).map { _ in processorTime { body(size) } }.min() ?? .zero }
    return times[1] / max(times[0], .microseconds(1))
}
