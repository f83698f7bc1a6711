import CKernels

/// The numbers of one model: its family's row of the table with what its file says.
package struct ModelConfiguration: Sendable {
    package let architecture: Architecture
    package let layerCount: Int
    /// The width of the residual stream.
    package let width: Int
    package let feedForwardWidth: Int
    package let headCount: Int
    package let keyValueHeadCount: Int
    /// The width of one head, of queries, keys and values alike.
    package let headWidth: Int
    package let vocabularySize: Int
    /// The context that the model was trained for.
    package let trainedContextSize: Int
    package let normEpsilon: Float
    package let attentionScale: Float
    /// t · tanh(x / t) on the attention scores, when set.
    package let attentionSoftCap: Float?
    /// t · tanh(x / t) on the logits, when set.
    package let logitSoftCap: Float?
    package let embeddingScale: Float
    package let residualScale: Float
    package let logitScale: Float
    package let layers: [LayerConfiguration]
    package let rope: RoPEConfiguration
    /// RoPE of the layers with a window, when it differs.
    package let slidingRoPE: RoPEConfiguration

    package struct LayerConfiguration: Hashable, Sendable {
        /// How many positions a token sees, itself included; nil: all before it.
        package let window: Int?
        package let usesRoPE: Bool
    }

    package var queryWidth: Int { headCount * headWidth }
    package var keyValueWidth: Int { keyValueHeadCount * headWidth }
    /// What one token takes in the KV cache, in bytes.
    package func cacheBytesPerToken(_ type: CacheType) -> Int {
        layerCount * 2 * keyValueHeadCount * type.blockBytes(headWidth: headWidth) / Int(CK_CACHE_BLOCK)
    }
}
