import Foundation

/// What an executor is asked to generate: one turn of the model.
public struct LanguageModelExecutorGenerationRequest: Sendable {
    public var id: UUID
    /// What the model has to read: the current instructions, then the history as the profile shows it.
    public var transcript: Transcript
    /// The tools that the model may call in this turn.
    public var enabledToolDefinitions: [Transcript.ToolDefinition]
    /// The schema that the response must follow; nil for text.
    public var schema: GenerationSchema?
    public var generationOptions: GenerationOptions
    public var contextOptions: ContextOptions
    public var metadata: [String: GeneratedContent]

    public init(
        id: UUID, transcript: Transcript, enabledTools: [Transcript.ToolDefinition], schema: GenerationSchema? = nil,
        generationOptions: GenerationOptions, contextOptions: ContextOptions,
        metadata: [String: any ConvertibleToGeneratedContent]
    ) {
        self.id = id
        self.transcript = transcript
        enabledToolDefinitions = enabledTools
        self.schema = schema
        self.generationOptions = generationOptions
        self.contextOptions = contextOptions
        self.metadata = metadata.mapValues(\.generatedContent)
    }
}
