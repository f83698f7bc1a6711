import Foundation
import GuidedGeneration
import Inference
import JSON
import Tokenizers

/// `measure guided MODEL`: keeps a model loaded and answers one request a line, so that a script can put its runs
/// between those of a peer. A request is `{"mode": "render" | "guided" | "free", "prompt": …, "schema": …, "tokens": N}`;
/// every run starts with an empty cache.
func measureGuided(_ arguments: [String]) async throws {
    guard let model = arguments.first else { throw MeasureError.usage("guided MODEL") }
    // Nothing of an earlier run may be reused: no finished sequence is kept.
    let engine = try Engine.load(
        URL(fileURLWithPath: model), options: EngineOptions(contextSize: 4096, cachedTokenLimit: 0))
    _ = engine.tokenTrie
    while let line = readLine() {
        let answer: JSONObject
        do {
            answer = try await reply(to: JSONValue(parsing: line), engine)
        } catch {
            answer = ["error": .string("\(error)")]
        }
        print(JSONValue.object(answer).text())
        fflush(nil)
    }
}

private func reply(to request: JSONValue, _ engine: Engine) async throws -> JSONObject {
    let messages = [ChatMessage(.user, request["prompt"]?.stringValue ?? "")]
    let mode = request["mode"]?.stringValue
    if mode == "render" { return ["text": .string(try engine.chatTemplate.render(messages).text)] }

    let start = ContinuousClock.now
    var generation = GenerationRequest(
        prompt: try engine.chatTemplate.tokens(of: messages, tokenizer: engine.tokenizer))
    generation.sampling = .greedy
    generation.maximumTokens = request["tokens"]?.numberValue?.intValue
    if mode == "guided" {
        guard let schema = request["schema"] else { throw MeasureError.usage("a guided request has a schema") }
        generation.matcher = Matcher(try Grammar.jsonSchema(schema), trie: engine.tokenTrie)
    } else {
        generation.endsAtStopTokens = false
    }
    var text = ""
    var usage: GenerationUsage?
    for try await event in engine.generate(generation) {
        switch event {
        case .promptProcessed, .logprobs: break
        case .text(let part, _): text += part
        case .finished(_, let total): usage = total
        }
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    return [
        "text": .string(text), "seconds": JSONNumber(seconds).map(JSONValue.number) ?? .null,
        "tokens": .number(JSONNumber(usage?.generatedTokens ?? 0)),
        "forced": .number(JSONNumber(usage?.forcedTokens ?? 0)),
    ]
}
