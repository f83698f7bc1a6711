extension Command {
    package static let completions = Command(
        name: "completions",
        summary: "Write the completion script of a shell.",
        usage: ["bash|zsh|fish"],
        operands: .one("a shell: bash, zsh or fish"),
        discussion: ShellCompletion.discussion
    ) { arguments, context in
        let name = arguments.operands[0]
        guard let shell = ShellCompletion(rawValue: name) else {
            throw UsageError("there is no completion for '\(name)', but for bash, zsh and fish")
        }
        context.output.write(shell.script)
    }

    package static let manual = Command(
        name: "manual",
        summary: "Write the manual page fm(1).",
        discussion: "To read it: fm manual | man -l -"
    ) { _, context in
        context.output.write(ManualPage.text)
    }
}
