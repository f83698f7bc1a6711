import Inference

/// What a model thought before it answered.
package struct Thoughts: Sendable, Equatable {
    /// Nil: it was not to think.
    var text: String?
}

extension LocalPrompt {
    /// Lets the answer follow thoughts.
    mutating func append(_ thoughts: Thoughts) {
        guard let text = thoughts.text else { return }
        thinks = true
        answer.append(.init(text: text, isOfTemplate: false))
        answer.append(.init(text: ChatThinking.closing, isOfTemplate: true))
    }
}

extension ThinkingBudget {
    /// - Returns: Nil when the model is not to think.
    /// - Throws: `LanguageModelError.unsupportedCapability` for a level of an unknown name.
    static func tokens(for level: ContextOptions.ReasoningLevel?) throws -> Int? {
        switch level {
        case .light: return light
        case nil, .moderate: return moderate
        case .deep: return deep
        case .custom("none"): return nil
        case .custom(let name):
            guard let count = Int(name), count >= 0 else {
                throw LanguageModelError.unsupportedCapability(
                    .init(
                        capability: .reasoning,
                        debugDescription: "The model on this machine has no reasoning level \(name.debugDescription): "
                            + "custom levels are \"none\" and a number of tokens."))
            }
            return count > 0 ? count : nil
        }
    }
}

extension LocalTurn {
    /// Lets a model that thinks in tags do so, and puts the thoughts at the beginning of the answer. They end with the closing
    /// tag, with the turn, or with the budget of the reasoning level: then the tag is written for the model. So a schema
    /// binds the answer alone.
    ///
    /// Where the whole response has a limit, thoughts take no more than half of it, nor of what the context has left.
    nonisolated(nonsending) func think(_ prompt: inout LocalPrompt, _ count: inout Count) async throws -> Thoughts {
        guard backend.reasons, let budget = try ThinkingBudget.tokens(for: request.contextOptions.reasoningLevel) else {
            return Thoughts()
        }
        var reader = ThoughtReader(budget: budget, answerLimit: request.generationOptions.maximumResponseTokens)
        var asking = prompt
        asking.thinks = true
        var options = request.generationOptions
        options.maximumResponseTokens = reader.budget
        var total: Int?
        func send(_ pieces: [ThoughtReader.Piece]) async {
            for piece in pieces {
                await channel.send(.reasoning(action: .appendText(piece.text, tokenCount: piece.tokenCount)))
            }
        }
        thinking: for try await event in backend.generate(
            LocalGeneration(prompt: asking, constraint: .none, options: options))
        {
            switch event {
            case .promptProcessed(let total, let cached):
                count.input += total
                count.cached += cached
                reader.promptProcessed(tokenCount: total, contextSize: backend.contextSize)
            case .text(let piece, let tokens):
                await send(reader.append(piece, tokenCount: tokens))
                if reader.isComplete { break thinking }
            case .finished(let tokens, _): total = tokens
            }
        }
        try Task.checkCancellation()
        await send(reader.finish(tokenCount: total))
        count.output += reader.tokenCount
        count.reasoning += reader.tokenCount
        let thoughts = Thoughts(text: reader.text)
        prompt.append(thoughts)
        return thoughts
    }

    /// The options of the answer, for which thoughts have left less.
    func answerOptions(_ count: Count) -> GenerationOptions {
        var options = request.generationOptions
        options.maximumResponseTokens = ThoughtReader.remainder(
            of: options.maximumResponseTokens, after: count.reasoning)
        return options
    }
}
