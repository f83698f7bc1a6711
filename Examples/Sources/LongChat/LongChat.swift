import FoundationModels

/// A conversation that outlives its context: when it no longer fits, what was said is summed up and goes on from there.
@main
struct LongChat {
    static func main() async throws {
        var session = LanguageModelSession(instructions: "Answer in one sentence.")
        let questions = [
            "My name is Ada and I grow tomatoes. What do they need most?",
            "How often should I water them?",
            "Which herb grows well beside them?",
            "What is my name, and what do I grow?",
        ]
        for question in questions {
            print("> \(question)")
            session = try await fitting(session, question)
            do {
                print(try await session.respond(to: question).content)
            } catch LanguageModelError.contextSizeExceeded(let overflow) {
                // The transcript is as it was before the request: sum it up and ask again.
                print("[\(overflow.tokenCount) tokens do not fit \(overflow.contextSize): summing up]")
                session = try await summary(of: session)
                print(try await session.respond(to: question).content)
            }
        }
    }

    /// The share of the context that the conversation may take before it is summed up. It is small here so that four
    /// questions show it.
    static let largestShare = 0.005

    static func fitting(_ session: LanguageModelSession, _ question: String) async throws -> LanguageModelSession {
        let model = SystemLanguageModel.default
        let tokens = try await model.tokenCount(for: session.transcript)
        guard Double(tokens) > largestShare * Double(model.contextSize) else { return session }
        print("[\(tokens) tokens so far: summing up]")
        return try await summary(of: session)
    }

    static func summary(of session: LanguageModelSession) async throws -> LanguageModelSession {
        let said = session.transcript.compactMap { entry -> String? in
            switch entry {
            case .prompt(let prompt): "User: \(prompt)"
            case .response(let response): "Assistant: \(response)"
            default: nil
            }
        }
        let summary = try await LanguageModelSession(instructions: "Sum up conversations. Keep names and facts.")
            .respond(to: said.joined(separator: "\n"), options: GenerationOptions(maximumResponseTokens: 120))
        return LanguageModelSession(
            instructions: "Answer in one sentence. This was said before: \(summary.content)")
    }
}
