import Dispatch
import Foundation
import Synchronization

/// Ctrl-C, the request to end (SIGTERM) and the end of the terminal (SIGHUP) as the end of a task instead of the end of the program.
package final class Interrupts: Sendable {
    private struct State {
        var handler: (@Sendable (Int32) -> Void)?
        var last: Int32?
    }

    private let state = Mutex(State())
    // Only kept alive; written in the initialiser alone.
    private nonisolated(unsafe) var sources: [any DispatchSourceSignal] = []

    package static let shared = Interrupts()

    private init() {
        // A write to a file that may not grow, or to a reader that has gone, is an error to report and not a death.
        signal(SIGXFSZ, SIG_IGN)
        signal(SIGPIPE, SIG_IGN)
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let previous = signal(number, SIG_IGN)
            // Whoever started the program with nohup wants it to go on.
            if number == SIGHUP, unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
                continue
            }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [weak self] in
                // Without a task to stop, the program ends as it would have.
                let handler = self?.state.withLock { state in
                    state.last = number
                    return state.handler
                }
                guard let handler else { exit(128 + number) }
                handler(number)
            }
            source.resume()
            sources.append(source)
        }
    }

    /// The exit status that the last signal asks for, if it was one to end the program and not Ctrl-C.
    package var ending: ExitCode? {
        switch state.withLock({ $0.last }) {
        case SIGTERM: .terminated
        case SIGHUP: .hungUp
        default: nil
        }
    }

    /// Runs a task that a signal cancels; a second signal ends the program at once.
    package func cancelling<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task { try await body() }
        let count = Counter()
        let previous = exchange { number in
            if count.next() > 1 { exit(128 + number) }
            task.cancel()
        }
        defer { _ = exchange(previous) }
        return try await task.value
    }

    /// Sets what a signal does and returns what it did before.
    package func exchange(_ handler: (@Sendable (Int32) -> Void)?) -> (@Sendable (Int32) -> Void)? {
        state.withLock { state in
            let previous = state.handler
            state.handler = handler
            return previous
        }
    }

    private final class Counter: Sendable {
        private let value = Mutex(0)
        func next() -> Int {
            value.withLock {
                $0 += 1
                return $0
            }
        }
    }
}
