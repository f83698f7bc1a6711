import FoundationModels
import Inference

/// The commands of `fm` in the order in which its help lists them.
package enum CommandTable {
    package static let commands: [Command] = [
        .respond, .chat, .serve, .schema, .tokenCount, .available, .quotaUsage, .models, .pull, .remove, .bench,
        .trace, .completions, .manual, .version,
    ]

    package static func find(_ name: String) -> Command? { commands.first { $0.name == name } }

    /// Variables of the environment that mean something to `fm`.
    package static let environment = [
        ("FM_CACHE_TYPE", "how the context is kept in memory: \(CacheType.names)"),
        ("FM_CLOUD_URL", "the server of Private Cloud Compute: where its Chat Completions interface begins"),
        ("FM_CLOUD_MODEL", "the model of that server"),
        ("FM_CLOUD_API_KEY", "the key for that server"),
        ("FM_CLOUD_CONTEXT_SIZE", "the tokens that its model reads at once, where the server does not say"),
        ("FM_MODEL", "the model where none is named: a name or a path"),
        ("FM_MODELS_DIR", "the folder of the model files"),
        ("FM_PREFIXES_DIR", "the folder of prewarmed prompts; 0: none are kept"),
        ("FM_SERVE_TOKEN", "the tokens of who may use fm serve"),
        (
            "FM_SIMULATE",
            "a state that programs have to cope with: "
                + SimulatedState.allCases.map(\.rawValue).joined(separator: ", ")
        ),
        ("FM_TRACE", "a file for a trace of what the program does; 1: only notes, to standard error"),
        ("NO_COLOR", "when set to anything, no colours"),
    ]

    package static var helpText: String {
        """
        Answers from a language model on this machine.

        usage: fm COMMAND [ARGUMENT ...]

        commands:
        \(Command.table(commands.map { ($0.name, $0.summary) }))
        'fm COMMAND --help' tells more about each.

        environment:
        \(Command.table(environment))
        exit status:
        \(Command.table(ExitCode.allCases.map { ("\($0.rawValue)", $0.meaning) }))
        """
    }

    /// Reads a whole command line, without the program's name.
    ///
    /// - Returns: The command and its arguments; nil when the help of all commands is wanted.
    package static func parse(_ words: [String]) throws(UsageError) -> (Command, Arguments)? {
        guard let first = words.first else {
            throw UsageError("a command is missing: \(commands.map(\.name).joined(separator: ", "))")
        }
        switch first {
        case "--help", "-h": return nil
        case "help":
            guard words.count > 1 else { return nil }
            return try parse([words[1], "--help"])
        case "--version": return (.version, Arguments([]))
        default: break
        }
        guard let command = find(first) else {
            let nearest = EditDistance.nearest(to: first, among: commands.map(\.name))
            let hint = nearest.map { ", did you mean '\($0)'?" } ?? ". 'fm --help' lists the commands."
            throw UsageError("there is no \(first.hasPrefix("-") ? "option" : "command") '\(first)'\(hint)")
        }
        return (command, try ArgumentParser(command).parse(Array(words.dropFirst())))
    }
}
