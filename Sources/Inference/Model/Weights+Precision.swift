extension Weights {
    /// Models narrower than this round everything finely.
    private static let narrowWidth = 1024

    /// Whether what a matrix multiplies is rounded to 15 bits instead of 8.
    ///
    /// Rounding to 8 bits costs every product about the same, wherever it stands; what differs is how much of it a model
    /// bears. Models with a narrow residual stream average little of it away (of SmolLM2 135M it changes one in twenty
    /// of the likeliest next tokens), and they are small, so all of their products are fine. In wider ones the blocks, which
    /// are nearly all of the arithmetic, keep 8 bits, and the output head, which is nearly nothing of it in prefill, does
    /// not. The figure `distribution` measures what is left.
    static func needsFineInput(_ name: String, _ configuration: ModelConfiguration) -> Bool {
        configuration.width < narrowWidth || !name.hasPrefix("blk.")
    }
}
