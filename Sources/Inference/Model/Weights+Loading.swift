extension Weights {
    /// Reads the weights of a model that generates text.
    static func load(
        _ file: GGUFFile, configuration: ModelConfiguration, pool: ThreadPool
    ) throws(InferenceError) -> Weights {
        let tensors = try LoadedTensors(file, configuration: configuration, pool: pool)
        let architecture = configuration.architecture
        let layers = (0..<configuration.layerCount).map { index in
            let block = "blk.\(index)"
            let queryKeyValue = (architecture.fusesQKV ? ["attn_qkv"] : ["attn_q", "attn_k", "attn_v"])
                .map { tensors.linear("\(block).\($0)") }
            let keyNorm = tensors.optionalVector("\(block).attn_k_norm.weight")
            let keyBias =
                architecture.fusesQKV
                ? queryKeyValue[0].bias.map { $0 + configuration.queryWidth } : queryKeyValue[1].bias
            return Layer(
                attentionNorm: tensors.vector("\(block).attn_norm.weight"),
                queryKeyValue: queryKeyValue,
                queryNorm: tensors.optionalVector("\(block).attn_q_norm.weight"),
                keyNorm: keyNorm,
                // A norm divides the bias by what the rest of the key is.
                negatedKeyCentre: keyNorm == nil
                    ? keyBias.flatMap { negatedKeyCentre($0, configuration, layer: index) } : nil,
                attentionOutput: tensors.linear("\(block).attn_output"),
                postAttentionNorm: tensors.optionalVector("\(block).post_attention_norm.weight"),
                postFeedForwardNorm: tensors.optionalVector("\(block).post_ffw_norm.weight"),
                feedForwardNorm: tensors.vector("\(block).ffn_norm.weight"),
                gateUp: (architecture.fusesGateUp ? ["ffn_up"] : ["ffn_gate", "ffn_up"])
                    .map { tensors.linear("\(block).\($0)") },
                down: tensors.linear("\(block).ffn_down"))
        }
        let embedding = tensors.matrix("token_embd.weight")
        return Weights(
            embedding: embedding, outputNorm: tensors.vector("output_norm.weight"),
            head: tensors.has("output.weight") ? tensors.matrix("output.weight") : embedding, layers: layers,
            tensors: tensors)
    }
}
