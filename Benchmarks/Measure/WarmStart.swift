import Foundation
import Inference
import Tokenizers

/// `warm-start MODEL --folder FOLDER [--tokens N] [--prewarm]`: with `--prewarm` computes a prompt's beginning of N tokens and
/// leaves it in the folder; without, answers a prompt that begins so. Times as JSON on one line, in seconds.
func warmStart(_ arguments: [String]) async throws {
    let usage = MeasureError.usage("warm-start MODEL --folder FOLDER [--tokens N] [--prewarm]")
    guard let path = arguments.first, let folder = option("folder", in: arguments) else { throw usage }
    guard let count = Int(option("tokens", in: arguments) ?? "1500"), count > 0 else { throw usage }
    let clock = ContinuousClock()
    let start = clock.now
    let engine = try Engine.load(
        URL(fileURLWithPath: path),
        options: EngineOptions(contextSize: 4096, prefixFolder: URL(fileURLWithPath: folder)))
    let loaded = clock.now
    let prefix = (0..<count).map { TokenID($0 * 7919 % engine.description.vocabularySize) }
    if arguments.contains("--prewarm") {
        try await engine.prewarm(prefix)
        return print("{\"load\": \(seconds(loaded - start)), \"prewarm\": \(seconds(clock.now - loaded))}")
    }
    var request = GenerationRequest(
        prompt: prefix + engine.tokenizer.encode("What is this about?", parsesSpecial: false, addsBOS: false),
        maximumTokens: 2)
    request.endsAtStopTokens = false
    var cached = 0
    for try await event in engine.generate(request) {
        switch event {
        case .promptProcessed(_, let known): cached = known
        case .text:
            let end = clock.now
            return print(
                "{\"load\": \(seconds(loaded - start)), \"first\": \(seconds(end - loaded)), \"cached\": \(cached), "
                    + "\"prompt\": \(request.prompt.count)}")
        case .logprobs, .finished: break
        }
    }
    throw MeasureError.usage("warm-start: the model gave no text")
}

/// The value that follows `--name`.
func option(_ name: String, in arguments: [String]) -> String? {
    guard let index = arguments.firstIndex(of: "--\(name)"), index + 1 < arguments.count else { return nil }
    return arguments[index + 1]
}

func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }
