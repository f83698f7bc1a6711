extension GenerationOptions {
    /// How the next token is chosen from the distribution that the model gives.
    public struct SamplingMode: Sendable, Equatable {
        public enum Kind: Sendable, Equatable {
            case greedy
            case randomTopK(_: Int, seed: UInt64?)
            case randomProbabilityThreshold(_: Double, seed: UInt64?)
        }

        public let kind: Kind

        /// The likeliest token, always.
        public static var greedy: SamplingMode { SamplingMode(kind: .greedy) }

        /// One of the `k` likeliest tokens, at random by their likelihood.
        ///
        /// - Parameters:
        ///   - k: At least 1; a request with less fails.
        ///   - seed: The same seed with the same prompt, model and options gives the same tokens.
        public static func random(top k: Int, seed: UInt64? = nil) -> SamplingMode {
            SamplingMode(kind: .randomTopK(k, seed: seed))
        }

        /// One of the fewest likeliest tokens whose probabilities add up to the threshold.
        ///
        /// - Parameters:
        ///   - probabilityThreshold: 0 to 1; a request with another value fails.
        ///   - seed: The same seed with the same prompt, model and options gives the same tokens.
        public static func random(probabilityThreshold: Double, seed: UInt64? = nil) -> SamplingMode {
            SamplingMode(kind: .randomProbabilityThreshold(probabilityThreshold, seed: seed))
        }
    }
}
