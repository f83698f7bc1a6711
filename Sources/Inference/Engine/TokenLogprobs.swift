import Foundation
import Tokenizers

/// How likely a generated token was, and which others were likely in its place: natural logarithms of the probabilities
/// that the model gave, before temperature, nucleus or constraint.
package struct TokenLogprobs: Sendable, Equatable {
    package struct Candidate: Sendable, Equatable {
        package var token: TokenID
        package var logprob: Double

        package init(token: TokenID, logprob: Double) {
            self.token = token
            self.logprob = logprob
        }
    }

    package var chosen: Candidate
    /// The likeliest tokens, likeliest first.
    package var top: [Candidate]

    package init(chosen: Candidate, top: [Candidate]) {
        self.chosen = chosen
        self.top = top
    }
}

/// The logits of one step as logarithms of probabilities, kept until the token is chosen.
struct LogprobRow {
    private let normalizer: Double
    private let logits: [Float]
    private let top: [TokenLogprobs.Candidate]

    /// - Parameters:
    ///   - logits: Of the whole vocabulary, not masked.
    ///   - count: How many of the likeliest tokens are wanted.
    init(_ logits: UnsafeBufferPointer<Float>, count: Int) {
        self.logits = Array(logits)
        let maximum = Double(logits.max() ?? 0)
        let sum = logits.reduce(0.0) { $0 + exp(Double($1) - maximum) }
        let normalizer = maximum + log(sum)
        self.normalizer = normalizer

        // A short list in falling order; equal logits stand in the order of their tokens.
        var best: [(token: Int, logit: Float)] = []
        if count > 0 {
            for (token, logit) in logits.enumerated() {
                if best.count == count, logit <= best[count - 1].logit { continue }
                let place = best.firstIndex { $0.logit < logit } ?? best.count
                best.insert((token, logit), at: place)
                if best.count > count { best.removeLast() }
            }
        }
        top = best.map { .init(token: TokenID($0.token), logprob: Double($0.logit) - normalizer) }
    }

    func choosing(_ token: TokenID) -> TokenLogprobs {
        TokenLogprobs(chosen: .init(token: token, logprob: Double(logits[Int(token)]) - normalizer), top: top)
    }
}
