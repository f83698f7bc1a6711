import Foundation
import Observation

/// The language model on this machine.
public final class SystemLanguageModel: Sendable {
    let backend: any LocalModelBackend
    let useCase: UseCase
    let guardrails: Guardrails
    let adapter: AdapterDescription?

    package init(
        backend: any LocalModelBackend, useCase: UseCase = .general, guardrails: Guardrails = .default,
        adapter: AdapterDescription? = nil
    ) {
        self.backend = backend
        self.useCase = useCase
        self.guardrails = guardrails
        self.adapter = adapter
    }

    private static let shared = SystemLanguageModel(backend: LocalModels.standard)

    /// The model that this machine uses unless told otherwise.
    public static var `default`: SystemLanguageModel { shared }

    public convenience init(useCase: UseCase = .general, guardrails: Guardrails = Guardrails.default) {
        self.init(backend: LocalModels.standard, useCase: useCase, guardrails: guardrails)
    }

    /// The model with an adapter. An adapter that was made for another model, or does not fit, is an ``Adapter/AssetError`` of
    /// each request, since the user may choose another model while the program runs.
    public convenience init(adapter: Adapter, guardrails: Guardrails = .default) {
        self.init(
            backend: EngineBackend.standard.adapted(by: adapter.weights), guardrails: guardrails,
            adapter: adapter.weights.description)
    }
}

extension SystemLanguageModel: nonisolated Observable {}

extension SystemLanguageModel {
    /// What the model is used for.
    public struct UseCase: Sendable, Equatable {
        private let name: String

        public static let general = UseCase(name: "general")
        /// Finding topics, actions, objects and feelings in a text.
        public static let contentTagging = UseCase(name: "contentTagging")
    }

    /// How strictly prompts and responses are checked.
    public struct Guardrails: Sendable {
        let name: String

        public static let `default` = Guardrails(name: "default")
        /// For work on text that is given, whatever it says.
        public static let permissiveContentTransformations = Guardrails(name: "permissiveContentTransformations")
    }

    /// How capable the model is.
    public struct Variant: Sendable, Hashable {
        public let displayName: String

        /// A small model.
        public static var core3: Variant { Variant(displayName: "Core 3") }
        /// A larger model, on machines with the memory for it.
        public static var coreAdvanced3: Variant { Variant(displayName: "Core Advanced 3") }
    }

    /// How capable the model is.
    public var variant: Variant { backend.variant }
}

extension SystemLanguageModel {
    /// Whether the model can be used, and why not.
    @frozen
    public enum Availability: Equatable, Sendable {
        case available
        case unavailable(UnavailableReason)

        public enum UnavailableReason: Hashable, Sendable {
            /// The machine has too little memory for any model of the catalogue.
            case deviceNotEligible
            /// The user switched local models off.
            case appleIntelligenceNotEnabled
            /// The model has not been downloaded yet.
            case modelNotReady
        }
    }

    /// Whether the model can be used, and why not.
    public var availability: Availability { backend.availability }

    public var isAvailable: Bool { availability == .available }
}

extension SystemLanguageModel {
    /// The number of tokens that the model can read at once, its answer included. Known before the model is loaded.
    public var contextSize: Int { backend.contextSize }

    /// The number of tokens of a prompt.
    public nonisolated(nonsending) func tokenCount(for prompt: some PromptRepresentable) async throws -> Int {
        try await backend.tokenCount(of: prompt.promptRepresentation.segments.promptText)
    }

    /// The number of tokens of instructions.
    public nonisolated(nonsending) func tokenCount(for instructions: Instructions) async throws -> Int {
        try await backend.tokenCount(of: instructions.segments.promptText)
    }

    /// The number of tokens of the definitions of tools, as they are written into the prompt.
    public nonisolated(nonsending) func tokenCount(for tools: [any Tool]) async throws -> Int {
        guard !tools.isEmpty else { return 0 }
        return try await backend.tokenCount(of: LocalPrompt.text(of: tools.map { BoundTool($0).definition }))
    }

    /// The number of tokens of a schema, as it is written into the prompt.
    public nonisolated(nonsending) func tokenCount(for schema: GenerationSchema) async throws -> Int {
        try await backend.tokenCount(of: LocalPrompt.text(of: schema))
    }

    /// The number of tokens of a conversation, with all that the model's template puts around the entries.
    public nonisolated(nonsending) func tokenCount(
        for transcriptEntries: some Collection<Transcript.Entry>
    ) async throws -> Int {
        guard !transcriptEntries.isEmpty else { return 0 }
        return try await backend.tokenCount(of: LocalPrompt(transcript: Transcript(entries: transcriptEntries)))
    }
}

extension SystemLanguageModel {
    /// The model itself is not there.
    public enum Error: LocalizedError {
        case assetsUnavailable(AssetsUnavailable)

        public struct AssetsUnavailable: Sendable {
            public var debugDescription: String

            public init(debugDescription: String) { self.debugDescription = debugDescription }
        }

        public var errorDescription: String? { "The model is not available. \(debugDescription)" }
    }
}

extension SystemLanguageModel.Error: CustomDebugStringConvertible {
    public var debugDescription: String {
        switch self {
        case .assetsUnavailable(let details): details.debugDescription
        }
    }
}
