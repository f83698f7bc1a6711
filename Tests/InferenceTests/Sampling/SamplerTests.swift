import Foundation
import Inference
import Testing
import Tokenizers

@Suite("Sampling")
struct SamplerTests {
    private func draw(
        _ sampling: Sampling, _ logits: [Float], tokens: [TokenID]? = nil, count: Int = 1
    ) -> [TokenID?] {
        var sampler = Sampler(sampling)
        return (0..<count).map { _ in logits.withUnsafeBufferPointer { sampler.sample($0, tokens: tokens) } }
    }

    @Test(
        "the likeliest token is taken without chance, the first of equals",
        arguments: [
            Sampling.greedy, Sampling(mode: .topK(1), temperature: 3), Sampling(mode: .random, temperature: 0),
            Sampling(mode: .topP(0.0001), seed: 5),
        ])
    func greedy(sampling: Sampling) {
        #expect(draw(sampling, [1, 5, -2, 4.9]) == [1])
        #expect(draw(sampling, [1, 5, 5], tokens: [10, 20, 30]) == [20])
    }

    @Test("what is not allowed or not a number is never taken")
    func notAllowed() {
        #expect(draw(.greedy, [-.infinity, .nan, 1, -.infinity]) == [2])
        #expect(draw(.greedy, [-.infinity, .nan]) == [nil])
        #expect(draw(.greedy, [.infinity, 1]) == [nil])
        let drawn = draw(Sampling(mode: .random, temperature: 100, seed: 3), [-.infinity, 1, .nan, 1], count: 200)
        #expect(Set(drawn) == [1, 3])
    }

    @Test("frequencies follow the softmax of logits over temperature", arguments: [0.5, 1, 2])
    func frequencies(temperature: Double) {
        let logits: [Float] = [0, 1, 2, 0.5]
        let weights = logits.map { exp(Double($0) / temperature) }
        let count = 20_000
        let drawn = draw(Sampling(mode: .random, temperature: temperature, seed: 1), logits, count: count)
        for token in 0..<4 {
            let expected = weights[token] / weights.reduce(0, +)
            let found = Double(drawn.count { $0 == TokenID(token) }) / Double(count)
            // Five standard deviations.
            #expect(abs(found - expected) < 5 * (expected * (1 - expected) / Double(count)).squareRoot())
        }
    }

    @Test("only the k likeliest, or the smallest nucleus, can come")
    func truncation() {
        let logits: [Float] = [0, 3, 1, 2, 2.5, -40]
        for (mode, expected) in [
            (Sampling.Mode.topK(2), Set<TokenID?>([1, 4])), (.topK(3), [1, 3, 4]), (.topK(100), [0, 1, 2, 3, 4]),
            // Softmax: 0.025, 0.495, 0.067, 0.182, 0.300 → 0.4 needs one, 0.6 two, 0.9 three, 0.99 all but the last.
            (.topP(0.4), [1]), (.topP(0.6), [1, 4]), (.topP(0.9), [1, 3, 4]), (.topP(0.99), [0, 1, 2, 3, 4]),
        ] {
            let drawn = Set(draw(Sampling(mode: mode, seed: 9), logits, count: 3_000))
            #expect(drawn == expected, "\(mode)")
        }
    }

    @Test("the shortcuts of top-k and top-p choose as sorting everything does", arguments: 0..<20)
    func againstPlain(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let logits = (0..<3_000).map { _ in Float(generator.nextUnit() * 12) }
        let order = logits.indices.sorted { logits[$0] != logits[$1] ? logits[$0] > logits[$1] : $0 < $1 }
        let weights = order.map { exp(Double(logits[$0]) - Double(logits[order[0]])) }
        let total = weights.reduce(0, +)
        for mode in [Sampling.Mode.topK(40), .topK(500), .topP(0.3), .topP(0.95)] {
            var kept = 0
            switch mode {
            case .topK(let count): kept = count
            case .topP(let threshold):
                var sum = 0.0
                while sum < threshold * total {
                    sum += weights[kept]
                    kept += 1
                }
            case .greedy, .random: break
            }
            var plain = SeededGenerator(seed: 77)
            var remaining = plain.nextUnit() * weights[..<kept].reduce(0, +)
            let expected = order[..<kept].indices.first { index in
                remaining -= weights[index]
                return remaining < 0
            }
            #expect(draw(Sampling(mode: mode, seed: 77), logits) == [TokenID(order[expected!])], "\(mode)")
        }
    }

    @Test("the same seed draws the same tokens, another seed others")
    func seeds() {
        let logits = (0..<100).map { Float($0 % 7) }
        let sampling = Sampling(mode: .topP(0.95), temperature: 1.3, seed: 42)
        let first = draw(sampling, logits, count: 50)
        #expect(first == draw(sampling, logits, count: 50))
        #expect(first != draw(Sampling(mode: .topP(0.95), temperature: 1.3, seed: 43), logits, count: 50))
    }

    @Test(
        "numbers that cannot be are named",
        arguments: [
            (Sampling(temperature: -0.1), "temperature"), (Sampling(temperature: .nan), "temperature"),
            (Sampling(temperature: .infinity), "temperature"), (Sampling(mode: .topK(0)), "top-k"),
            (Sampling(mode: .topK(-5)), "top-k"), (Sampling(mode: .topP(0)), "top-p"),
            (Sampling(mode: .topP(1.1)), "top-p"), (Sampling(mode: .topP(.nan)), "top-p"),
        ])
    func invalid(sampling: Sampling, name: String) throws {
        let error = #expect(throws: InferenceError.self) { try sampling.validate() }
        #expect(try #require(error).description.contains(name))
    }
}
