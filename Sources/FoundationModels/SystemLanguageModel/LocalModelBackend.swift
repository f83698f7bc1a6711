import Foundation
import Inference
import JSON

/// The engine of this machine as the framework sees it: a chat template, a tokenizer and a decoder under constraints.
package protocol LocalModelBackend: Sendable {
    /// Tells one model from another, such as the path of its file.
    var identifier: String { get }
    var availability: SystemLanguageModel.Availability { get }
    var variant: SystemLanguageModel.Variant { get }
    /// In tokens. Known without loading the model.
    var contextSize: Int { get }
    var supportedLanguages: Set<Locale.Language> { get }
    /// Whether the model was trained to think before it answers.
    var reasons: Bool { get }

    /// Says why there is no model, for an error.
    var unavailabilityExplanation: String { get }

    /// How the model writes tool calls, when it is to be trusted to; nil when it is to be asked about them in plain text.
    func toolDialect() async throws -> ToolDialect?

    /// The number of tokens of a text by itself.
    func tokenCount(of text: String) async throws -> Int
    /// The number of tokens of a conversation with its template.
    func tokenCount(of prompt: LocalPrompt) async throws -> Int

    /// Loads the model and computes what some prompts all begin with, so that a generation that begins with it is spared that.
    /// Returns at once.
    func prewarm(_ prompts: [LocalPrompt])

    /// Generates the next message of a conversation.
    func generate(_ generation: LocalGeneration) -> AsyncThrowingStream<LocalGenerationEvent, any Error>
}

/// What the model is to generate.
package struct LocalGeneration: Sendable {
    /// What the text must be.
    package enum Constraint: Sendable {
        case none
        /// JSON text under a schema.
        case schema(GenerationSchema)
        /// One of some texts.
        case choice([String])
    }

    package var prompt: LocalPrompt
    package var constraint: Constraint
    package var options: GenerationOptions

    package init(prompt: LocalPrompt, constraint: Constraint, options: GenerationOptions) {
        self.prompt = prompt
        self.constraint = constraint
        self.options = options
    }
}

extension LocalModelBackend {
    package func toolDialect() async throws -> ToolDialect? { nil }
}

package enum LocalGenerationEvent: Sendable {
    /// The prompt has been read: this many tokens, of which so many were known.
    case promptProcessed(total: Int, cached: Int)
    /// Text, never with half a character.
    case text(String, tokenCount: Int)
    /// The end, with the number of tokens generated in all, and whether it came because there may be no more of them.
    case finished(outputTokenCount: Int, wasCut: Bool = false)
}

/// A prompt, or a prompt with what has come of its answer, has more tokens than the model can read.
package struct LocalContextOverflow: Error, Hashable {
    package var tokenCount: Int
    package var contextSize: Int
    /// Whether the tokens were not counted: there are as many at least.
    package var isLeast: Bool

    package init(tokenCount: Int, contextSize: Int, isLeast: Bool = false) {
        self.tokenCount = tokenCount
        self.contextSize = contextSize
        self.isLeast = isLeast
    }
}

/// The models of this machine.
package enum LocalModels {
    /// The model that is used unless a program names another.
    package static let standard: any LocalModelBackend = EngineBackend.standard

    /// The model of a GGUF file.
    package static func model(of file: URL) -> any LocalModelBackend { EngineBackend(file: file) }

    /// How many times this process has loaded the weights of a file.
    package static func loadCount(of file: URL) -> Int { EngineLibrary.shared.loadCount(of: file) }
}

/// Stands where there is no engine.
package struct NoLocalModel: LocalModelBackend {
    package init() {}

    package var identifier: String { "none" }
    package var availability: SystemLanguageModel.Availability { .unavailable(.modelNotReady) }
    package var variant: SystemLanguageModel.Variant { .core3 }
    package var contextSize: Int { 0 }
    package var supportedLanguages: Set<Locale.Language> { [] }
    package var reasons: Bool { false }
    package var unavailabilityExplanation: String { "No model has been downloaded." }

    private var error: SystemLanguageModel.Error {
        .assetsUnavailable(.init(debugDescription: unavailabilityExplanation))
    }

    package func tokenCount(of text: String) async throws -> Int { throw error }
    package func tokenCount(of prompt: LocalPrompt) async throws -> Int { throw error }
    package func prewarm(_ prompts: [LocalPrompt]) {}

    package func generate(_ generation: LocalGeneration) -> AsyncThrowingStream<LocalGenerationEvent, any Error> {
        AsyncThrowingStream { $0.finish(throwing: error) }
    }
}
