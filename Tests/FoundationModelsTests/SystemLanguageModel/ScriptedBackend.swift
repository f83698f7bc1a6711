import Foundation
import FoundationModels
import Inference
import Synchronization

/// An engine that says what it is told to and remembers what it was asked. What follows a schema it cuts off at the maximum of tokens.
final class ScriptedBackend: LocalModelBackend {
    private let state = Mutex<[LocalGeneration]>([])
    private let prewarmed = Mutex<[[LocalPrompt]]>([])
    private let answer: @Sendable (LocalGeneration, Int) throws -> String
    let availability: SystemLanguageModel.Availability
    let supportedLanguages: Set<Locale.Language>
    private let dialect: ToolDialect?
    let reasons: Bool

    init(
        availability: SystemLanguageModel.Availability = .available, languages: [String] = ["en", "es"],
        dialect: ToolDialect? = nil, reasons: Bool = false, contextSize: Int = 100,
        answer: @escaping @Sendable (LocalGeneration, Int) throws -> String
    ) {
        self.availability = availability
        supportedLanguages = Set(languages.map { Locale.Language(identifier: $0) })
        self.dialect = dialect
        self.reasons = reasons
        self.contextSize = contextSize
        self.answer = answer
    }

    func toolDialect() async throws -> ToolDialect? { dialect }

    var generations: [LocalGeneration] { state.withLock { $0 } }
    var prewarmedPrompts: [[LocalPrompt]] { prewarmed.withLock { $0 } }

    var identifier: String { "scripted" }
    var variant: SystemLanguageModel.Variant { .core3 }
    let contextSize: Int
    var unavailabilityExplanation: String { "It was switched off for a test." }

    /// A word is a token.
    func tokenCount(of text: String) async throws -> Int { text.split(whereSeparator: \.isWhitespace).count }

    func tokenCount(of prompt: LocalPrompt) async throws -> Int {
        try await tokenCount(of: prompt.messages.map(\.content).joined(separator: " ")) + prompt.messages.count * 2
    }

    func prewarm(_ prompts: [LocalPrompt]) { prewarmed.withLock { $0.append(prompts) } }

    func generate(_ generation: LocalGeneration) -> AsyncThrowingStream<LocalGenerationEvent, any Error> {
        let index = state.withLock { state in
            state.append(generation)
            return state.count - 1
        }
        return AsyncThrowingStream { continuation in
            do {
                let text = try answer(generation, index)
                continuation.yield(.promptProcessed(total: 10, cached: index))
                var words = text.split(separator: " ", omittingEmptySubsequences: false)[...]
                let limit = generation.options.maximumResponseTokens ?? .max
                let isCut = generation.schema != nil && words.count > limit
                if isCut { words = words.prefix(limit) }
                for (index, word) in words.enumerated() {
                    continuation.yield(.text(index == 0 ? String(word) : " " + word, tokenCount: 1))
                }
                continuation.yield(.finished(outputTokenCount: isCut ? limit : 3, wasCut: isCut))
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
    }
}

extension LocalGeneration {
    var choices: [String]? {
        if case .choice(let texts) = constraint { texts } else { nil }
    }

    var schema: GenerationSchema? {
        if case .schema(let schema) = constraint { schema } else { nil }
    }
}
