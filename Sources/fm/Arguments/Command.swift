/// One command of `fm`: what it accepts, what its help says and what it does.
package struct Command: Sendable {
    package var name: String
    /// One line for the list of commands.
    package var summary: String
    /// What follows the name on a command line, one text for each way.
    package var usage: [String]
    package var options: [Option]
    package var operands: Operands
    /// Paragraphs below the options; lines are kept as they are.
    package var discussion: String
    package var run: @Sendable (Arguments, Context) async throws -> Void

    package init(
        name: String, summary: String, usage: [String] = [""], options: [Option] = [], operands: Operands = .none,
        discussion: String = "", run: @escaping @Sendable (Arguments, Context) async throws -> Void
    ) {
        self.name = name
        self.summary = summary
        self.usage = usage
        self.options = options
        self.operands = operands
        self.discussion = discussion
        self.run = run
    }

    /// How many arguments that are no options a command takes.
    package enum Operands: Sendable, Hashable {
        case none
        /// Exactly one, called so in errors.
        case one(String)
        case any
    }

    package struct Option: Sendable, Hashable {
        /// The spellings, the main one first: `--model`, `-m`.
        package var names: [String]
        /// What stands for the value in help; nil for a flag.
        package var value: String?
        package var help: String
        package var isRepeatable: Bool

        package init(_ names: String..., value: String? = nil, isRepeatable: Bool = false, help: String) {
            self.names = names
            self.value = value
            self.isRepeatable = isRepeatable
            self.help = help
        }

        package var name: String { names[0] }
    }

    /// Every command has it.
    static let help = Option("--help", "-h", help: "Show this help.")

    var allOptions: [Option] { options + [Self.help] }
}
