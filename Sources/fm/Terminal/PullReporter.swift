import Foundation
import Inference
import Synchronization

/// Shows how far a fetch is: one line that renews itself on a terminal, a plain line now and then elsewhere.
package final class PullReporter: Sendable {
    private struct State {
        var stage: ModelStore.PullProgress.Stage?
        /// Points of the last `rateWindow`, from which the rate is taken.
        var points: [(time: Double, received: Int64)] = []
        var lastLine: Double = -.infinity
        var showsLine = false
        /// Whether the last plain line showed the whole file.
        var wasWhole = false
    }

    private let name: String
    private let output: Output
    private let isQuiet: Bool
    private let clock: @Sendable () -> Double
    private let state = Mutex(State())

    /// Seconds between two lines where the output is no terminal.
    static let plainInterval = 10.0
    /// Seconds over which the rate is taken: long enough that the pauses between the packages of a model even out.
    static let rateWindow = 20.0

    package init(
        name: String, output: Output, isQuiet: Bool,
        clock: @escaping @Sendable () -> Double = { ProcessInfo.processInfo.systemUptime }
    ) {
        self.name = name
        self.output = output
        self.isQuiet = isQuiet
        self.clock = clock
    }

    package func report(_ progress: ModelStore.PullProgress) {
        guard !isQuiet else { return }
        state.withLock { state in
            let now = clock()
            let isWhole = progress.received == progress.total
            if state.stage != progress.stage {
                state.stage = progress.stage
                state.points = []
                state.lastLine = -.infinity
            }
            state.points.append((now, progress.received))
            state.points.removeAll { $0.time < now - Self.rateWindow }
            let text = Self.text(
                name, progress, rate: Self.rate(state.points), width: output.isTerminal ? output.width : nil)
            if output.isTerminal {
                output.write("\r\u{1b}[K" + text)
                state.showsLine = true
            } else if now - state.lastLine >= Self.plainInterval || isWhole != state.wasWhole {
                state.lastLine = now
                state.wasWhole = isWhole
                output.line(text)
            }
        }
    }

    /// Ends the line that renews itself, so that what follows begins on its own.
    package func finish() {
        state.withLock { state in
            if state.showsLine { output.write("\n") }
            state.showsLine = false
        }
    }

    /// Bytes per second over the points, nil while that cannot be said.
    static func rate(_ points: [(time: Double, received: Int64)]) -> Double? {
        guard let first = points.first, let last = points.last, last.time - first.time >= 0.5 else { return nil }
        return max(0, Double(last.received - first.received) / (last.time - first.time))
    }

    /// One line, with a bar between its parts when there is room for one.
    package static func text(
        _ name: String, _ progress: ModelStore.PullProgress, rate: Double?, width: Int?
    ) -> String {
        switch progress.stage {
        case .waiting: return "\(name): another process is fetching it; waiting"
        case .checking:
            return "\(name): checking what is here, \(ByteText.size(progress.received))"
        case .fetching: break
        }
        var size = ByteText.size(progress.received)
        var rest = ""
        if let rate { rest += ", \(ByteText.size(Int64(rate)))/s" }
        guard let total = progress.total, total > 0 else { return "\(name): \(size)\(rest)" }
        size += " of \(ByteText.size(total))"
        let share = min(1, Double(progress.received) / Double(total))
        if let rate, rate > 0, share < 1 {
            rest += ", \(ByteText.duration(Double(total - progress.received) / rate)) left"
        }
        let percent = "\(Int(share * 100)) %"
        let plain = "\(name): \(percent), \(size)\(rest)"
        let cells = min(30, (width ?? 0) - plain.count - 4)
        guard cells >= 8 else { return width.map { String(plain.prefix(max(20, $0 - 1))) } ?? plain }
        let full = Int(share * Double(cells))
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: cells - full)
        return "\(name): [\(bar)] \(percent), \(size)\(rest)"
    }
}
