/// One row of the table of families: how a family differs from the block that all share,
///
///     x += postNorm(attention(norm(x)));  x += postNorm(feedForward(norm(x)))
///
/// Numbers (layers, widths, bases) come from the file; what a file does not say stands here.
package struct Architecture: Sendable {
    /// The name in `general.architecture`, which is also the prefix of the family's metadata keys.
    package let name: String
    package var purpose: Purpose = .text
    /// Which two numbers of a head RoPE turns together.
    var ropePairing: RoPEPairing = .halves
    var activation: Activation = .silu
    /// Whether query, key and value are one matrix, `attn_qkv`.
    var fusesQKV = false
    /// Whether gate and up are one matrix, `ffn_up`, the gate first.
    var fusesGateUp = false
    /// Whether query and key are normalised by head before RoPE.
    var normalizesQueryKey = false
    /// Whether the outputs of attention and feed-forward are normalised before they are added.
    var hasPostNorms = false
    /// Whether the token embeddings are multiplied by √width.
    var scalesEmbedding = false
    /// Every n-th layer attends to the whole context, the others to a window; 1: every layer has the file's window, if any.
    var slidingWindowPeriod = 1
    /// The base of RoPE in layers with a window, when the file has none.
    var slidingRoPEBase: Float?
    /// RoPE scaling applies to layers with a window too.
    var scalesSlidingRoPE = true
    /// The layer counts of the sizes whose attention is scaled by 1/√(width / heads) instead of 1/√(head width).
    var layerCountsWithWidthScale: Set<Int> = []
    /// Every n-th layer has no position information; 0: none.
    var noPositionPeriod = 0

    /// What the models of a family are for.
    package enum Purpose: Sendable {
        /// They go on with a text.
        case text
        /// They make one vector of a text.
        case embeddings
    }

    /// The families that generate text.
    package static let all: [Architecture] = [
        // Llama 2 and 3, Mistral, SmolLM2. The converter reorders query and key rows for interleaved pairs.
        Architecture(name: "llama", ropePairing: .interleaved),
        Architecture(name: "smollm3", ropePairing: .interleaved, noPositionPeriod: 4),
        Architecture(name: "granite", ropePairing: .interleaved),
        Architecture(name: "qwen2"),
        Architecture(name: "qwen3", normalizesQueryKey: true),
        Architecture(
            name: "gemma2", activation: .gelu, hasPostNorms: true, scalesEmbedding: true, slidingWindowPeriod: 2,
            layerCountsWithWidthScale: [46]),
        Architecture(
            name: "gemma3", activation: .gelu, normalizesQueryKey: true, hasPostNorms: true, scalesEmbedding: true,
            slidingWindowPeriod: 6, slidingRoPEBase: 10_000, scalesSlidingRoPE: false,
            layerCountsWithWidthScale: [62]),
        Architecture(name: "phi3", fusesQKV: true, fusesGateUp: true),
    ]

    /// The families of encoders, whose block is
    ///
    ///     x = norm(x + attention(x));  x = norm(x + feedForward(x))
    ///
    /// with attention to all tokens and norms that take the mean away. Nomic BERT: https://arxiv.org/abs/2402.01613
    package static let encoders: [Architecture] = [
        Architecture(name: "nomic-bert", purpose: .embeddings, fusesQKV: true)
    ]

    package static func named(_ name: String) throws(InferenceError) -> Architecture {
        guard let found = (all + encoders).first(where: { $0.name == name }) else {
            throw .unsupportedArchitecture(name, supported: (all + encoders).map(\.name))
        }
        return found
    }
}

/// Which numbers of a head are the two coordinates that RoPE turns by one angle.
package enum RoPEPairing: Sendable {
    /// `2i` and `2i + 1`.
    case interleaved
    /// `i` and `i + half`.
    case halves
}

package enum Activation: Sendable {
    /// x · σ(x)
    case silu
    /// GELU in the tanh approximation.
    case gelu
}
