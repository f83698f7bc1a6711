import CLibedit
import Foundation

/// One line of a conversation's input.
package enum InputLine: Equatable, Sendable {
    case text(String)
    /// Ctrl-C. What had been typed is thrown away.
    case interrupted
    /// The end of the input, or Ctrl-D.
    case end
}

/// Where the lines of a conversation come from.
package protocol InputLines {
    func read(prompt: String) -> InputLine
}

/// Reads lines that are typed: with editing and history on a terminal, as they come elsewhere.
final class LineEditor: InputLines {
    private let editor: OpaquePointer?
    private let history: OpaquePointer?
    private let historyPath: String?
    private var prompt: UnsafeMutablePointer<CChar>?
    private var wasInterrupted = false

    /// - Parameter historyPath: The file in which lines are kept from one run to the next.
    init(historyPath: String?) {
        self.historyPath = historyPath
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            editor = nil
            history = nil
            return
        }
        // Characters beyond ASCII are only understood in a locale that has them.
        if setlocale(LC_CTYPE, "") == nil || nl_langinfo(Int32(CODESET)).map({ String(cString: $0) }) != "UTF-8" {
            setlocale(LC_CTYPE, "C.UTF-8")
        }
        TerminalState.restoreAtExit()
        // The prompt and the typed text are no results, so they go where messages go.
        editor = el_init(
            "fm", fdopen(dup(STDIN_FILENO), "r"), fdopen(dup(STDERR_FILENO), "w"), fdopen(dup(STDERR_FILENO), "w"))
        history = history_init()
        guard let editor, let history else { return }
        clibedit_set_client_data(editor, Unmanaged.passUnretained(self).toOpaque())
        clibedit_set_flag(editor, EL_SIGNAL, 0)
        clibedit_set_mode(editor, "emacs")
        clibedit_set_prompt(editor) { editor in LineEditor.of(editor)?.prompt }
        clibedit_history_limit(history, 1000)
        clibedit_set_history(editor, history)
        if let historyPath { clibedit_history_load(history, historyPath) }
        // While a line is edited Ctrl-C is a key like others, not a signal.
        clibedit_set_terminal(editor, "-isig")
        clibedit_add_function(editor, "fm-interrupt", "Throw the line away") { editor, _ in
            guard let self = LineEditor.of(editor) else { return UInt8(CC_ERROR) }
            self.wasInterrupted = true
            return UInt8(CC_NEWLINE)
        }
        clibedit_bind(editor, "^C", "fm-interrupt")
    }

    deinit {
        if let editor { el_end(editor) }
        if let history { history_end(history) }
        free(prompt)
    }

    private static func of(_ editor: OpaquePointer?) -> LineEditor? {
        guard let editor, let data = clibedit_client_data(editor) else { return nil }
        return Unmanaged<LineEditor>.fromOpaque(data).takeUnretainedValue()
    }

    func read(prompt text: String) -> InputLine {
        guard let editor else { return readLine().map(InputLine.text) ?? .end }
        free(prompt)
        prompt = strdup(text)
        wasInterrupted = false
        var count: Int32 = 0
        let line = el_gets(editor, &count)
        if wasInterrupted {
            Output(descriptor: STDERR_FILENO, environment: [:]).write("\n")
            return .interrupted
        }
        guard let line else {
            Output(descriptor: STDERR_FILENO, environment: [:]).write("\n")
            return .end
        }
        var typed = String(cString: line)
        if typed.hasSuffix("\n") { typed.removeLast() }
        remember(typed)
        return .text(typed)
    }

    private func remember(_ line: String) {
        guard let history, !line.trimmingCharacters(in: .whitespaces).isEmpty else { return }
        clibedit_history_add(history, line)
        guard let historyPath else { return }
        let folder = (historyPath as NSString).deletingLastPathComponent
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // What people type is their own affair.
        let mask = umask(0o077)
        clibedit_history_save(history, historyPath)
        umask(mask)
    }

    /// `foundationmodels/history` in `XDG_STATE_HOME` (`~/.local/state`).
    static func historyPath(environment: [String: String]) -> String? {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
            return "\(state)/foundationmodels/history"
        }
        return environment["HOME"].map { "\($0)/.local/state/foundationmodels/history" }
    }
}

/// The settings of the terminal as they were, put back however the program ends.
private enum TerminalState {
    private static let saved: termios? = {
        var state = termios()
        return tcgetattr(STDIN_FILENO, &state) == 0 ? state : nil
    }()

    static func restoreAtExit() {
        guard saved != nil else { return }
        atexit {
            guard var state = TerminalState.saved else { return }
            tcsetattr(STDIN_FILENO, TCSANOW, &state)
        }
    }
}
