import CKernels
import Tokenizers

/// An encoder-only transformer: the block of `Architecture.encoders` repeated, on the kernels. One thread at a time may call
/// it.
final class Encoder {
    private let configuration: ModelConfiguration
    private let weights: EncoderWeights
    private let threads: ThreadPool

    /// Rows that go through the feed-forward part at a time, whose activations are the widest.
    private static let feedForwardRows = 256

    init(configuration: ModelConfiguration, weights: EncoderWeights, threads: ThreadPool) {
        self.configuration = configuration
        self.weights = weights
        self.threads = threads
    }

    private var pool: OpaquePointer { threads.pool }
    private var width: Int { configuration.width }

    /// The means of the final states of some texts. [texts, width]
    ///
    /// The texts are computed together: each row of a product belongs to one of them, and attention stays within each.
    /// - Parameters:
    ///   - texts: Tokens, at least one each, all of the vocabulary.
    ///   - isCancelled: Asked before each layer.
    /// - Returns: Nil when the work was given up.
    func means(_ texts: [[TokenID]], isCancelled: () -> Bool) throws(InferenceError) -> [[Float]]? {
        let activations = try Activations(configuration, texts, feedForwardRows: Self.feedForwardRows)
        let state = activations.state
        let rows = activations.rows
        ck_embed(pool, weights.embedding, activations.tokenIDs, Int64(rows), 1, state)
        if let tokenType = weights.tokenType {
            for row in 0..<rows { ck_add(pool, state + row * width, tokenType, Int64(width)) }
        }
        normalize(state, weights.embeddingNorm, rows)
        for layer in weights.layers {
            if isCancelled() { return nil }
            try attend(layer, activations)
            normalize(state, layer.attentionNorm, rows)
            for first in stride(from: 0, to: rows, by: Self.feedForwardRows) {
                let count = min(Self.feedForwardRows, rows - first)
                try feedForward(layer, activations, state + first * width, count)
            }
            normalize(state, layer.outputNorm, rows)
        }
        return activations.texts.map { mean(state + $0.lowerBound * width, $0.count) }
    }

    /// state += W · attention(W · state)
    private func attend(_ layer: EncoderWeights.Layer, _ activations: Activations) throws(InferenceError) {
        let stride = activations.projectionWidth
        let query = activations.projection
        let key = query + configuration.queryWidth
        let value = key + configuration.keyValueWidth
        try layer.queryKeyValue.multiply(
            pool, activations.state, width, into: [query, key, value], stride, activations.rows)
        for (vectors, headCount) in [(query, configuration.headCount), (key, configuration.keyValueHeadCount)] {
            ck_rope(
                pool, vectors, Int64(stride), Int64(activations.rows), Int32(headCount),
                Int32(configuration.headWidth), activations.ropeTable,
                Int32(configuration.rope.frequencies.count), configuration.rope.pairing.kernelStyle)
        }
        ck_cache_store(
            pool, key, Int64(stride), value, Int64(stride), activations.tokens, Int64(activations.rows),
            Int32(configuration.keyValueHeadCount), Int32(configuration.headWidth))
        let shape = ck_attention_shape(
            heads: Int32(configuration.headCount), kv_heads: Int32(configuration.keyValueHeadCount),
            head_dim: Int32(configuration.headWidth), scale: configuration.attentionScale, soft_cap: 0, window: 0)
        for text in activations.texts {
            let first = query + text.lowerBound * stride
            guard
                ck_attention_to_all(
                    pool, first, Int64(stride), activations.tokens + text.lowerBound, Int64(text.count),
                    Int64(text.count), shape, first, Int64(stride))
            else { throw .outOfMemory(bytes: 0, purpose: "attention") }
        }
        try [layer.attentionOutput].multiply(
            pool, query, stride, into: [activations.state], width, activations.rows, accumulates: true)
    }

    /// state += W · (silu(gate) · up)
    private func feedForward(
        _ layer: EncoderWeights.Layer, _ activations: Activations, _ state: UnsafeMutablePointer<Float>, _ rows: Int
    ) throws(InferenceError) {
        let inner = configuration.feedForwardWidth
        let gate = activations.gateUp
        let up = gate + inner
        let stride = 2 * inner
        try layer.gateUp.multiply(pool, state, width, into: [gate, up], stride, rows)
        ck_silu_multiply(
            pool, gate, Int64(stride), up, Int64(stride), Int64(rows), Int64(inner), gate, Int64(stride))
        try [layer.down].multiply(pool, gate, stride, into: [state], width, rows, accumulates: true)
    }

