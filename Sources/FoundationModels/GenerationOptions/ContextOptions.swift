/// What is put into the model's context beside the prompt.
public struct ContextOptions: Sendable, Equatable {
    /// Whether the response's schema is written into the prompt. The response follows the schema in either case.
    public var includeSchemaInPrompt: Bool?
    /// How long the model should think before it answers; nil is left to the profile, then to the model.
    public var reasoningLevel: ReasoningLevel?

    public init(includeSchemaInPrompt: Bool? = nil, reasoningLevel: ReasoningLevel? = nil) {
        self.includeSchemaInPrompt = includeSchemaInPrompt
        self.reasoningLevel = reasoningLevel
    }

    public enum ReasoningLevel: Sendable, Equatable {
        case light
        case moderate
        case deep
        /// A level of the model's own, by its name.
        case custom(String)
    }
}
