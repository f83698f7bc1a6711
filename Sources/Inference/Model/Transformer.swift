import CKernels
import Tokenizers

/// A decoder-only transformer: the block of `Architecture` repeated, on the kernels. One thread at a time may call it.
package final class Transformer {
    package let configuration: ModelConfiguration
    let weights: Weights
    let threads: ThreadPool
    private var scratch: Scratch
    private let adaptation = Adaptation()

    init(configuration: ModelConfiguration, weights: Weights, threads: ThreadPool) throws(InferenceError) {
        self.configuration = configuration
        self.weights = weights
        self.threads = threads
        scratch = try Scratch(configuration, rows: 1)
    }

    private var pool: OpaquePointer { threads.pool }
    private var width: Int { configuration.width }

    /// Computes a batch and stores its keys and values in its sequences' caches, which must have room for them.
    ///
    /// Afterwards `computeLogits` answers for the rows that want their output. What a step has stored before it was
    /// given up does no harm: it is stored anew when the same positions are computed again.
    ///
    /// - Parameter isCancelled: Asked before each part of a layer.
    /// - Returns: False when the step was given up.
    func step(_ batch: Batch, isCancelled: () -> Bool = { false }) throws(InferenceError) -> Bool {
        let count = batch.rows.count
        precondition(count > 0)
        if count > scratch.rows { scratch = try Scratch(configuration, rows: count) }
        scratch.fill(batch, configuration)
        adaptation.begin(batch)
        ck_embed(
            pool, weights.embedding, scratch.tokenIDs, Int64(count), configuration.embeddingScale, scratch.state)

        var rowCount = count
        for (index, layer) in weights.layers.enumerated() {
            if isCancelled() { return false }
            scratch.select(layer: index, of: batch)
            adaptation.select(layer: index)
            try project(layer, configuration.layers[index], rowCount)
            if index == configuration.layerCount - 1, batch.outputCount < count {
                // Of the last layer, only rows whose output is wanted need more than their keys and values.
                rowCount = scratch.keepOutputRows(of: batch, width: width, queryWidth: configuration.queryWidth)
                if rowCount == 0 { return true }
                adaptation.keepOutputRows()
            }
            if isCancelled() { return false }
            try attend(layer, configuration.layers[index], rowCount)
            if isCancelled() { return false }
            guard try feedForward(layer, rowCount, isCancelled) else { return false }
        }
        normalize(scratch.state, weights.outputNorm, rowCount)
        try requireNumbers(scratch.normalized, rowCount * width)
        return true
    }

    /// What a damaged weight makes of a row is no number from there on: products, norms and attention all pass it on, into the
    /// cache as well. So it shows in the last state of that row or of one that reads it.
    private func requireNumbers(_ values: UnsafePointer<Float>, _ count: Int) throws(InferenceError) {
        guard ck_all_finite(values, Int64(count)) else { throw .notFinite }
    }

    /// Queries, keys and values of the rows; keys and values go into the caches.
    private func project(
        _ layer: Weights.Layer, _ layerConfiguration: ModelConfiguration.LayerConfiguration, _ rowCount: Int
    ) throws(InferenceError) {
        let queryWidth = configuration.queryWidth
        let keyValueWidth = configuration.keyValueWidth
        let stride = scratch.projectionWidth
        // [rows, heads · head width], likewise with key-value heads
        let query = scratch.projection
        let key = query + queryWidth
        let value = key + keyValueWidth

        normalize(scratch.state, layer.attentionNorm, rowCount)
        try multiply(
            scratch.normalized, width, layer.queryKeyValue, \.queryKeyValue, into: [query, key, value], stride, rowCount
        )
        if let queryNorm = layer.queryNorm, let keyNorm = layer.keyNorm {
            normalizeHeads(query, queryNorm, configuration.headCount, rowCount)
            normalizeHeads(key, keyNorm, configuration.keyValueHeadCount, rowCount)
        }
        if layerConfiguration.usesRoPE {
            let isSliding = layerConfiguration.window != nil
            let rope = isSliding ? configuration.slidingRoPE : configuration.rope
            let table = isSliding ? scratch.slidingRoPETable : scratch.ropeTable
            for (vectors, headCount) in [(query, configuration.headCount), (key, configuration.keyValueHeadCount)] {
                ck_rope(
                    pool, vectors, Int64(stride), Int64(rowCount), Int32(headCount), Int32(configuration.headWidth),
                    table, Int32(rope.frequencies.count), rope.pairing.kernelStyle)
            }
        }
        if let centre = layer.negatedKeyCentre, scratch.tokens[0].cache.pointee.type == CK_Q8_0 {
            for row in 0..<rowCount { ck_add(pool, key + row * stride, centre, Int64(centre.count)) }
        }
        ck_cache_store(
            pool, key, Int64(stride), value, Int64(stride), scratch.tokens, Int64(rowCount),
            Int32(configuration.keyValueHeadCount), Int32(configuration.headWidth))
    }

    /// state += W · attention(queries)
    private func attend(
        _ layer: Weights.Layer, _ layerConfiguration: ModelConfiguration.LayerConfiguration, _ rowCount: Int
    ) throws(InferenceError) {
        let shape = ck_attention_shape(
            heads: Int32(configuration.headCount), kv_heads: Int32(configuration.keyValueHeadCount),
            head_dim: Int32(configuration.headWidth), scale: configuration.attentionScale,
            soft_cap: configuration.attentionSoftCap ?? 0, window: Int64(layerConfiguration.window ?? 0))
        let stride = Int64(scratch.projectionWidth)
        guard
            ck_attention(
                pool, scratch.projection, stride, scratch.tokens, Int64(rowCount), shape, scratch.projection, stride)
        else { throw .outOfMemory(bytes: 0, purpose: "attention") }
        try addBranch(
            scratch.projection, scratch.projectionWidth, layer.attentionOutput, \.attentionOutput,
            postNorm: layer.postAttentionNorm, rowCount)
    }

    /// state += W · (activation(gate) · up)
    /// - Returns: False when it was given up.
    private func feedForward(
        _ layer: Weights.Layer, _ rowCount: Int, _ isCancelled: () -> Bool
    ) throws(InferenceError) -> Bool {
        let inner = configuration.feedForwardWidth
        let gate = scratch.gateUp
        let up = gate + inner
        let stride = 2 * inner
        normalize(scratch.state, layer.feedForwardNorm, rowCount)
        try multiply(scratch.normalized, width, layer.gateUp, \.gateUp, into: [gate, up], stride, rowCount)
        let activate =
            switch configuration.architecture.activation {
            case .silu: ck_silu_multiply
            case .gelu: ck_gelu_multiply
            }
        activate(
            pool, gate, Int64(stride), up, Int64(stride), Int64(rowCount), Int64(inner), gate, Int64(stride))
        if isCancelled() { return false }
        try addBranch(gate, stride, layer.down, \.down, postNorm: layer.postFeedForwardNorm, rowCount)
        return true
    }

    /// state += scale · postNorm(W · input)
    private func addBranch(
        _ input: UnsafePointer<Float>, _ stride: Int, _ linear: Weights.Linear,
        _ adapted: KeyPath<Adapter.Layer, [Adapter.Change?]>, postNorm: UnsafePointer<Float>?, _ rowCount: Int
    ) throws(InferenceError) {
        guard postNorm != nil || configuration.residualScale != 1 else {
            return try multiply(
                input, stride, [linear], adapted, into: [scratch.state], width, rowCount, accumulates: true)
        }
        try multiply(input, stride, [linear], adapted, into: [scratch.branch], width, rowCount)
        if let postNorm {
            ck_rms_norm(
                pool, scratch.branch, Int64(width), postNorm, configuration.normEpsilon, Int64(rowCount), Int64(width),
                scratch.branch, Int64(width))
        }
        if configuration.residualScale != 1 {
            ck_scale(pool, scratch.branch, configuration.residualScale, Int64(rowCount * width))
        }
        ck_add(pool, scratch.state, scratch.branch, Int64(rowCount * width))
    }

    // MARK: Output head

    /// The logits of rows of the last step that wanted their output, over the whole vocabulary.
    /// - Parameters:
    ///   - outputs: Which of those rows, counted in the order of the batch.
    ///   - logits: [outputs, vocabulary]
    func computeLogits(_ outputs: Range<Int>, into logits: UnsafeMutablePointer<Float>) throws(InferenceError) {
        let vocabularySize = configuration.vocabularySize
        var product = ck_product(
            matrix: weights.head, y: logits, y_stride: Int64(vocabularySize), bias: nil, accumulates: false)
        guard
            ck_matmul(
                pool, scratch.normalized + outputs.lowerBound * width, Int64(width), Int64(outputs.count), &product, 1)
        else { throw .outOfMemory(bytes: 0, purpose: "the output head") }
        try adaptation.addLogits(
            pool, scratch.normalized + outputs.lowerBound * width, width, outputs, to: logits, vocabularySize)
        try finishLogits(logits, outputs.count * vocabularySize)
    }

    /// The logits of some tokens for one row.
    /// - Parameters:
    ///   - tokens: In ascending order.
    ///   - logits: [tokens]
    func computeLogits(
        _ output: Int, of tokens: [TokenID], into logits: UnsafeMutablePointer<Float>
    ) throws(InferenceError) {
        guard
            ck_matmul_rows(
                pool, scratch.normalized + output * width, weights.head, nil, tokens, Int64(tokens.count), logits)
        else { throw .outOfMemory(bytes: 0, purpose: "the output head") }
        try adaptation.addLogits(pool, scratch.normalized + output * width, width, output, of: tokens, to: logits)
        try finishLogits(logits, tokens.count)
    }

    private func finishLogits(_ logits: UnsafeMutablePointer<Float>, _ count: Int) throws(InferenceError) {
        try requireNumbers(logits, count)
        if configuration.logitScale != 1 { ck_scale(pool, logits, configuration.logitScale, Int64(count)) }
        if let cap = configuration.logitSoftCap { ck_soft_cap(pool, logits, cap, Int64(count)) }
    }

    // MARK: Parts

    /// normalized = norm(x) · weight
    private func normalize(_ x: UnsafePointer<Float>, _ weight: UnsafePointer<Float>, _ rowCount: Int) {
        ck_rms_norm(
            pool, x, Int64(width), weight, configuration.normEpsilon, Int64(rowCount), Int64(width),
            scratch.normalized, Int64(width))
    }

    /// heads = norm(heads) · weight, each head by itself.
    private func normalizeHeads(
        _ heads: UnsafeMutablePointer<Float>, _ weight: UnsafePointer<Float>, _ headCount: Int, _ rowCount: Int
    ) {
        let headWidth = configuration.headWidth
        let stride = scratch.projectionWidth
        func normalize(_ x: UnsafeMutablePointer<Float>, _ count: Int, stride: Int) {
            ck_rms_norm(
                pool, x, Int64(stride), weight, configuration.normEpsilon, Int64(count), Int64(headWidth), x,
                Int64(stride))
        }
        // One call for whatever there is more of: the heads of a row, or the rows of a head.
        if rowCount > headCount {
            for head in 0..<headCount { normalize(heads + head * headWidth, rowCount, stride: stride) }
        } else {
            for row in 0..<rowCount { normalize(heads + row * stride, headCount, stride: headWidth) }
        }
    }

    /// outputs = W x + b for matrices on the same input, with what adapters add.
    /// - Parameter adapted: The matrices as adapters know them.
    private func multiply(
        _ input: UnsafePointer<Float>, _ inputStride: Int, _ linears: [Weights.Linear],
        _ adapted: KeyPath<Adapter.Layer, [Adapter.Change?]>, into outputs: [UnsafeMutablePointer<Float>],
        _ outputStride: Int, _ rowCount: Int, accumulates: Bool = false
    ) throws(InferenceError) {
        try linears.multiply(
            pool, input, inputStride, into: outputs, outputStride, rowCount, accumulates: accumulates)
        try adaptation.add(pool, input, inputStride, adapted, to: outputs, outputStride)
    }
}

extension RoPEPairing {
    var kernelStyle: ck_rope_style {
        switch self {
        case .interleaved: CK_ROPE_NEIGHBOURS
        case .halves: CK_ROPE_HALVES
        }
    }
}
