import CKernels
import Foundation
import Tokenizers

/// Chooses tokens for one request. Holds the state of the random generator between them.
package struct Sampler: Sendable {
    package let sampling: Sampling
    private var generator: SeededGenerator
    /// Kept between calls so that sampling does not allocate.
    private var candidates: [Candidate] = []

    private struct Candidate {
        var token: TokenID
        /// The logit over the temperature; then the probability, up to the common factor.
        var weight: Double
    }

    package init(_ sampling: Sampling) {
        self.sampling = sampling
        generator = SeededGenerator(seed: sampling.seed ?? UInt64.random(in: .min ... .max))
    }

    package var isGreedy: Bool {
        sampling.mode == .greedy || sampling.mode == .topK(1) || sampling.temperature == 0
    }

    /// The next token, or nil when no logit is finite.
    /// - Parameters:
    ///   - logits: One for each token of the vocabulary, or for each of `tokens` in the same order. Tokens that are not
    ///     allowed have the logit −∞.
    ///   - tokens: The tokens that the logits belong to, in ascending order; nil for all of them.
    package mutating func sample(_ logits: UnsafeBufferPointer<Float>, tokens: [TokenID]? = nil) -> TokenID? {
        let best = Int(ck_argmax(logits.baseAddress, Int64(logits.count)))
        guard best >= 0, logits[best].isFinite else { return nil }
        let maximum = logits[best]
        if isGreedy { return tokens?[best] ?? TokenID(best) }

        // Far below the maximum a token's probability is beyond what a random number of 53 bits can reach.
        let cutoff = Double(maximum) - 60 * sampling.temperature
        let scale = 1 / sampling.temperature
        candidates.removeAll(keepingCapacity: true)
        for index in 0..<logits.count {
            let logit = Double(logits[index])
            guard logit >= cutoff else { continue }
            candidates.append(
                Candidate(token: tokens?[index] ?? TokenID(index), weight: exp((logit - Double(maximum)) * scale)))
        }
        switch sampling.mode {
        case .greedy, .random: break
        case .topK(let count): keepLikeliest(count)
        case .topP(let threshold): keepNucleus(threshold)
        }
        let total = candidates.reduce(0) { $0 + $1.weight }
        var remaining = generator.nextUnit() * total
        for candidate in candidates {
            remaining -= candidate.weight
            if remaining < 0 { return candidate.token }
        }
        return candidates.last?.token
    }

    private mutating func keepLikeliest(_ count: Int) {
        guard count < candidates.count else { return }
        // A histogram over the logarithm of the weight finds a bound that leaves few more than `count` to sort.
        let binCount = 2048
        func bin(_ weight: Double) -> Int { min(binCount - 1, Int(-log(weight) * (Double(binCount) / 60))) }
        var bins = [Int](repeating: 0, count: binCount)
        for candidate in candidates { bins[bin(candidate.weight)] += 1 }
        var kept = 0
        let last = bins.firstIndex {
            kept += $0
            return kept >= count
        }
        if let last { candidates.removeAll { bin($0.weight) > last } }
        sortCandidates()
        candidates.removeSubrange(count...)
    }

    private mutating func keepNucleus(_ threshold: Double) {
        guard threshold < 1 else { return }
        // All tokens below this bound together have less than 1 − threshold, so that none of them is in the nucleus.
        let total = candidates.reduce(0) { $0 + $1.weight }
        let bound = (1 - threshold) * total / Double(candidates.count)
        candidates.removeAll { $0.weight < bound }
        sortCandidates()
        var sum = 0.0
        let last = candidates.firstIndex {
            sum += $0.weight
            return sum >= threshold * total
        }
        if let last { candidates.removeSubrange((last + 1)...) }
    }

    /// Likeliest first; equal ones by their number, so that the order does not depend on the sorting algorithm.
    private mutating func sortCandidates() {
        candidates.sort { $0.weight != $1.weight ? $0.weight > $1.weight : $0.token < $1.token }
    }
}
