import Inference

/// Reads the words of a command line against what a command accepts.
///
/// Options may stand anywhere before `--`, as `--name value` or `--name=value`; everything after `--` is an operand, and so
/// is `-`, which stands for standard input. A word that begins with a dash and is no option is refused, never taken
/// for text.
package struct ArgumentParser {
    package let command: Command

    package init(_ command: Command) { self.command = command }

    package func parse(_ words: [String]) throws(UsageError) -> Arguments {
        var list: [Arguments.Argument] = []
        var seen: Set<String> = []
        var index = 0
        while index < words.count {
            let word = words[index]
            index += 1
            if word == "--" {
                list += words[index...].map(Arguments.Argument.operand)
                break
            }
            guard word.hasPrefix("-"), word != "-" else {
                list.append(.operand(word))
                continue
            }
            let (name, attached) = Self.split(word)
            guard let option = find(name) else { throw unknown(name) }
            if !option.isRepeatable, !seen.insert(option.name).inserted {
                throw UsageError("\(option.name) is given twice")
            }
            guard option.value != nil else {
                guard attached == nil else { throw UsageError("\(option.name) takes no value") }
                list.append(.option(option.name, value: nil))
                continue
            }
            if let attached {
                list.append(.option(option.name, value: attached))
            } else if index < words.count, !isOption(words[index]) {
                list.append(.option(option.name, value: words[index]))
                index += 1
            } else {
                throw UsageError("\(option.name) needs a value: \(option.name) \(option.value ?? "")")
            }
        }
        let arguments = Arguments(list)
        // Whoever asks for help is not told what else is missing.
        if !arguments.has(Command.help.name) { try checkOperands(arguments.operands) }
        return arguments
    }

    /// `--name=value` is split; a short option takes no attached value.
    private static func split(_ word: String) -> (name: String, value: String?) {
        guard word.hasPrefix("--"), let equals = word.firstIndex(of: "=") else { return (word, nil) }
        return (String(word[..<equals]), String(word[word.index(after: equals)...]))
    }

    private func find(_ name: String) -> Command.Option? { command.allOptions.first { $0.names.contains(name) } }

    /// Whether a word that could be a value is an option of this command, which then was meant as one.
    private func isOption(_ word: String) -> Bool { word == "--" || find(Self.split(word).name) != nil }

    private func unknown(_ name: String) -> UsageError {
        let names = command.allOptions.flatMap(\.names).filter { $0.hasPrefix("--") == name.hasPrefix("--") }
        let nearest = name.hasPrefix("--") ? EditDistance.nearest(to: name, among: names) : nil
        let hint = nearest.map { ", did you mean \($0)?" } ?? "."
        let text = command.operands == .none ? "" : " Text that begins with a dash goes after --."
        return UsageError("'\(command.name)' has no option \(name)\(hint)\(text)")
    }

    private func checkOperands(_ operands: [String]) throws(UsageError) {
        switch command.operands {
        case .none:
            if let first = operands.first { throw UsageError("'\(command.name)' takes no argument '\(first)'") }
        case .one(let name):
            guard let first = operands.first else { throw UsageError("'\(command.name)' needs \(name)") }
            guard operands.count == 1 else {
                throw UsageError("'\(command.name)' takes one \(name), but '\(operands[1])' follows '\(first)'")
            }
        case .any: break
        }
    }
}
