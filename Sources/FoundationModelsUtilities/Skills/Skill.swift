public import FoundationModels

/// Something that a model can learn how to do when it is needed.
///
/// The model sees the name and the description, and calls a tool to get the rest: as the tool's output (a prompt, which leaves
/// what the model has read so far valid), or into the instructions, where it weighs more and stays until it is deactivated.
public struct Skill {
    enum Content {
        case prompt(Prompt)
        case instructions(AnyDynamicInstructions, allowsDeactivation: Bool)
    }

    let name: String
    let description: String
    let content: Content
    let onActivate: @Sendable () -> Void
    let onDeactivate: @Sendable () -> Void

    var allowsDeactivation: Bool {
        if case .instructions(_, let allowsDeactivation) = content { allowsDeactivation } else { false }
    }

    var isPrompt: Bool {
        if case .prompt = content { true } else { false }
    }

    /// A skill whose content comes as a tool's output.
    ///
    /// - Parameters:
    ///   - name: What the model calls the skill; no other has the same.
    ///   - description: When it is of use, for the model.
    ///   - prompt: What the model gets to read.
    ///   - onActivate: Runs each time that the model asks for the skill.
    public init(
        name: String, description: String, prompt: String, onActivate: @Sendable @escaping () -> Void = {}
    ) {
        self.init(name: name, description: description, onActivate: onActivate) { prompt }
    }

    /// A skill whose content comes as a tool's output.
    public init(
        name: String, description: String, onActivate: @Sendable @escaping () -> Void = {},
        @PromptBuilder prompt: () -> Prompt
    ) {
        self.name = name
        self.description = description
        content = .prompt(prompt())
        self.onActivate = onActivate
        onDeactivate = {}
    }

    /// A skill whose content goes into the instructions.
    ///
    /// - Parameters:
    ///   - name: What the model calls the skill; no other has the same.
    ///   - description: When it is of use, for the model.
    ///   - instructions: What the model is told while the skill is active.
    ///   - allowsDeactivation: Whether the model may switch it off again.
    ///   - onActivate: Runs each time that the model switches the skill on.
    ///   - onDeactivate: Runs each time that the model switches the skill off.
    public init(
        name: String, description: String, instructions: any InstructionsRepresentable,
        allowsDeactivation: Bool = false, onActivate: @Sendable @escaping () -> Void = {},
        onDeactivate: @Sendable @escaping () -> Void = {}
    ) {
        self.init(
            name: name, description: description, allowsDeactivation: allowsDeactivation, onActivate: onActivate,
            onDeactivate: onDeactivate
        ) {
            Instructions(instructions)
        }
    }

    /// A skill whose content, tools among it, goes into the instructions.
    public init(
        name: String, description: String, allowsDeactivation: Bool = false,
        onActivate: @Sendable @escaping () -> Void = {}, onDeactivate: @Sendable @escaping () -> Void = {},
        @DynamicInstructionsBuilder instructions: () -> some DynamicInstructions
    ) {
        self.name = name
        self.description = description
        content = .instructions(
            AnyDynamicInstructions(instructions()), allowsDeactivation: allowsDeactivation)
        self.onActivate = onActivate
        self.onDeactivate = onDeactivate
    }
}
