import Foundation

/// A program that runs beside this one, in a process group of its own, until it ends or is no longer wanted.
///
/// Only the program itself is waited for. What it leaves running in the background goes on, unless the program was ended
/// because nobody wanted it any more: then its whole group is.
package struct ChildProcess {
    package let program: String
    package let arguments: [String]
    package let environment: [String: String]
    /// What the program reads from standard input; nil for an input that is empty.
    package var input: [UInt8]?
    /// Whether the program writes to this process's own standard error, instead of into `Ended.errorOutput`.
    package var sharesErrorOutput = false

    /// From the request to end (SIGTERM) to the end by force (SIGKILL).
    static let grace = Duration.milliseconds(500)

    package init(_ program: String, _ arguments: [String], environment: [String: String]) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
    }

    package struct Ended {
        package enum Reason: Equatable {
            case status(Int32)
            case signal(Int32)
            case notStarted(String)
        }

        package var reason: Reason
        /// The last part of what the program wrote to standard error.
        package var errorOutput: String

        /// The exit status; 127 when there is no such program, 128 and the signal when one ended it.
        var status: Int32 {
            switch reason {
            case .status(let status): status
            case .signal(let signal): 128 + signal
            case .notStarted: 127
            }
        }

        var lastLine: String? {
            errorOutput.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.last { !$0.isEmpty }
        }

        /// The last line that is a complaint of pip's, else the last line.
        var lastErrorLine: String? {
            let lines = errorOutput.split(separator: "\n").map(String.init)
            // A stack trace begins with a complaint that says nothing, and ends with what went wrong.
            return lines.last { $0.hasPrefix("ERROR:") && $0 != "ERROR: Exception:" }.map { String($0.dropFirst(7)) }
                ?? lastLine
        }
    }

    /// Runs the program and waits for its end.
    ///
    /// - Parameters:
    ///   - output: Takes the standard output in pieces; false ends the program. Nil when nobody wants it.
    ///   - isWanted: Asked at least 20 times a second; false ends the program.
    package func run(
        output: ((UnsafeRawBufferPointer) -> Bool)? = nil, isWanted: () -> Bool = { true }
    ) -> Ended {
        func notStarted(_ why: String) -> Ended { Ended(reason: .notStarted(why), errorOutput: why) }
        guard let path = find() else { return notStarted("no program '\(program)'") }
        let pipes: ChildPipes
        switch ChildPipes.make(input: input, output: output, collectsErrors: !sharesErrorOutput) {
        case .success(let made): pipes = made
        case .failure(let code): return notStarted(String(cString: strerror(code.rawValue)))
        }
        let child: pid_t
        switch RunningChildren.shared.add({ spawn(path, pipes) }) {
        case .success(let started): child = started
        case .failure(let code): return notStarted(String(cString: strerror(code.rawValue)))
        }
        pipes.closeChildEnds()

        // Short waits first, so that the end of a quick program is noticed at once.
        var delay: Int32 = 1
        var isStopped = false
        while !RunningChildren.hasEnded(child) {
            guard pipes.outputIsWanted, isWanted() else {
                isStopped = true
                Self.stop(child)
                break
            }
            delay = pipes.transfer(timeout: delay) ? 1 : min(delay * 2, 50)
        }
        pipes.drain(discardingOutput: isStopped)
        return Ended(
            reason: RunningChildren.shared.reap(child), errorOutput: String(decoding: pipes.errors, as: UTF8.self))
    }

    /// Ends the group of a child that has not been reaped.
    private static func stop(_ child: pid_t) {
        kill(-child, SIGTERM)
        let deadline = ContinuousClock.now + grace
        while !RunningChildren.hasEnded(child), ContinuousClock.now < deadline { usleep(5_000) }
        // Also what the program has started and did not end itself.
        kill(-child, SIGKILL)
        RunningChildren.waitForEnd(child)
    }

    private func find() -> String? {
        if program.contains("/") { return program }
        for directory in (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":") {
            let path = "\(directory)/\(program)"
            if access(path, X_OK) == 0 { return path }
        }
        return nil
    }
}
