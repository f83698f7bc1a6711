import Foundation
import Inference
import Tokenizers

/// `batching MODEL [--streams N] [--tokens N] [--threads N]`: tokens per second of one stream alone, and of several at once
/// together, behind prompts of their own that are computed before. JSON on one line.
func measureBatching(_ arguments: [String]) async throws {
    guard let path = arguments.first else {
        throw MeasureError.usage("batching MODEL [--streams N] [--tokens N] [--threads N]")
    }
    let streams = max(1, option("streams", in: arguments).flatMap { Int($0) } ?? 4)
    let tokens = max(2, option("tokens", in: arguments).flatMap { Int($0) } ?? 64)
    let engine = try Engine.load(
        URL(fileURLWithPath: path),
        options: EngineOptions(
            threadCount: option("threads", in: arguments).flatMap { Int($0) }, contextSize: 4096,
            concurrentRequests: streams))
    let prompts = try (0..<streams).map { number in
        try engine.tokens(of: [ChatMessage(.user, "Tell a story about the number \(number) and a cat.")])
    }
    for prompt in prompts { try await engine.prewarm(prompt) }

    /// Tokens per second from the first token of any stream to the last of all.
    @Sendable func run(_ prompts: [[TokenID]]) async throws -> Double {
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for prompt in prompts {
                group.addTask {
                    var request = GenerationRequest(prompt: prompt, maximumTokens: tokens)
                    request.endsAtStopTokens = false
                    // What is measured is the batch, not the guesses.
                    request.drafts = .never
                    for try await _ in engine.generate(request) {}
                }
            }
            try await group.waitForAll()
        }
        return Double(tokens * prompts.count) / seconds(ContinuousClock.now - start)
    }
    _ = try await run(prompts)
    let alone = try await run([prompts[0]])
    let together = try await run(prompts)
    print("{\"alone\": \(alone), \"together\": \(together), \"streams\": \(streams)}")
}
