public import FoundationModels

/// Who decides which skills are active.
public enum SkillActivationPolicy: Equatable, Sendable {
    /// The model, by calling a tool.
    case modelDriven
    /// The program, through ``SkillActivations``: the model sees the active skills alone, and no tool.
    case hostDriven
}

/// Skills among the instructions, with the tool by which the model asks for them.
///
/// ```swift
/// Skills(activations: activations) {
///     Skill(name: "poetry", description: "Writing verse", prompt: "Rhyme every second line. …")
/// }
/// ```
///
/// The tool is `activate_skill`, or `toggle_skill` when a skill can be deactivated.
public struct Skills: DynamicInstructions {
    private let activations: SkillActivations
    private let toolName: String?
    private let toolDescription: String?
    private let instructions: Instructions?
    private let strictSchema: Bool
    private let policy: SkillActivationPolicy
    private let skills: [Skill]

    /// - Parameters:
    ///   - activations: Keeps which skills are active.
    ///   - toolName: The tool's name; nil for `activate_skill` or `toggle_skill`.
    ///   - toolDescription: What the tool is for, for the model; nil for a description of our own.
    ///   - instructions: What stands before the list of skills; nil for a sentence of our own.
    ///   - strictSchema: Whether the tool can be called only for skills whose state may change. Active ones that cannot be
    ///     deactivated can be named otherwise, and are refused.
    ///   - activationPolicy: Who decides which skills are active.
    ///   - skills: The skills.
    public init(
        activations: SkillActivations, toolName: String? = nil, toolDescription: String? = nil,
        instructions: Instructions? = nil, strictSchema: Bool = false,
        activationPolicy: SkillActivationPolicy = .modelDriven, @SkillsBuilder skills: () -> [Skill]
    ) {
        self.init(
            activations: activations, toolName: toolName, toolDescription: toolDescription,
            instructions: instructions, strictSchema: strictSchema, activationPolicy: activationPolicy,
            skills: skills())
    }

    public init(
        activations: SkillActivations, toolName: String? = nil, toolDescription: String? = nil,
        instructions: Instructions? = nil, strictSchema: Bool = false,
        activationPolicy: SkillActivationPolicy = .modelDriven, skills: [Skill]
    ) {
        self.activations = activations
        self.toolName = toolName
        self.toolDescription = toolDescription
        self.instructions = instructions
        self.strictSchema = strictSchema
        policy = activationPolicy
        self.skills = skills
    }

    public var body: some DynamicInstructions {
        if let opening { opening }
        DynamicInstructions.ForEach(skills, id: \.name) { skill in
            if case .instructions(let content, _) = skill.content, activations.isActive(skill.name) {
                Instructions("\nSkill: \(skill.name) [active]")
                content
            } else if policy == .modelDriven {
                Instructions(
                    "\nSkill: \(skill.name) [\(skill.isPrompt ? "on demand" : "inactive")]\n"
                        + "Description: \(skill.description)")
            }
        }
        if policy == .modelDriven {
            SkillTool(
                name: toolName, description: toolDescription, skills: skills, activations: activations,
                strictSchema: strictSchema)
        }
    }

    private var opening: Instructions? {
        if let instructions { return instructions }
        guard policy == .modelDriven else { return nil }
        return Instructions(
            "When the request calls for one of these skills, activate it first, without a word about it. "
                + "Otherwise answer as usual.")
    }
}
