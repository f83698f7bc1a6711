import Foundation
import Tokenizers

extension Transformer {
    /// Loads a model by itself, without tokenizer and scheduler.
    package static func load(
        _ file: URL, threadCount: Int, contextSize: Int? = nil
    ) throws(InferenceError) -> Transformer {
        let gguf: GGUFFile
        do { gguf = try GGUFFile(file) } catch { throw .gguf(error) }
        return try load(gguf, threadCount: threadCount, contextSize: contextSize)
    }

    static func load(
        _ file: GGUFFile, threadCount: Int, contextSize: Int? = nil
    ) throws(InferenceError) -> Transformer {
        let configuration = try ModelConfiguration(file, contextSize: contextSize)
        let threads = try ThreadPool(threads: threadCount)
        let weights = try Weights.load(file, configuration: configuration, pool: threads)
        return try Transformer(configuration: configuration, weights: weights, threads: threads)
    }

    /// The logits after each token of a text, in the order of the text.
    /// - Parameters:
    ///   - chunk: How many tokens a step takes; 1 computes as decoding does.
    ///   - cacheType: How keys and values are kept between the steps.
    ///   - adapter: Made for this model.
    ///   - body: Gets the position and its logits, [vocabulary].
    package func evaluate(
        _ tokens: [TokenID], chunk: Int, cacheType: CacheType = .f16, adapter: Adapter? = nil,
        _ body: (Int, UnsafeBufferPointer<Float>) throws -> Void
    ) throws {
        guard adapter?.fits(configuration) ?? true else { throw AdapterError.otherBase }
        let cache = try KeyValueCache(configuration, type: cacheType, capacity: tokens.count)
        var logits = [Float](repeating: 0, count: configuration.vocabularySize)
        for first in stride(from: 0, to: tokens.count, by: chunk) {
            let end = min(first + chunk, tokens.count)
            var batch = Batch()
            for position in first..<end {
                batch.append(
                    Batch.Row(
                        token: tokens[position], cache: cache, position: position, wantsOutput: true, adapter: adapter))
            }
            _ = try step(batch)
            for position in first..<end {
                try logits.withUnsafeMutableBufferPointer { buffer in
                    let output = position - first
                    try computeLogits(output..<output + 1, into: buffer.baseAddress!)
                    try body(position, UnsafeBufferPointer(buffer))
                }
            }
        }
    }
}

/// How fast a model computes, for the measurements.
package struct SpeedMeter {
    private let transformer: Transformer
    private let cache: KeyValueCache
    private var position = 0

    /// - Parameter capacity: The tokens that will be computed in all.
    package init(_ transformer: Transformer, cacheType: CacheType = .f16, capacity: Int) throws {
        self.transformer = transformer
        cache = try KeyValueCache(transformer.configuration, type: cacheType, capacity: capacity)
    }

    /// All parameters of the model.
    package static func parameterCount(_ transformer: Transformer) -> Int { transformer.weights.parameterCount }

    /// The bytes of weights that one token reads.
    package static func bytesPerToken(_ transformer: Transformer) -> Int { transformer.weights.bytesPerToken }

    /// The multiplications of a token's activations by weights, outside the output head, which prefill needs for one token only.
    package static func productsPerToken(_ transformer: Transformer) -> Int { transformer.weights.productsPerToken }

    /// Goes back to a position, so that what follows is computed anew.
    package mutating func rewind(to position: Int) {
        precondition((0...self.position).contains(position))
        self.position = position
    }

    /// Computes `count` further tokens in steps of `chunk`, each step with the logits of its last token, as prefill
    /// and decoding do. What the tokens are does not matter.
    package mutating func run(_ count: Int, chunk: Int) throws {
        let vocabularySize = transformer.configuration.vocabularySize
        var logits = [Float](repeating: 0, count: vocabularySize)
        let end = position + count
        while position < end {
            let size = min(chunk, end - position)
            var batch = Batch()
            for index in 0..<size {
                let token = TokenID((position + index) * 7919 % vocabularySize)
                let isLast = position + index == end - 1 || chunk == 1
                batch.append(
                    Batch.Row(token: token, cache: cache, position: position + index, wantsOutput: isLast))
            }
            _ = try transformer.step(batch)
            if batch.outputCount > 0 {
                try logits.withUnsafeMutableBufferPointer {
                    try transformer.computeLogits(0..<1, into: $0.baseAddress!)
                }
            }
            position += size
        }
    }
}
