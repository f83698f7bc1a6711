import Foundation
import GuidedGeneration
import Inference
import JSON
import Tokenizers

/// The engine of this package as a backend.
package struct EngineBackend: LocalModelBackend {
    /// Which model file is meant; asked anew each time, for the user may fetch one or choose another while the program runs.
    let choose: @Sendable () throws -> ModelStore.Choice
    /// With a space after ',' and ':', as GeneratedContent writes its text: a restored transcript has the same tokens.
    private let grammars = GrammarCache(options: SchemaOptions(isSpaced: true, keepsIntegersReadable: true))
    private var toolCalling: ToolCallingStrategy?
    /// The most tokens of a conversation; nil: what the model was trained for.
    private var contextLimit: Int?
    /// How keys and values are kept; nil: as the settings of this machine say.
    private var cacheType: CacheType?
    private var adapter: AdapterWeights?
    /// Where `FM_SIMULATE` is looked for; nil: in the process's own.
    private var environment: [String: String]?

    init(choose: @escaping @Sendable () throws -> ModelStore.Choice) { self.choose = choose }

    /// The model that the settings and the store of this machine give.
    static let standard = EngineBackend { try ModelStore().defaultModel() }

    /// A certain file.
    package init(
        file: URL, contextLimit: Int? = nil, cacheType: CacheType? = nil, environment: [String: String]? = nil
    ) {
        self.init(named: file.path)
        self.contextLimit = contextLimit
        self.cacheType = cacheType
        self.environment = environment
    }

    /// A model by its name in the store, or by its path.
    ///
    /// - Parameter toolCalling: How tools are called, whatever the table says; for comparisons.
    package init(named name: String, toolCalling: ToolCallingStrategy? = nil) {
        self.init { .ready(try ModelStore().resolve(name)) }
        self.toolCalling = toolCalling
    }

    /// The same model with an adapter.
    func adapted(by adapter: AdapterWeights) -> EngineBackend {
        var result = self
        result.adapter = adapter
        return result
    }

    private var model: ModelStore.Model? {
        guard case .ready(let model)? = try? choose() else { return nil }
        return model
    }

    /// Why a model cannot write text, as far as the header of its file says, which is read once.
    private func fault(of model: ModelStore.Model) -> String? { (try? ModelStore())?.textFault(of: model) }

    package var identifier: String { model?.path ?? "none" }

    /// Why a test is to find the model unavailable.
    private var simulated: SystemLanguageModel.Availability.UnavailableReason? {
        (environment.map { SimulatedState.state(in: $0) } ?? SimulatedState.current)?.systemModelReason
    }

    package var availability: SystemLanguageModel.Availability {
        if let simulated { return .unavailable(simulated) }
        return switch try? choose() {
        case .ready(let model)?: fault(of: model) == nil ? .available : .unavailable(.modelNotReady)
        case .notDownloaded?, nil: .unavailable(.modelNotReady)
        case .switchedOff?: .unavailable(.appleIntelligenceNotEnabled)
        case .tooLittleMemory?: .unavailable(.deviceNotEligible)
        }
    }

    package var unavailabilityExplanation: String {
        if let simulated { return "FM_SIMULATE makes the model unavailable (\(simulated))." }
        do {
            switch try choose() {
            case .ready(let model):
                return fault(of: model).map { "The file \(model.path) \($0)." }
                    ?? "The model is there."
            case .notDownloaded(let name):
                return "The model \"\(name)\" has not been downloaded. Run: fm pull \(name)"
            case .switchedOff:
                return "The models of this machine are switched off: \"enabled\" is false in the configuration file "
                    + "\(ModelSettings.configurationPath(environment: ProcessInfo.processInfo.environment))."
            case .tooLittleMemory(let needed, let available):
                return "No model fits this machine: \(ByteText.size(needed)) of memory are needed, it has "
                    + "\(ByteText.size(available))."
            }
        } catch {
            return "\(error)"
        }
    }

    /// A file of a gigabyte or more holds a larger model.
    package var variant: SystemLanguageModel.Variant {
        (model?.size ?? 0) >= 1_000_000_000 ? .coreAdvanced3 : .core3
    }

    package var contextSize: Int {
        guard let model, let size = try? EngineLibrary.shared.contextSize(of: model.url, settings) else { return 0 }
        return size
    }

    package var supportedLanguages: Set<Locale.Language> {
        guard let model, let codes = try? EngineLibrary.shared.facts(of: model.url).languages else { return [] }
        return Set(codes.map { Locale.Language(identifier: $0) })
    }

    package var reasons: Bool {
        guard let model else { return false }
        return (try? EngineLibrary.shared.facts(of: model.url).reasons) ?? false
    }

    package func toolDialect() async throws -> ToolDialect? {
        guard let model else { return nil }
        let strategy = try toolCalling ?? EngineLibrary.shared.facts(of: model.url).toolCalling
        return strategy == .dialect ? try await engine().chatTemplate.toolDialect : nil
    }

    /// The model's file.
    var file: URL {
        get throws {
            guard simulated == nil, let model else {
                throw SystemLanguageModel.Error.assetsUnavailable(.init(debugDescription: unavailabilityExplanation))
            }
            return model.url
        }
    }

    private var settings: EngineLibrary.Settings {
        get throws {
            EngineLibrary.Settings(
                contextSize: contextLimit, cacheType: try cacheType ?? ModelStore().settings.cacheType)
        }
    }

    private func engine() async throws -> Engine {
        let file = try file
        do {
            return try await EngineLibrary.shared.engine(for: file, settings)
        } catch let error as InferenceError {
            throw SystemLanguageModel.Error.assetsUnavailable(
                .init(debugDescription: "The model \(file.path) cannot be loaded: \(error)."))
        }
    }

    package func tokenCount(of text: String) async throws -> Int {
        try await engine().tokenizer.encode(text, parsesSpecial: false, addsBOS: false).count
    }

    package func tokenCount(of prompt: LocalPrompt) async throws -> Int {
        try await engine().tokens(of: prompt, addsGenerationPrompt: false, isBounded: false).count
    }

    /// A conversation as the tokens that the model reads.
    package func tokens(of prompt: LocalPrompt) async throws -> [TokenID] {
        try await engine().tokens(of: prompt, addsGenerationPrompt: true)
    }

    package func prewarm(_ prompts: [LocalPrompt]) {
        Task.detached(priority: .utility) {
            // A prewarm that fails shows its error when a request is made.
            guard let engine = try? await engine(), let tokens = try? await beginning(of: prompts), !tokens.isEmpty
            else { return }
            try await engine.prewarm(tokens, adapter: loadedAdapter())
        }
    }

    /// The tokens that all of some prompts begin with.
    package func beginning(of prompts: [LocalPrompt]) async throws -> [TokenID] {
        var common: [TokenID]?
        for prompt in prompts {
            let tokens = try await tokens(of: prompt)
            common = common.map { zip($0, tokens).prefix { $0 == $1 }.map(\.0) } ?? tokens
        }
        return common ?? []
    }

    package func generate(_ generation: LocalGeneration) -> AsyncThrowingStream<LocalGenerationEvent, any Error> {
        let (stream, continuation) = AsyncThrowingStream<LocalGenerationEvent, any Error>.makeStream()
        let task = Task {
            do {
                let engine = try await engine()
                var request = GenerationRequest(
                    prompt: try engine.tokens(of: generation.prompt, addsGenerationPrompt: true),
                    sampling: Sampling(generation.options, isConstrained: generation.constraint.isConstrained),
                    maximumTokens: generation.options.maximumResponseTokens)
                request.adapter = try await loadedAdapter()
                request.matcher = try matcher(for: generation.constraint, engine)
                for try await event in engine.generate(request) {
                    switch event {
                    case .promptProcessed(let total, let cached):
                        continuation.yield(.promptProcessed(total: total, cached: cached))
                    case .text(let text, let count): continuation.yield(.text(text, tokenCount: count))
                    case .logprobs: break
                    case .finished(let reason, let usage):
                        continuation.yield(
                            .finished(outputTokenCount: usage.generatedTokens, wasCut: reason == .maximumTokens))
                    }
                }
                try Task.checkCancellation()
                continuation.finish()
            } catch InferenceError.contextSizeExceeded(let count, let size) {
                continuation.finish(throwing: LocalContextOverflow(tokenCount: count, contextSize: size))
            } catch InferenceError.promptTooLong(let least, let size) {
                continuation.finish(
                    throwing: LocalContextOverflow(tokenCount: least, contextSize: size, isLeast: true))
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    /// The adapter in memory, where there is one.
    private func loadedAdapter() async throws -> Adapter? { try await adapter?.adapter(for: file) }

    private func matcher(for constraint: LocalGeneration.Constraint, _ engine: Engine) throws -> Matcher? {
        switch constraint {
        case .none: return nil
        case .choice(let texts): return Matcher(try Grammar.choice(texts), trie: engine.tokenTrie)
        case .schema(let schema):
            do throws(GrammarError) {
                return Matcher(try grammars.grammar(for: schema.enforcedSchema), trie: engine.tokenTrie)
            } catch {
                throw LanguageModelError.unsupportedGenerationGuide(
                    .init(schemaName: schema.name, debugDescription: "\(error)"))
            }
        }
    }
}

extension LocalGeneration.Constraint {
    fileprivate var isConstrained: Bool {
        if case .none = self { false } else { true }
    }
}

extension Sampling {
    /// What the options say, and where they are silent, what suits a small model: close to its likeliest words.
    fileprivate init(_ options: GenerationOptions, isConstrained: Bool) {
        switch options.samplingMode?.kind {
        case .greedy?: self = .greedy
        case .randomTopK(let count, let seed)?:
            self.init(mode: .topK(count), temperature: options.temperature ?? 1, seed: seed)
        case .randomProbabilityThreshold(let threshold, let seed)?:
            self =
                threshold > 0
                ? Sampling(mode: .topP(threshold), temperature: options.temperature ?? 1, seed: seed) : .greedy
        case nil:
            self.init(mode: .topP(0.9), temperature: options.temperature ?? 0.7)
        }
    }
}

extension Engine {
    /// A conversation as tokens, by the model's template.
    fileprivate func tokens(
        of prompt: LocalPrompt, addsGenerationPrompt: Bool, isBounded: Bool = true
    ) throws(InferenceError) -> [TokenID] {
        try tokens(
            of: prompt.messages, tools: prompt.tools, thinks: prompt.thinks, addsGenerationPrompt: addsGenerationPrompt,
            isBounded: isBounded)
            + prompt.answer.flatMap { tokenizer.encode($0.text, parsesSpecial: $0.isOfTemplate, addsBOS: false) }
    }
}
