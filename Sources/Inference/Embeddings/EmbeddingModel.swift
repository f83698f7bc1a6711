import Dispatch
import Foundation
import Tokenizers

/// A loaded model that makes vectors of texts, so that texts which mean the same have vectors of about the same direction.
///
/// It computes on the thread that asks and on those of its pool, for one request at a time.
package final class EmbeddingModel: Sendable {
    package let tokenizer: Tokenizer
    /// The most tokens of a text.
    package let contextSize: Int
    package let description: ModelDescription
    /// The numbers of a vector.
    package let width: Int

    private let worker: Worker

    private init(
        tokenizer: Tokenizer, configuration: ModelConfiguration, description: ModelDescription, encoder: Encoder
    ) {
        self.tokenizer = tokenizer
        contextSize = configuration.trainedContextSize
        width = configuration.width
        self.description = description
        worker = Worker(encoder)
    }

    /// Loads a GGUF file. Takes as long as reading the file does and blocks its thread.
    ///
    /// - Parameter threadCount: The threads that compute; nil: one for each processor that the process may use.
    package static func load(_ file: URL, threadCount: Int? = nil) throws(InferenceError) -> EmbeddingModel {
        let options = EngineOptions(threadCount: threadCount)
        try options.validate()
        let gguf: GGUFFile
        do { gguf = try GGUFFile(file) } catch { throw .gguf(error) }
        let configuration = try ModelConfiguration(gguf, purpose: .embeddings)
        try checkPooling(gguf, configuration)
        let tokenizer: Tokenizer
        let description = try gguf.tokenizerDescription()
        do throws(TokenizerError) { tokenizer = try Tokenizer(description) } catch { throw .tokenizer(error) }
        let threads = try ThreadPool(threads: options.resolvedThreadCount)
        let weights = try EncoderWeights(gguf, configuration: configuration, pool: threads)
        return EmbeddingModel(
            tokenizer: tokenizer, configuration: configuration,
            description: ModelDescription(
                gguf, configuration, cacheType: .f16, parameterCount: weights.parameterCount),
            encoder: Encoder(configuration: configuration, weights: weights, threads: threads))
    }

    /// Refuses files that want their states put together in a way that is not the one here.
    private static func checkPooling(
        _ file: GGUFFile, _ configuration: ModelConfiguration
    ) throws(InferenceError) {
        let keys = ModelConfiguration.Keys(file: file, prefix: configuration.architecture.name)
        // 1: the mean, as llama.cpp numbers them.
        if let pooling = try keys.optionalInteger("pooling_type", in: 0...16), pooling != 1 {
            throw .invalidMetadata(
                key: keys.name("pooling_type"), reason: "\(pooling) is not supported; 1, the mean, is")
        }
        if try file.optional(keys.name("attention.causal"), as: "a Boolean", \.boolValue) == true {
            throw .invalidMetadata(
                key: keys.name("attention.causal"),
                reason: "an encoder whose tokens see only those before them is not supported")
        }
    }

    /// The tokens of a text with those that the model wants before and after it.
    package func tokens(of text: String) -> [TokenID] {
        tokenizer.encode(text, parsesSpecial: false, addsBOS: true, addsEOS: true)
    }

    /// Rows that are computed at a time, unless one text has more.
    private static let batchRows = 512

    /// One vector for each text, of length 1. Blocks its thread until all are there.
    ///
    /// - Parameters:
    ///   - texts: Tokens as `tokens(of:)` makes them.
    ///   - dimensions: How many numbers a vector shall have, up to `width`. Fewer are for models that were trained so that the
    ///     first say most (Matryoshka representations, https://arxiv.org/abs/2205.13147): the mean and the variance of the
    ///     whole vector are taken away, as the publishers of nomic-embed-text-v1.5 do it, then the first are kept.
    ///   - isCancelled: Asked many times a second.
    /// - Returns: Nil when the work was given up.
    package func vectors(
        of texts: [[TokenID]], dimensions: Int? = nil, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(InferenceError) -> [[Float]]? {
        if let dimensions, !(1...width).contains(dimensions) {
            throw .invalidOption(name: "dimensions", reason: "\(dimensions) is not between 1 and \(width)")
        }
        for text in texts {
            guard !text.isEmpty else { throw .emptyPrompt }
            guard text.count <= contextSize else {
                throw .contextSizeExceeded(tokenCount: text.count, contextSize: contextSize)
            }
            if let token = text.first(where: { $0 < 0 || Int($0) >= description.vocabularySize }) {
                throw .invalidToken(token, vocabularySize: description.vocabularySize)
            }
        }
        // Texts of about the same length beside each other; the order of the request in the end.
        var vectors = [[Float]](repeating: [], count: texts.count)
        let order = texts.indices.sorted { texts[$0].count < texts[$1].count }
        var start = 0
        while start < order.count {
            var end = start
            var rows = 0
            while end < order.count, end == start || rows + texts[order[end]].count <= Self.batchRows {
                rows += texts[order[end]].count
                end += 1
            }
            let batch = Array(order[start..<end])
            guard let means = try worker.means(batch.map { texts[$0] }, isCancelled) else { return nil }
            for (index, mean) in zip(batch, means) {
                vectors[index] = try Self.normalized(mean, dimensions: dimensions)
            }
            start = end
        }
        return vectors
    }

    private static func normalized(_ mean: [Float], dimensions: Int?) throws(InferenceError) -> [Float] {
        var vector = mean.map(Double.init)
        if let dimensions, dimensions < vector.count {
            let average = vector.reduce(0, +) / Double(vector.count)
            let variance = vector.reduce(0) { $0 + ($1 - average) * ($1 - average) } / Double(vector.count)
            vector = vector.prefix(dimensions).map { ($0 - average) / (variance + 1e-5).squareRoot() }
        }
        let length = vector.reduce(0) { $0 + $1 * $1 }.squareRoot()
        guard length.isFinite else { throw .notFinite }
        return vector.map { Float(length > 0 ? $0 / length : 0) }
    }
}

/// Lets one thread at a time compute, in the order of their coming; between the batches of one request those of others have
/// their turn.
private final class Worker: @unchecked Sendable {
    private let queue = DispatchQueue(label: "embeddings")
    // Touched on the queue alone.
    private let encoder: Encoder

    init(_ encoder: Encoder) { self.encoder = encoder }

    func means(_ texts: [[TokenID]], _ isCancelled: () -> Bool) throws(InferenceError) -> [[Float]]? {
        let result = queue.sync {
            Result { () throws(InferenceError) in
                try isCancelled() ? nil : encoder.means(texts, isCancelled: isCancelled)
            }
        }
        return try result.get()
    }
}
