import Foundation
import GuidedGeneration
import Synchronization
import Tokenizers

/// One loaded model that generates texts: weights, tokenizer, chat template, its own threads and the cache of what has
/// been computed.
///
/// Requests come from any task. They are computed on one thread of the engine's own, which calls the kernels' pool, so
/// that Swift's cooperative threads never compute. The last reference to an engine ends its thread.
package final class Engine: Sendable {
    package let tokenizer: Tokenizer
    /// How conversations become prompts: the file's own template, or ChatML for a file that has none.
    package let chatTemplate: ChatTemplate
    /// The most tokens of prompt and answer together.
    package let contextSize: Int
    package let description: ModelDescription

    /// How the model is brought to think; nil when it does not.
    package let thinking: ChatThinking?

    private let configuration: ModelConfiguration
    private let scheduler: Scheduler
    private let trie: LazyTokenTrie

    private init(
        tokenizer: Tokenizer, chatTemplate: ChatTemplate, contextSize: Int, description: ModelDescription,
        configuration: ModelConfiguration, scheduler: Scheduler
    ) {
        self.tokenizer = tokenizer
        self.chatTemplate = chatTemplate
        thinking = chatTemplate.thinking
        self.contextSize = contextSize
        self.description = description
        self.configuration = configuration
        self.scheduler = scheduler
        trie = LazyTokenTrie(tokenizer, vocabularySize: description.vocabularySize)
    }

    deinit { scheduler.stop() }

    /// Loads a GGUF file. The tokenizer is made while the weights are read.
    ///
    /// Takes as long as reading the file does and blocks its thread: call it where that does no harm.
    package static func load(
        _ file: URL, options: EngineOptions = EngineOptions(), trace: Trace? = .shared
    ) throws(InferenceError) -> Engine {
        try options.validate()
        let start = trace?.now
        let gguf: GGUFFile
        do { gguf = try GGUFFile(file) } catch { throw .gguf(error) }
        let contextSize = try options.resolvedContextSize(ModelConfiguration(gguf))
        let configuration = try ModelConfiguration(gguf, contextSize: contextSize)

        let tokenizerWork = BackgroundWork<Tokenizer, InferenceError> { () throws(InferenceError) in
            let description = try gguf.tokenizerDescription()
            do throws(TokenizerError) { return try Tokenizer(description) } catch { throw .tokenizer(error) }
        }
        let weights = Result { () throws(InferenceError) in
            let threads = try ThreadPool(threads: options.resolvedThreadCount)
            return (try Weights.load(gguf, configuration: configuration, pool: threads), threads)
        }
        // Waited for in any case, so that no thread outlives a failed load.
        let tokenizerResult = Result { () throws(InferenceError) in try tokenizerWork.wait() }
        let (loadedWeights, threads) = try weights.get()
        let tokenizer = try tokenizerResult.get()

        let transformer = try Transformer(configuration: configuration, weights: loadedWeights, threads: threads)
        let snapshots = options.prefixFolder.flatMap { folder in
            SnapshotKey(gguf, configuration, options.cacheType).map { key in
                PrefixSnapshots(
                    folder: folder, limit: options.prefixFolderLimit, key: key, contextSize: contextSize, trace: trace)
            }
        }
        let engine = Engine(
            tokenizer: tokenizer, chatTemplate: try ChatTemplate(gguf, tokenizer: tokenizer),
            contextSize: contextSize,
            description: ModelDescription(
                gguf, configuration, cacheType: options.cacheType, parameterCount: loadedWeights.parameterCount),
            configuration: configuration,
            scheduler: Scheduler(
                transformer, tokenizer: tokenizer, contextSize: contextSize, options: options, snapshots: snapshots,
                trace: trace))
        if let trace, let start {
            trace.span(
                "load", .load, from: start,
                [
                    ("model", .init(engine.description.name)), ("bytes", .init(gguf.fileSize)),
                    ("threads", .init(threads.threadCount)), ("context", .init(contextSize)),
                ])
            trace.flush()
        }
        return engine
    }

    /// Generates one text. The stream's end, or the end of the task that reads it, stops the computation within one
    /// layer of the model.
    package func generate(_ request: GenerationRequest) -> AsyncThrowingStream<GenerationEvent, any Error> {
        let (stream, continuation) = AsyncThrowingStream<GenerationEvent, any Error>.makeStream()
        do {
            try validate(request)
        } catch {
            continuation.finish(throwing: error)
            return stream
        }
        let job = GenerationJob(request, continuation, engine: self)
        continuation.onTermination = { [weak scheduler] _ in
            job.cancel()
            scheduler?.wake()
        }
        scheduler.submit(job)
        return stream
    }

    /// Computes a prompt, so that requests which begin with it are spared that, and writes it to the engine's folder of
    /// prefixes, if it has one. Returns when both is done.
    /// - Parameter adapter: With which they will be made.
    package func prewarm(_ prompt: [TokenID], adapter: Adapter? = nil) async throws {
        var request = GenerationRequest(prompt: prompt)
        request.adapter = adapter
        request.isPrewarm = true
        for try await _ in generate(request) {}
        try Task.checkCancellation()
    }

    /// The vocabulary as constraints need it, made at the first call.
    package var tokenTrie: TokenTrie { trie.value }

    private func validate(_ request: GenerationRequest) throws(InferenceError) {
        guard !request.prompt.isEmpty else { throw .emptyPrompt }
        let size = description.vocabularySize
        if let token = request.prompt.first(where: { $0 < 0 || Int($0) >= size }) {
            throw .invalidToken(token, vocabularySize: size)
        }
        if let adapter = request.adapter, !adapter.fits(configuration) { throw .adapter(.otherBase) }
        try request.sampling.validate()
        if let maximum = request.maximumTokens, maximum < 1 { throw .invalidMaximumTokens(maximum) }
        // One token at least must fit behind the prompt.
        guard request.prompt.count < contextSize else {
            throw .contextSizeExceeded(tokenCount: request.prompt.count + 1, contextSize: contextSize)
        }
    }
}

/// The token trie of a vocabulary, made when it is first asked for: models that only generate free text need none.
private final class LazyTokenTrie: Sendable {
    private let tokenizer: Tokenizer
    private let vocabularySize: Int
    private let trie = Mutex<TokenTrie?>(nil)

    init(_ tokenizer: Tokenizer, vocabularySize: Int) {
        self.tokenizer = tokenizer
        self.vocabularySize = vocabularySize
    }

    var value: TokenTrie {
        trie.withLock { trie in
            if let trie { return trie }
            // Rows of the head beyond the vocabulary are padding: no bytes, never allowed.
            var tokens = [[UInt8]](repeating: [], count: vocabularySize)
            for token in 0..<tokenizer.count where !tokenizer.isControl(TokenID(token)) {
                tokens[token] = tokenizer.bytes(of: TokenID(token))
            }
            let made = TokenTrie(tokens: tokens, stopTokens: tokenizer.stopTokens)
            trie = made
            return made
        }
    }
}
