/// Where a session gets the answer to "which model, with what, for the next call".
protocol ProfileSource: Sendable {
    /// Works the answer out anew. Called in the session's context, before each call of the model.
    func resolve() throws -> ResolvedProfile
}

/// The answer: everything that a call of the model needs beside the conversation.
struct ResolvedProfile {
    typealias Action<each Value> = nonisolated(nonsending) (repeat each Value) async throws -> Void

    /// Where the active profile stands in the body, so that a switch can be told from a change of values.
    var identity: [String] = []
    var model: (any LanguageModel)?
    var tools: [BoundTool] = []
    /// The instructions of this very call; nil leaves those of the transcript.
    var instructions: [Transcript.Segment]?

    var options = GenerationOptions()
    var reasoningLevel: ContextOptions.ReasoningLevel?
    var errorHandlingPolicy: TranscriptErrorHandlingPolicy?
    /// Innermost first: each sees what the one before it made.
    var historyTransforms: [([Transcript.Entry]) -> [Transcript.Entry]] = []

    // Callbacks, outermost first.
    var onPrompt: [Action<Transcript.Prompt>] = []
    var onResponse: [Action<Transcript.Response>] = []
    var onReasoning: [Action<Transcript.Reasoning>] = []
    var onToolCall: [Action<Transcript.ToolCall>] = []
    var onToolOutput: [Action<Transcript.ToolCall, Transcript.ToolOutput>] = []
    var onActivate: [@isolated(any) () async -> Void] = []
    var onDeactivate: [@isolated(any) () async -> Void] = []
}

/// The profile that a session last worked under, kept to tell it when another takes its place.
///
/// Its actions came with a profile that was sent to the session, which runs them one after the other.
struct ActiveProfile: @unchecked Sendable {
    var identity: [String]
    var onDeactivate: [@isolated(any) () async -> Void]
}

/// A tool with its definition, which is read once.
struct BoundTool: Sendable {
    let tool: any Tool
    let definition: Transcript.ToolDefinition

    init(_ tool: any Tool) {
        self.tool = tool
        definition = Transcript.ToolDefinition(tool: tool)
    }
}

/// A model and tools that stay the same for the life of a session.
struct FixedProfile: ProfileSource {
    let model: any LanguageModel
    let tools: [BoundTool]

    init(model: any LanguageModel, tools: [any Tool]) {
        self.model = model
        self.tools = tools.map(BoundTool.init)
    }

    func resolve() -> ResolvedProfile {
        var resolved = ResolvedProfile()
        resolved.model = model
        resolved.tools = tools
        return resolved
    }
}
