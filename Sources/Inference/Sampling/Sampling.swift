/// How the next token is chosen from the model's distribution.
package struct Sampling: Hashable, Sendable {
    package enum Mode: Hashable, Sendable {
        /// Always the likeliest token.
        case greedy
        /// At random, in proportion to the probabilities of all tokens.
        case random
        /// At random among the `k` likeliest tokens.
        case topK(Int)
        /// At random among the fewest likeliest tokens whose probabilities add up to at least the threshold (nucleus sampling).
        case topP(Double)
    }

    package var mode: Mode
    /// Divides the logits before anything else: below 1 sharpens the distribution, above 1 flattens it. 0 is greedy.
    package var temperature: Double
    /// The same seed, prompt and settings give the same text. Nil: a new one each time.
    package var seed: UInt64?

    package init(mode: Mode = .greedy, temperature: Double = 1, seed: UInt64? = nil) {
        self.mode = mode
        self.temperature = temperature
        self.seed = seed
    }

    package static let greedy = Sampling()

    package func validate() throws(InferenceError) {
        guard temperature.isFinite, temperature >= 0 else {
            throw .invalidSampling(
                parameter: "temperature", value: "\(temperature)", reason: "it must be a number from 0 upwards")
        }
        switch mode {
        case .greedy, .random: break
        case .topK(let count):
            guard count >= 1 else {
                throw .invalidSampling(parameter: "top-k", value: "\(count)", reason: "it must be at least 1")
            }
        case .topP(let threshold):
            guard threshold > 0, threshold <= 1 else {
                throw .invalidSampling(
                    parameter: "the probability threshold (top-p)", value: "\(threshold)",
                    reason: "it must be above 0 and at most 1")
            }
        }
    }
}
