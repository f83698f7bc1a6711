extension Weights {
    /// What all keys of a layer have in common, negated: added to each, it leaves their scores apart by one number for all of
    /// a query's, which the softmax takes away again, so nothing is lost by it. What is left is smaller, and so is what
    /// rounding it for a cache of 8 bits costs. (Half precision keeps as many digits of large keys as of small ones.)
    ///
    /// It is known where a bias is added to keys. RoPE turns the bias with the position, but the pairs of the lowest
    /// frequencies turn little within the whole context, and it is there that models have it large: in Qwen2.5 0.5B up to 185,
    /// beside keys of about 1. Elsewhere there is nothing to subtract.
    ///
    /// Source for subtracting a mean of the keys: J. Zhang et al., "SageAttention: Accurate 8-Bit Attention" (2024).
    /// - Parameter bias: [key-value heads · head width], of the keys.
    /// - Returns: Likewise; nil when there is nothing in common.
    static func negatedKeyCentre(
        _ bias: UnsafePointer<Float>, _ configuration: ModelConfiguration, layer: Int
    ) -> [Float]? {
        // A cap would bend scores by where they stand.
        guard configuration.attentionSoftCap == nil else { return nil }
        let headWidth = configuration.headWidth
        let layer = configuration.layers[layer]
        /// What the common part of each dimension of a head is, as a share of its bias.
        var shares = [Float](repeating: 1, count: headWidth)
        if layer.usesRoPE {
            let rope = layer.window == nil ? configuration.rope : configuration.slidingRoPE
            let pairs = rope.frequencies.count
            for (pair, frequency) in rope.frequencies.enumerated() {
                let turn = frequency * Float(configuration.trainedContextSize)
                let share = turn <= Self.greatestTurn ? rope.magnitude : 0
                switch rope.pairing {
                case .interleaved: (shares[2 * pair], shares[2 * pair + 1]) = (share, share)
                case .halves: (shares[pair], shares[pair + pairs]) = (share, share)
                }
            }
        }
        let centre = (0..<configuration.keyValueWidth).map { -bias[$0] * shares[$0 % headWidth] }
        return centre.contains { $0 != 0 } && centre.allSatisfy(\.isFinite) ? centre : nil
    }

    /// By how much a pair may turn within the context, in radians: then the bias is at most so far from where it began as it is
    /// long.
    private static let greatestTurn: Float = 1
}
