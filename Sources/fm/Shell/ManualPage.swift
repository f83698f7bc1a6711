/// The manual page fm(1), made from the table of commands.
/// Source: man(7), the macros of manual pages.
package enum ManualPage {
    package static var text: String {
        var text = """
            .\\" Made by 'fm manual'.
            .TH FM 1 "" "FoundationModels" "User Commands"
            .SH NAME
            fm \\- answers from a language model on this machine
            .SH SYNOPSIS
            .B fm
            .I COMMAND
            .RI [ ARGUMENT " ...]"
            .SH DESCRIPTION
            Results go to standard output, everything else to standard error.
            .SH COMMANDS

            """
        for command in CommandTable.commands {
            text += ".SS \(escaped(command.name))\n\(line(command.summary))\n"
            for usage in command.usage {
                text += ".PP\n.B fm \(escaped(command.name))\n" + (usage.isEmpty ? "" : "\(line(usage))\n")
            }
            for option in command.allOptions {
                text += ".TP\n.B \(escaped(option.label))\n\(line(option.help))\n"
            }
            if !command.discussion.isEmpty {
                text +=
                    ".PP\n.nf\n"
                    + command.discussion.split(separator: "\n", omittingEmptySubsequences: false).map {
                        line(String($0))
                    }
                    .joined(separator: "\n") + "\n.fi\n"
            }
        }
        text += ".SH ENVIRONMENT\n"
        for (name, meaning) in CommandTable.environment { text += ".TP\n.B \(escaped(name))\n\(line(meaning))\n" }
        text += ".SH EXIT STATUS\n"
        for code in ExitCode.allCases { text += ".TP\n.B \(code.rawValue)\n\(line(code.meaning))\n" }
        return text
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    }

    /// A line of text, which must not begin like a request.
    private static func line(_ text: String) -> String {
        let escaped = escaped(text)
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }
}
