import Foundation
import FoundationModels
import GuidedGeneration
import Inference
import JSON
import Tokenizers

/// `measure random-model RUNS MODEL…`: values of the sample types from models whose weights are random, at temperature 2. Every
/// type has a few runs, each with another of the models; the others go to the types that have not shown all their choices.
/// Prints a line of JSON: runs, how many values were valid, the faults, the choices never seen.
func measureRandomModel(_ arguments: [String]) async throws {
    guard arguments.count >= 2, let runs = Int(arguments[0]), runs > 0 else {
        throw MeasureError.usage("random-model RUNS MODEL…")
    }
    var engines: [Engine] = []
    for path in arguments.dropFirst() {
        engines.append(try Engine.load(URL(fileURLWithPath: path), options: EngineOptions(contextSize: 8192)))
    }
    let types = guidedSamples
    var reports = types.map { _ in SampleReport() }
    var counts = types.map { _ in 0 }
    /// The runs of a type that it took until all its choices were seen.
    var mostRuns = 0
    var faults: [String] = []
    var invalid = 0
    var tokens = 0
    var turn = 0
    for run in 0..<runs {
        func isOpen(_ index: Int) -> Bool { !types[index].choices.isSubset(of: reports[index].seen) }
        if run >= types.count * firstRuns, types.indices.contains(where: isOpen) {
            while !isOpen(turn % types.count) { turn += 1 }
        }
        let index = turn % types.count
        turn += 1
        let wasOpen = isOpen(index)
        let engine = engines[counts[index] % engines.count]
        counts[index] += 1
        let (report, count) = try await generateSample(types[index], seed: UInt64(run), engine)
        tokens += count
        invalid += report.faults.isEmpty ? 0 : 1
        faults += report.faults.map { "\(types[index]), seed \(run): \($0)" }
        reports[index].merge(report)
        if wasOpen, !isOpen(index) { mostRuns = max(mostRuns, counts[index]) }
    }
    var unseen: [String] = []
    for (index, type) in types.enumerated() {
        unseen += type.choices.subtracting(reports[index].seen).sorted().map { "\(type): \($0), \(counts[index]) runs" }
    }
    let line: JSONObject = [
        "runs": .number(JSONNumber(runs)), "valid": .number(JSONNumber(runs - invalid)),
        "tokens": .number(JSONNumber(tokens)), "types": .number(JSONNumber(types.count)),
        "choices": .number(JSONNumber(types.reduce(0) { $0 + $1.choices.count })),
        "mostRuns": .number(JSONNumber(mostRuns)), "faults": .array(faults.map(JSONValue.string)),
        "unseen": .array(unseen.map(JSONValue.string)),
    ]
    print(JSONValue.object(line).text())
}

/// The runs that every type has.
private let firstRuns = 10

private func generateSample<Sample: GuidedSample>(
    _ type: Sample.Type, seed: UInt64, _ engine: Engine
) async throws -> (SampleReport, tokens: Int) {
    var report = SampleReport()
    let grammar = try Grammar.jsonSchema(
        type.generationSchema.enforcedSchema, options: SchemaOptions(keepsIntegersReadable: true))
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
