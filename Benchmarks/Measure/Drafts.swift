import Foundation
import Inference
import JSON
import Tokenizers

/// `drafts MODEL TEXTS [--count N] [--threads N]`: corrects each text of a file of JSON strings, one a line, greedily, with
/// drafts and without, in turns. One line of JSON for each text: the times, the tokens, whether both answers are the same.
func measureDrafts(_ arguments: [String]) async throws {
    let usage = MeasureError.usage("drafts MODEL TEXTS [--count N] [--threads N]")
    guard arguments.count >= 2 else { throw usage }
    let lines = try String(contentsOfFile: arguments[1], encoding: .utf8).split(separator: "\n")
    let texts = try lines.map { try JSONValue(parsing: String($0)).stringValue ?? "" }
    let count = option("count", in: arguments).flatMap { Int($0) } ?? texts.count
    let engine = try Engine.load(
        URL(fileURLWithPath: arguments[0]),
        options: EngineOptions(threadCount: option("threads", in: arguments).flatMap { Int($0) }, contextSize: 4096))
    let clock = ContinuousClock()
    for (number, text) in texts.prefix(count).enumerated() {
        let prompt = try engine.tokens(of: [
            ChatMessage(
                .system, "You correct spelling and grammar. Answer with the corrected text only, change nothing else."),
            ChatMessage(.user, text),
        ])
        try await engine.prewarm(prompt)
        func answer(_ drafts: GenerationRequest.Drafts) async throws -> (text: String, seconds: Double, tokens: Int) {
            var request = GenerationRequest(prompt: prompt, maximumTokens: 400)
            request.drafts = drafts
            let start = clock.now
            var answer = ""
            var tokens = 0
            for try await event in engine.generate(request) {
                if case .text(let piece, _) = event { answer += piece }
                if case .finished(_, let usage) = event { tokens = usage.generatedTokens }
            }
            return (answer, seconds(clock.now - start), tokens)
        }
        // Whichever comes second finds what the other did as warm as the other found it.
        let isPlainFirst = number % 2 == 0
        let first = try await answer(isPlainFirst ? .never : .automatic)
        let second = try await answer(isPlainFirst ? .automatic : .never)
        let (plain, drafted) = isPlainFirst ? (first, second) : (second, first)
        print(
            "{\"plain\": \(plain.seconds), \"drafts\": \(drafted.seconds), \"tokens\": \(drafted.tokens), "
                + "\"identical\": \(plain.text == drafted.text), \"text\": \(JSONValue.quoted(drafted.text))}")
    }
}
