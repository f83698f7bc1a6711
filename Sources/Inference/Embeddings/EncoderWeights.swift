import CKernels

/// The weights of an encoder.
final class EncoderWeights: @unchecked Sendable {
    /// [vocabulary, width]
    let embedding: UnsafePointer<ck_matrix>
    /// What is added to every token's embedding: the first type of tokens. [width]
    let tokenType: UnsafePointer<Float>?
    let embeddingNorm: Norm
    let layers: [Layer]
    /// What the pointers point into.
    private let tensors: LoadedTensors

    /// A norm that takes the mean away: two vectors [width].
    struct Norm {
        var weight: UnsafePointer<Float>
        var bias: UnsafePointer<Float>
    }

    struct Layer {
        /// As in `Weights.Layer`.
        var queryKeyValue: [Weights.Linear]
        var attentionOutput: Weights.Linear
        var attentionNorm: Norm
        var gateUp: [Weights.Linear]
        var down: Weights.Linear
        var outputNorm: Norm
    }

    init(_ file: GGUFFile, configuration: ModelConfiguration, pool: ThreadPool) throws(InferenceError) {
        let tensors = try LoadedTensors(file, configuration: configuration, pool: pool)
        func norm(_ name: String) -> Norm {
            Norm(weight: tensors.vector("\(name).weight"), bias: tensors.vector("\(name).bias"))
        }
        let architecture = configuration.architecture
        embedding = tensors.matrix("token_embd.weight")
        tokenType = tensors.optionalVector("token_types.weight")
        embeddingNorm = norm("token_embd_norm")
        layers = (0..<configuration.layerCount).map { index in
            let block = "blk.\(index)"
            return Layer(
                queryKeyValue: (architecture.fusesQKV ? ["attn_qkv"] : ["attn_q", "attn_k", "attn_v"])
                    .map { tensors.linear("\(block).\($0)") },
                attentionOutput: tensors.linear("\(block).attn_output"),
                attentionNorm: norm("\(block).attn_output_norm"),
                gateUp: (architecture.fusesGateUp ? ["ffn_up"] : ["ffn_gate", "ffn_up"])
                    .map { tensors.linear("\(block).\($0)") },
                down: tensors.linear("\(block).ffn_down"),
                outputNorm: norm("\(block).layer_output_norm"))
        }
        self.tensors = tensors
    }

    var parameterCount: Int { tensors.parameterCount }
}
