import Foundation
import GuidedGeneration
import Inference
import Tokenizers

/// `soak MODEL [--seconds N]`: a mixed load for so long: sessions that go on and share beginnings, samples and greedy
/// answers, constraints, requests that are cancelled, four at a time. Memory after a quarter of the time and at the end,
/// and the most of both, as JSON on one line, in bytes.
func measureSoak(_ arguments: [String]) async throws {
    guard let path = arguments.first else { throw MeasureError.usage("soak MODEL [--seconds N]") }
    let length = max(4, option("seconds", in: arguments).flatMap { Double($0) } ?? 60)
    let engine = try Engine.load(URL(fileURLWithPath: path), options: EngineOptions(contextSize: 2048))
    let start = ContinuousClock.now
    @Sendable func elapsed() -> Double { seconds(ContinuousClock.now - start) }

    /// One session after the other until the time is over.
    @Sendable func work(_ worker: Int) async throws -> (requests: Int, tokens: Int, cancelled: Int) {
        var generator = SeededGenerator(seed: UInt64(worker))
        var counts = (requests: 0, tokens: 0, cancelled: 0)
        while elapsed() < length {
            var prompt = engine.tokenizer.encode(
                "You are helper number \(Int.random(in: 0..<3, using: &generator)). "
                    + String(repeating: "Answer in a few words. ", count: Int.random(in: 1...20, using: &generator)),
                parsesSpecial: false, addsBOS: true)
            for turn in 0..<Int.random(in: 1...4, using: &generator) where elapsed() < length {
                prompt += engine.tokenizer.encode(
                    "\nTurn \(turn): tell me about \(Int.random(in: 0..<1000, using: &generator)).\n",
                    parsesSpecial: false, addsBOS: false)
                guard prompt.count < 1700 else { break }
                var request = GenerationRequest(
                    prompt: prompt,
                    sampling: Bool.random(using: &generator)
                        ? .greedy : Sampling(mode: .topP(0.9), temperature: 0.8, seed: generator.next()),
                    maximumTokens: Int.random(in: 1...48, using: &generator))
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    request.matcher = Matcher(try Grammar.choice(["yes", "no", "perhaps"]), trie: engine.tokenTrie)
                }
                let isCancelled = Int.random(in: 0..<6, using: &generator) == 0
                counts.requests += 1
                var text = ""
                for try await event in engine.generate(request) {
                    if case .text(let piece, let count) = event {
                        text += piece
                        counts.tokens += count
                        if isCancelled {
                            counts.cancelled += 1
                            break
                        }
                    }
                }
                prompt += engine.tokenizer.encode(text, parsesSpecial: false, addsBOS: false)
            }
        }
        return counts
    }

    let (total, early) = try await withThrowingTaskGroup(
        of: (requests: Int, tokens: Int, cancelled: Int)?.self
    ) { group in
        for worker in 0..<4 { group.addTask { try await work(worker) } }
        group.addTask {
            try await Task.sleep(for: .seconds(length / 4))
            return nil
        }
        var total = (requests: 0, tokens: 0, cancelled: 0)
        var early = 0
        for try await counts in group {
            guard let counts else {
                early = try residentBytes("VmRSS")
                continue
            }
            total.requests += counts.requests
            total.tokens += counts.tokens
            total.cancelled += counts.cancelled
        }
        return (total, early)
    }
    print(
        """
        {"early": \(early), "late": \(try residentBytes("VmRSS")), "peak": \(try residentBytes("VmHWM")), \
        "seconds": \(elapsed()), "requests": \(total.requests), "tokens": \(total.tokens), \
        "cancelled": \(total.cancelled)}
        """)
}

/// A line of /proc/self/status, in bytes.
func residentBytes(_ name: String) throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("\(name):") }),
        let kilobytes = Int(line.split(whereSeparator: \.isWhitespace)[1])
    else { throw MeasureError.usage("/proc/self/status has no \(name)") }
    return kilobytes * 1024
}
