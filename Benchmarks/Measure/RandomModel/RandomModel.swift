import Foundation
import FoundationModels
import GuidedGeneration
import Inference
import JSON
import Tokenizers

/// `measure random-model MODEL RUNS`: values of the sample types in turn, from a model whose weights are random, at
/// temperature 2. Prints a line of JSON: runs, how many values were valid, the faults, the choices never seen.
func measureRandomModel(_ arguments: [String]) async throws {
    guard arguments.count == 2, let runs = Int(arguments[1]), runs > 0 else {
        throw MeasureError.usage("random-model MODEL RUNS")
    }
    let engine = try Engine.load(URL(fileURLWithPath: arguments[0]), options: EngineOptions(contextSize: 8192))
    var reports: [String: SampleReport] = [:]
    var faults: [String] = []
    var tokens = 0
    for run in 0..<runs {
        let type = guidedSamples[run % guidedSamples.count]
        let (report, count) = try await generateSample(type, seed: UInt64(run), engine)
        tokens += count
        faults += report.faults.map { "\(type), seed \(run): \($0)" }
        reports["\(type)", default: SampleReport()].merge(report)
    }
    var unseen: [String] = []
    for type in guidedSamples {
        let missing = type.choices.subtracting(reports["\(type)"]?.seen ?? [])
        unseen += missing.sorted().map { "\(type): \($0)" }
    }
    let valid = runs - Set(faults.map { $0.prefix(while: { $0 != ":" }) }).count
    let line: JSONObject = [
        "runs": .number(JSONNumber(runs)), "valid": .number(JSONNumber(valid)), "tokens": .number(JSONNumber(tokens)),
        "types": .number(JSONNumber(guidedSamples.count)), "faults": .array(faults.map(JSONValue.string)),
        "unseen": .array(unseen.map(JSONValue.string)),
    ]
    print(JSONValue.object(line).text())
}

private func generateSample<Sample: GuidedSample>(
    _ type: Sample.Type, seed: UInt64, _ engine: Engine
) async throws -> (SampleReport, tokens: Int) {
    var report = SampleReport()
    let grammar = try Grammar.jsonSchema(type.generationSchema.jsonSchema)
    let request = GenerationRequest(
        prompt: engine.tokenizer.encode("\(type) \(seed)", parsesSpecial: false, addsBOS: false),
        sampling: Sampling(mode: .random, temperature: 2, seed: seed), maximumTokens: 6000,
        matcher: Matcher(grammar, trie: engine.tokenTrie))
    var text = ""
    var tokens = 0
    for try await event in engine.generate(request) {
        switch event {
        case .promptProcessed, .logprobs: break
        case .text(let part, _): text += part
        case .finished(let reason, let usage):
            tokens = usage.generatedTokens
            report.require(reason == .constraintSatisfied || reason == .endOfText, "ended by \(reason)")
        }
    }
    do {
        // Read strictly first: what the decoder makes is JSON, not only something that a lenient reader accepts.
        _ = try JSONValue(parsing: text)
        try Sample(GeneratedContent(json: text)).inspect(&report)
    } catch {
        report.require(false, "\(error) in \(text.prefix(200))")
    }
    return (report, tokens)
}