    private func normalize(_ x: UnsafeMutablePointer<Float>, _ norm: EncoderWeights.Norm, _ rows: Int) {
        ck_layer_norm(
            pool, x, Int64(width), norm.weight, norm.bias, configuration.normEpsilon, Int64(rows), Int64(width), x,
            Int64(width))
    }

    /// Adds the rows up in the first of them and divides.
    private func mean(_ rows: UnsafeMutablePointer<Float>, _ count: Int) -> [Float] {
        for row in 1..<max(1, count) { ck_add(pool, rows, rows + row * width, Int64(width)) }
        ck_scale(pool, rows, 1 / Float(count), Int64(width))
        return Array(UnsafeBufferPointer(start: rows, count: width))
    }
}

/// The activations of some texts, one after the other, in one allocation.
private final class Activations {
    let rows: Int
    /// The rows of each text.
    let texts: [Range<Int>]
    /// The residual stream. [rows, width]
    let state: UnsafeMutablePointer<Float>
    /// Queries, keys and values side by side. [rows, projectionWidth]
    let projection: UnsafeMutablePointer<Float>
    let projectionWidth: Int
    /// Gate and up side by side, of some rows. [feed-forward rows, 2 · feed-forward]
    let gateUp: UnsafeMutablePointer<Float>
    /// Cosines and sines. [rows, pairs, 2]
    let ropeTable: UnsafeMutablePointer<Float>
    let tokenIDs: UnsafeMutablePointer<Int32>
    /// Each with the keys and values of its text, which every layer writes anew.
    let tokens: UnsafeMutablePointer<ck_token>

    private let memory: UnsafeMutableRawBufferPointer
    private let caches: UnsafeMutablePointer<ck_cache>

    init(_ configuration: ModelConfiguration, _ texts: [[TokenID]], feedForwardRows: Int) throws(InferenceError) {
        var ranges: [Range<Int>] = []
        for text in texts {
            let start = ranges.last?.upperBound ?? 0
            ranges.append(start..<start + text.count)
        }
        self.texts = ranges
        let rows = ranges.last?.upperBound ?? 0
        self.rows = rows
        projectionWidth = configuration.queryWidth + 2 * configuration.keyValueWidth
        let pairs = configuration.rope.frequencies.count
        let capacities = texts.map { ($0.count + Int(CK_CACHE_BLOCK) - 1) / Int(CK_CACHE_BLOCK) * Int(CK_CACHE_BLOCK) }
        // Of the keys, or values, of each text.
        let cacheBytes = capacities.map {
            ck_cache_bytes(CK_F16, Int64(configuration.keyValueHeadCount), Int64(configuration.headWidth), Int64($0))
        }
        // In bytes.
        let sizes =
            [
                rows * configuration.width * 4, rows * projectionWidth * 4,
                min(rows, feedForwardRows) * 2 * configuration.feedForwardWidth * 4, rows * pairs * 2 * 4, rows * 4,
                rows * 4, rows * MemoryLayout<ck_token>.stride,
            ] + cacheBytes.map { 2 * $0 }
        var offsets: [Int] = []
        var byteCount = 0
        for size in sizes {
            offsets.append(byteCount)
            byteCount = (byteCount + size + 63) & ~63
        }
        guard let base = ck_allocate(byteCount) else { throw .outOfMemory(bytes: byteCount, purpose: "activations") }
        memory = UnsafeMutableRawBufferPointer(start: base, count: byteCount)
        func numbers<Number>(_ part: Int, _ type: Number.Type) -> UnsafeMutablePointer<Number> {
            (base + offsets[part]).assumingMemoryBound(to: type)
        }
        state = numbers(0, Float.self)
        projection = numbers(1, Float.self)
        gateUp = numbers(2, Float.self)
        ropeTable = numbers(3, Float.self)
        tokenIDs = numbers(4, Int32.self)
        let positions = numbers(5, Int32.self)
        tokens = (base + offsets[6]).bindMemory(to: ck_token.self, capacity: rows)
        caches = .allocate(capacity: texts.count)
        var row = 0
        for (index, text) in texts.enumerated() {
            let keys = base + offsets[7 + index]
            (caches + index).initialize(
                to: ck_cache(
                    keys: keys, values: keys + cacheBytes[index], capacity: Int64(capacities[index]), type: CK_F16))
            for (position, token) in text.enumerated() {
                tokenIDs[row] = token
                positions[row] = Int32(position)
                tokens[row] = ck_token(cache: caches + index, position: Int64(position))
                row += 1
            }
        }
        ck_rope_table(
            positions, Int64(rows), configuration.rope.frequencies, Int32(pairs), configuration.rope.magnitude,
            ropeTable)
    }

    deinit {
        ck_free(memory.baseAddress, memory.count)
        caches.deallocate()
    }
}
