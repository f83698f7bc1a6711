/// A profile with something said about it. What an inner modifier says goes before what an outer one says.
struct ModifiedProfile<Content: LanguageModelSession.DynamicProfile>: PrimitiveProfile {
    let content: Content
    let modify: (inout ResolvedProfile) -> Void

    func resolve(at path: [String]) -> ResolvedProfile {
        var resolved = content.resolved(at: path)
        modify(&resolved)
        return resolved
    }
}

extension LanguageModelSession.DynamicProfile {
    private func modified(_ modify: @escaping (inout ResolvedProfile) -> Void) -> ModifiedProfile<Self> {
        ModifiedProfile(content: self, modify: modify)
    }

    /// The model to call.
    public func model(_ model: any LanguageModel) -> some LanguageModelSession.DynamicProfile {
        modified { $0.model = $0.model ?? model }
    }

    /// The model to call.
    public func model(_ model: some LanguageModel) -> some LanguageModelSession.DynamicProfile {
        modified { $0.model = $0.model ?? model }
    }

    /// How far the choice of tokens strays from the likeliest.
    public func temperature(_ temperature: Double?) -> some LanguageModelSession.DynamicProfile {
        modified { $0.options.temperature = $0.options.temperature ?? temperature }
    }

    /// How the next token is chosen.
    public func samplingMode(
        _ samplingMode: GenerationOptions.SamplingMode?
    ) -> some LanguageModelSession.DynamicProfile {
        modified { $0.options.samplingMode = $0.options.samplingMode ?? samplingMode }
    }

    /// The number of tokens after which a response is cut.
    public func maximumResponseTokens(_ maximumResponseTokens: Int?) -> some LanguageModelSession.DynamicProfile {
        modified { $0.options.maximumResponseTokens = $0.options.maximumResponseTokens ?? maximumResponseTokens }
    }

    /// How long the model should think.
    public func reasoningLevel(
        _ reasoningLevel: ContextOptions.ReasoningLevel?
    ) -> some LanguageModelSession.DynamicProfile {
        modified { $0.reasoningLevel = $0.reasoningLevel ?? reasoningLevel }
    }

    /// Whether the model calls tools.
    public func toolCallingMode(
        _ toolCallingMode: GenerationOptions.ToolCallingMode?
    ) -> some LanguageModelSession.DynamicProfile {
        modified { $0.options.toolCallingMode = $0.options.toolCallingMode ?? toolCallingMode }
    }

    /// What the model is shown of the history. The transcript itself stays as it is. Of several transforms the innermost comes first.
    public func historyTransform(
        _ transform: @escaping ([Transcript.Entry]) -> [Transcript.Entry]
    ) -> some LanguageModelSession.DynamicProfile {
        modified { $0.historyTransforms.append(transform) }
    }

    /// What happens to the transcript when a request fails.
    public func transcriptErrorHandlingPolicy(
        _ transcriptErrorHandlingPolicy: TranscriptErrorHandlingPolicy?
    ) -> some LanguageModelSession.DynamicProfile {
        modified { $0.errorHandlingPolicy = $0.errorHandlingPolicy ?? transcriptErrorHandlingPolicy }
    }
}

// Callbacks. All of them run, the outermost first; what one throws ends the request.
extension LanguageModelSession.DynamicProfile {
    /// Runs before each call of the model, when the prompt stands in the transcript.
    public func onPrompt(
        @_inheritActorContext perform action: nonisolated(nonsending) sending @escaping () async throws -> Void
    ) -> some LanguageModelSession.DynamicProfile {
        onPrompt { _ in try await action() }
    }

    /// Runs before each call of the model, when the prompt stands in the transcript.
    public func onPrompt(
        @_inheritActorContext perform action:
            nonisolated(nonsending) sending @escaping (Transcript.Prompt) async throws
            -> Void
    ) -> some LanguageModelSession.DynamicProfile {
        modified { $0.onPrompt.insert(action, at: 0) }
    }

    /// Runs when a response stands in the transcript.
    public func onResponse(
        @_inheritActorContext perform action: nonisolated(nonsending) sending @escaping () async throws -> Void
    ) -> some LanguageModelSession.DynamicProfile {
        onResponse { _ in try await action() }
    }

    /// Runs when a response stands in the transcript.
    public func onResponse(
        @_inheritActorContext perform action:
            nonisolated(nonsending) sending @escaping (Transcript.Response) async throws
            -> Void
    ) -> some LanguageModelSession.DynamicProfile {
        modified { $0.onResponse.insert(action, at: 0) }
    }

    /// Runs when reasoning stands in the transcript.
    public func onReasoning(
        @_inheritActorContext perform action: nonisolated(nonsending) sending @escaping () async throws -> Void
    ) -> some LanguageModelSession.DynamicProfile {
        onReasoning { _ in try await action() }
    }

    /// Runs when reasoning stands in the transcript.
    public func onReasoning(
        @_inheritActorContext perform action:
            nonisolated(nonsending) sending @escaping (Transcript.Reasoning) async throws
            -> Void
    ) -> some LanguageModelSession.DynamicProfile {
        modified { $0.onReasoning.insert(action, at: 0) }
    }

    /// Runs for each tool call before it is carried out.
    public func onToolCall(
        @_inheritActorContext perform action: nonisolated(nonsending) sending @escaping () async throws -> Void
    ) -> some LanguageModelSession.DynamicProfile {
        onToolCall { _ in try await action() }
    }

    /// Runs for each tool call before it is carried out.
    public func onToolCall(
        @_inheritActorContext perform action:
            nonisolated(nonsending) sending @escaping (Transcript.ToolCall) async throws
            -> Void
    ) -> some LanguageModelSession.DynamicProfile {
        modified { $0.onToolCall.insert(action, at: 0) }
    }

    /// Runs for each tool output when it stands in the transcript.
    public func onToolOutput(
        @_inheritActorContext perform action: nonisolated(nonsending) sending @escaping () async throws -> Void
    ) -> some LanguageModelSession.DynamicProfile {
        onToolOutput { _, _ in try await action() }
    }

    /// Runs for each tool output when it stands in the transcript.
    public func onToolOutput(
        @_inheritActorContext perform action:
            nonisolated(nonsending) sending @escaping (
                Transcript.ToolCall, Transcript.ToolOutput
            ) async throws -> Void
    ) -> some LanguageModelSession.DynamicProfile {
        modified { $0.onToolOutput.insert(action, at: 0) }
    }

    /// Runs when the profile becomes the active one, before anything else of the request.
    public func onActivate(
        @_inheritActorContext perform action: sending @escaping @isolated(any) () async -> Void
    ) -> some LanguageModelSession.DynamicProfile {
        modified { $0.onActivate.insert(action, at: 0) }
    }

    /// Runs when another profile becomes the active one.
    public func onDeactivate(
        @_inheritActorContext perform action: sending @escaping @isolated(any) () async -> Void
    ) -> some LanguageModelSession.DynamicProfile {
        modified { $0.onDeactivate.insert(action, at: 0) }
    }
}
