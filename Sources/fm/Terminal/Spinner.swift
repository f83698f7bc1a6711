import Foundation
import Synchronization

/// Shows on a terminal that something is going on, until there is something else to show. Elsewhere it shows nothing.
final class Spinner: Sendable {
    private static let frames = Array("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
    /// Seconds before it appears: what comes at once needs none.
    private static let delay = 0.3
    private static let interval = 0.1

    private let output: Output
    private let isRunning: Mutex<Bool>

    init(_ output: Output, _ text: String) {
        self.output = output
        isRunning = Mutex(output.isTerminal)
        guard output.isTerminal else { return }
        Thread.detachNewThread { [self] in
            Thread.sleep(forTimeInterval: Self.delay)
            var index = 0
            while true {
                let goesOn = isRunning.withLock { isRunning in
                    if isRunning {
                        output.write("\r\(output.styled("\(Self.frames[index % Self.frames.count]) \(text)", .dim))")
                    }
                    return isRunning
                }
                guard goesOn else { return }
                index += 1
                Thread.sleep(forTimeInterval: Self.interval)
            }
        }
    }

    /// Takes it away. Further calls do nothing.
    func stop() {
        isRunning.withLock { isRunning in
            if isRunning { output.write("\r\u{1b}[K") }
            isRunning = false
        }
    }
}
