import Foundation

/// Standard output or standard error.
package struct Output: Sendable {
    package let descriptor: Int32
    package let isTerminal: Bool
    /// Whether colours may be used: on a terminal that knows them, unless `NO_COLOR` is set to something.
    package let hasColors: Bool

    package init(descriptor: Int32, environment: [String: String]) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        hasColors = isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// The columns of the terminal, 80 where it does not say.
    package var width: Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes all of a text at once. A reader that has gone away ends the program, as it ends every filter.
    package func write(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno == EPIPE {
                exit(128 + SIGPIPE)
            } else if errno == EAGAIN {
                // The descriptor was made non-blocking by someone who shares it.
                usleep(1_000)
            } else if errno == EIO, isTerminal {
                exit(ExitCode.hungUp.rawValue)
            } else if errno != EINTR {
                fail(because: errno == EBADF ? "it is closed" : String(cString: strerror(errno)))
            }
        }
    }

    /// Ends the program, which can no longer say what it has to say.
    private func fail(because reason: String) -> Never {
        guard descriptor == STDOUT_FILENO else { exit(ExitCode.failure.rawValue) }
        let message = "fm: cannot write standard output: \(reason).\n"
        message.utf8CString.withUnsafeBytes { _ = Foundation.write(STDERR_FILENO, $0.baseAddress, $0.count - 1) }
        exit(ExitCode.storage.rawValue)
    }

    package func line(_ text: String) { write(text + "\n") }

    /// Tells of an error. Its text may come from a file, a server or a template.
    package func failure(_ message: String) { line(styled("fm:", .red) + " " + TerminalText.printable(message)) }

    /// Keeps the numbers of standard input, output and error that the program was started without: otherwise the next file
    /// that is opened would get one of them, and the answer would be written into it. Called before anything is opened.
    static func reserveStandardDescriptors() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            // For the wrong direction, so that a use fails as on a closed descriptor (EBADF).
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    package enum Style: String, Sendable {
        case bold = "1"
        case dim = "2"
        case red = "31"
    }

    package func styled(_ text: String, _ style: Style) -> String {
        hasColors ? "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" : text
    }
}
