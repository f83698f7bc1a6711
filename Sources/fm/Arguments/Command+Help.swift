extension Command {
    /// The help text of the command.
    package var helpText: String {
        var text = "\(summary)\n\n"
        for (index, usage) in usage.enumerated() {
            text += (index == 0 ? "usage: " : "       ") + "fm \(name)" + (usage.isEmpty ? "" : " \(usage)") + "\n"
        }
        text += "\noptions:\n" + Self.table(allOptions.map { ($0.label, $0.help) })
        if !discussion.isEmpty { text += "\n\(discussion)\n" }
        return text
    }

    /// Two columns: names of at most 28 characters stand beside their text, longer ones above it.
    static func table(_ rows: [(String, String)]) -> String {
        let column = min(28, rows.map { $0.0.count }.max() ?? 0)
        return rows.map { name, text in
            let lines = wrap(text, width: 80 - column - 4)
            let rest = lines.map { String(repeating: " ", count: column + 4) + $0 }
            guard name.count <= column else { return (["  \(name)"] + rest).joined(separator: "\n") }
            let first = "  " + name + String(repeating: " ", count: column - name.count + 2) + (lines.first ?? "")
            return ([first] + rest.dropFirst()).joined(separator: "\n")
        }.joined(separator: "\n") + "\n"
    }

    static func wrap(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}

extension Command.Option {
    /// The spellings, short ones first, with the value: `-m, --model NAME|PATH`.
    var label: String {
        names.sorted { $0.count < $1.count }.joined(separator: ", ") + (value.map { " \($0)" } ?? "")
    }
}
