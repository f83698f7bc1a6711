extension Weights {
    /// Models at least so wide round what multiplies the matrices of their blocks to 8 bits.
    private static let wideWidth = 1024
    /// Models narrower than this round nothing so.
    private static let narrowWidth = 600

    /// Whether what a matrix multiplies is rounded to 15 bits instead of 8.
    ///
    /// Rounding to 8 bits costs every product about the same, wherever it stands; what differs is how much of it a model
    /// bears. Models with a narrow residual stream average little of it away (of SmolLM2 135M it changes one in twenty
    /// of the likeliest next tokens), and they are small, so all of their products are fine. In wide ones the blocks, which
    /// are nearly all of the arithmetic, keep 8 bits, and the output head, which is nearly nothing of it in prefill, does
    /// not. Between the two, 8 bits are for what comes out of a norm, the input of most of the arithmetic; what comes out of
    /// attention and of the activation, and is added to the residual stream, keeps 15. The figure `distribution` measures
    /// what is left.
    static func needsFineInput(_ name: String, _ configuration: ModelConfiguration) -> Bool {
        guard name.hasPrefix("blk."), configuration.width >= narrowWidth else { return true }
        return configuration.width < wideWidth && (name.contains(".attn_output.") || name.contains(".ffn_down."))
    }
}
