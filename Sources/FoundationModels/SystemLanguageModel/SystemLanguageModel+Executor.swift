import Inference

extension SystemLanguageModel.Executor {
    public func prewarm(model: SystemLanguageModel, transcript: Transcript) {
        guard model.isAvailable else { return }
        let continuations = transcript.possibleContinuations
        // What a request reads first: with tools, the question which of them to call.
        if case .instructions(let instructions)? = transcript.first, !instructions.toolDefinitions.isEmpty {
            model.backend.prewarm(
                continuations.map {
                    LocalPrompt(messages: ToolChoicePrompt($0, tools: instructions.toolDefinitions).choice)
                })
        }
        model.backend.prewarm(
            continuations.map {
                var prompt = LocalPrompt(answering: $0)
                prompt.thinks = model.backend.reasons
                return prompt
            })
    }

    public nonisolated(nonsending) func respond(
        to request: LanguageModelExecutorGenerationRequest, model: SystemLanguageModel,
        streamingInto channel: LanguageModelExecutorGenerationChannel
    ) async throws {
        guard model.isAvailable else {
            throw SystemLanguageModel.Error.assetsUnavailable(
                .init(debugDescription: model.backend.unavailabilityExplanation))
        }
        let turn = LocalTurn(request: request, backend: model.backend, channel: channel)
        do {
            try await turn.run()
        } catch let overflow as LocalContextOverflow {
            throw await LanguageModelError.contextSizeExceeded(
                overflow.details(for: request.transcript, model.backend))
        }
    }
}

extension LocalContextOverflow {
    /// The error for the caller, which says what fills the context.
    func details(
        for transcript: Transcript, _ backend: any LocalModelBackend
    ) async -> LanguageModelError.ContextSizeExceeded {
        var counts: [(name: String, count: Int)] = []
        for (index, entry) in transcript.enumerated() {
            let text = LocalPrompt(transcript: Transcript(entries: [entry])).messages.map(\.content).joined()
            // A text that was too long to count is measured in bytes.
            let count = isLeast ? text.utf8.count : (try? await backend.tokenCount(of: text))
            guard let count else { continue }
            counts.append((entry.label(at: index), count))
        }
        let unit = isLeast ? "bytes" : "tokens"
        let largest = counts.sorted { $0.count > $1.count }.prefix(3)
            .map { "\($0.name) (\($0.count) \(unit))" }.joined(separator: ", ")
        return LanguageModelError.ContextSizeExceeded(
            contextSize: contextSize, tokenCount: tokenCount,
            debugDescription:
                "Content contains \(isLeast ? "at least " : "")\(tokenCount) tokens, which exceeds the maximum allowed "
                + "context size of \(contextSize)." + (largest.isEmpty ? "" : " The largest entries are \(largest)."),
            metadata: isLeast ? [LanguageModelError.ContextSizeExceeded.lowerBoundKey: true] : [:])
    }
}

extension Transcript.Entry {
    /// What an entry is called in a message to a developer.
    fileprivate func label(at index: Int) -> String {
        switch self {
        case .instructions: "the instructions"
        case .prompt: "prompt \(index)"
        case .toolCalls: "tool calls \(index)"
        case .toolOutput(let output): "the output of \(output.toolName)"
        case .response: "response \(index)"
        case .reasoning: "reasoning \(index)"
        }
    }
}

extension Transcript {
    /// The transcript with two prompts behind it that have nothing in common, or with two ways for a prompt to go on that it
    /// ends with. What a model reads of both, it will read of any: where a template writes the instructions only it knows.
    package var possibleContinuations: [Transcript] {
        ["A", "1"].map { end in
            var entries = Array(self)
            var prompt = Prompt(segments: [])
            if case .prompt(let begun)? = entries.last {
                prompt = begun
                entries.removeLast()
            }
            if case .text(var text)? = prompt.segments.last {
                text.content += end
                prompt.segments[prompt.segments.count - 1] = .text(text)
            } else {
                prompt.segments.append(.text(TextSegment(content: end)))
            }
            return Transcript(entries: entries + [.prompt(prompt)])
        }
    }
}
