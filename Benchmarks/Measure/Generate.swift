import Foundation
import Inference
import Tokenizers

/// `generate MODEL PROMPT [TOKENS] [--raw]`: the greedy answer to a prompt that goes through the chat template, or with
/// `--raw` to the prompt as it is, and how fast it came.
func generate(_ arguments: [String]) async throws {
    guard arguments.count >= 2 else { throw MeasureError.usage("generate MODEL PROMPT [TOKENS] [--raw]") }
    let clock = ContinuousClock()
    let start = clock.now
    let engine = try Engine.load(URL(fileURLWithPath: arguments[0]))
    let loaded = clock.now
    let prompt =
        arguments.contains("--raw")
        ? engine.tokenizer.encode(arguments[1], parsesSpecial: true, addsBOS: true)
        : try engine.chatTemplate.tokens(of: [ChatMessage(.user, arguments[1])], tokenizer: engine.tokenizer)
    let request = GenerationRequest(
        prompt: prompt, maximumTokens: arguments.count > 2 ? Int(arguments[2]) ?? 100 : 100)

    var prefilled = loaded
    var first: ContinuousClock.Instant?
    for try await event in engine.generate(request) {
        switch event {
        case .promptProcessed: prefilled = clock.now
        case .logprobs: break
        case .text(let text, _):
            first = first ?? clock.now
            FileHandle.standardOutput.write(Data(text.utf8))
        case .finished(let reason, let usage):
            let decoding = clock.now - prefilled
            print(
                """

                \(reason), \(usage.promptTokens) prompt tokens, \(usage.generatedTokens) generated
                load \(loaded - start), prefill \(prefilled - loaded), start to first text \((first ?? prefilled) - start), \
                decode \(Double(usage.generatedTokens - 1) / (decoding / .seconds(1))) tokens/s
                """)
        }
    }
}

enum MeasureError: Error, CustomStringConvertible {
    case usage(String)

    var description: String {
        switch self {
        case .usage(let text): "usage: measure \(text)"
        }
    }
}
