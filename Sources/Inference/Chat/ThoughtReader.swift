/// The thoughts of an answer while they are generated: tells them from the closing tag, counts their tokens, and says when they have
/// come to their end, which is the tag or the end of the budget. Then the tag is written for the model, and the answer goes on behind
/// it in a generation of its own, so that a schema binds the answer alone.
package struct ThoughtReader: Sendable {
    /// A piece of the thoughts, with the tokens that have come since the piece before.
    package struct Piece: Sendable, Hashable {
        package var text: String
        package var tokenCount: Int

        package init(text: String, tokenCount: Int) {
            self.text = text
            self.tokenCount = tokenCount
        }
    }

    /// The thoughts so far.
    package private(set) var text = ""
    /// The tokens so far, those of the tag included.
    package private(set) var tokenCount = 0
    /// The most tokens that they may have.
    package private(set) var budget: Int
    private var tags = ThinkingTags(startsInside: true)
    /// Tokens whose text is held back.
    private var pending = 0

    /// - Parameter answerLimit: The most tokens of thoughts and answer together, of which thoughts take no more than half; nil: no
    ///   limit.
    package init(budget: Int, answerLimit: Int?) {
        self.budget = answerLimit.map { min(budget, max(1, $0 / 2)) } ?? budget
    }

    /// Takes no more than half of what the context has left behind the prompt.
    package mutating func promptProcessed(tokenCount: Int, contextSize: Int) {
        budget = min(budget, max(1, (contextSize - tokenCount) / 2))
    }

    /// Whether nothing that comes is a thought any more.
    package var isComplete: Bool { tags.isClosed || tokenCount >= budget }

    package mutating func append(_ text: String, tokenCount: Int) -> [Piece] {
        self.tokenCount += tokenCount
        pending += tokenCount
        return pieces(tags.append(text))
    }

    /// Ends them.
    /// - Parameter tokenCount: The tokens of the whole generation, where it has come to its own end.
    /// - Returns: What was held back.
    package mutating func finish(tokenCount: Int?) -> [Piece] {
        if let tokenCount { self.tokenCount = tokenCount }
        return pieces(tags.finish())
    }

    private mutating func pieces(_ parts: [ThinkingTags.Part]) -> [Piece] {
        var pieces: [Piece] = []
        for case .thought(let thought) in parts {
            text += thought
            pieces.append(Piece(text: thought, tokenCount: pending))
            pending = 0
        }
        return pieces
    }

    /// What thoughts leave of a limit for thoughts and answer.
    package static func remainder(of limit: Int?, after count: Int) -> Int? { limit.map { max(1, $0 - count) } }
}
