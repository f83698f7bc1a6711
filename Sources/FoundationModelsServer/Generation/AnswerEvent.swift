import Inference

/// What happens while one of the answers to a request is made.
enum AnswerEvent: Sendable {
    /// A piece of text, with the probabilities of its tokens where the request wants them.
    case text(String, [TokenLogprobs])
    /// A piece of what the model thinks before it answers.
    case thought(String)
    /// A call begins; its arguments follow.
    case toolCall(id: String, name: String)
    case toolArguments(String)
    case finished(AnswerEnd)
    case failed(APIError)
}

struct AnswerEnd: Sendable {
    enum Reason: String, Sendable {
        case stop, length
        case toolCalls = "tool_calls"
    }

    var reason: Reason
    var usage: AnswerUsage
}

/// Tokens, of all the generations that an answer took.
struct AnswerUsage: Sendable, Hashable {
    var prompt = 0
    var cached = 0
    var completion = 0
    /// The tokens of `completion` that are thoughts.
    var reasoning = 0

    mutating func add(_ usage: GenerationUsage) {
        prompt += usage.promptTokens
        cached += usage.cachedTokens
        completion += usage.generatedTokens
    }
}

/// An event of one of several answers.
struct NumberedEvent: Sendable {
    var answer: Int
    var event: AnswerEvent
}
