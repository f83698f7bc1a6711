import Foundation
import GuidedGeneration
import Inference
import JSON
import TestSupport
import Testing
import Tokenizers

/// With drafts everything is as it is without: texts, counts, ends, errors.
@Suite("Drafts")
struct DraftTests {
    let folder: TemporaryFolder
    let engine: Engine
    let trace: Trace

    init() throws {
        folder = try TemporaryFolder()
        // A narrow model repeats itself soon, so that guesses come true, and samples go elsewhere, so that some do not.
        try TinyModel.write(to: folder.file(), context: 1024)
        trace = try #require(Trace(file: folder.file("trace.json")))
        engine = try Engine.load(folder.file(), options: EngineOptions(threadCount: 2), trace: trace)
    }

    /// Both ways, each in an engine of its own, so that nothing is in a cache.
    private func compare(_ request: GenerationRequest) async throws -> Outcome {
        var (plain, drafted) = (request, request)
        plain.drafts = .never
        drafted.drafts = .always
        let other = try Engine.load(folder.file(), options: EngineOptions(threadCount: 1))
        let expected = try await collect(other.generate(plain))
        let outcome = try await collect(engine.generate(drafted))
        #expect(outcome.text == expected.text)
        #expect(outcome.usage?.generatedTokens == expected.usage?.generatedTokens)
        #expect(outcome.usage?.forcedTokens == expected.usage?.forcedTokens)
        #expect(outcome.reason == expected.reason)
        #expect(outcome.tokenCount == outcome.usage?.generatedTokens)
        return outcome
    }

    private func drafts() throws -> (drafted: Int, accepted: Int) {
        trace.flush()
        let requests = try TraceSummary(file: folder.file("trace.json")).requests
        return (requests.reduce(0) { $0 + $1.drafted }, requests.reduce(0) { $0 + $1.accepted })
    }

    private func prompt(_ seed: Int) -> [TokenID] {
        let text = "The quick brown fox number \(seed) jumps over the lazy dog; the quick brown fox jumps again. "
        return engine.tokenizer.encode(text + text, parsesSpecial: false, addsBOS: true)
    }

    @Test("greedy")
    func greedy() async throws {
        for seed in 0..<6 { _ = try await compare(GenerationRequest(prompt: prompt(seed), maximumTokens: 120)) }
        let counts = try drafts()
        #expect(counts.drafted > counts.accepted && counts.accepted > 100, "\(counts)")
    }

    @Test("sampled, with a seed", arguments: [0.5, 2, 8] as [Double])
    func sampled(temperature: Double) async throws {
        for seed in 0..<4 {
            let sampling = Sampling(mode: .topP(0.95), temperature: temperature, seed: UInt64(seed))
            _ = try await compare(
                GenerationRequest(prompt: prompt(seed), sampling: sampling, maximumTokens: 100))
        }
        // At the highest temperature nothing repeats itself.
        #expect(try drafts().drafted > 0 || temperature > 2)
    }

    @Test("under a grammar, with forced text", arguments: 0..<4)
    func grammar(seed: Int) async throws {
        let schema = try JSONValue(
            parsing: """
                {"type": "array", "minItems": 4, "maxItems": 6, "items": {"type": "object",
                 "properties": {"name": {"enum": ["theodor", "the"]}, "true": {"type": "boolean"},
                 "number": {"type": "integer", "minimum": 0, "maximum": 99999}},
                 "required": ["name", "true", "number"], "additionalProperties": false}}
                """)
        let matcher = Matcher(try Grammar.jsonSchema(schema), trie: engine.tokenTrie)
        let text =
            "[{\"name\":\"theodor\",\"true\":true,\"number\":17},{\"name\":\"theodor\",\"true\":true,\"number\":17}]"
        let sampling = seed == 0 ? Sampling.greedy : Sampling(mode: .random, temperature: 1, seed: UInt64(seed))
        let outcome = try await compare(
            GenerationRequest(
                prompt: engine.tokenizer.encode(text, parsesSpecial: false, addsBOS: true), sampling: sampling,
                maximumTokens: 400, matcher: matcher))
        #expect(try JSONValue(parsing: outcome.text).arrayValue?.count ?? 0 >= 4)
        #expect(try drafts().drafted > 0)
    }

    @Test("the ends of a text fall where they fall without", arguments: [1, 2, 3, 5, 8, 17, 40])
    func ends(count: Int) async throws {
        let outcome = try await compare(GenerationRequest(prompt: prompt(1), maximumTokens: count))
        #expect(outcome.usage?.generatedTokens == count)
        let long = try await compare(GenerationRequest(prompt: prompt(1), maximumTokens: 60))
        let stop = String(long.text.suffix(3 + count % 5))
        _ = try await compare(GenerationRequest(prompt: prompt(1), maximumTokens: 80, stopStrings: [stop]))
        let tokens = engine.tokenizer.encode(long.text, parsesSpecial: false, addsBOS: false)
        _ = try await compare(
            GenerationRequest(prompt: prompt(1), maximumTokens: 80, stopTokens: [tokens[count % tokens.count]]))
    }

    @Test("the context ends where it ends without")
    func context() async throws {
        let small = try Engine.load(folder.file(), options: EngineOptions(threadCount: 1, contextSize: 150))
        var counts: [Int] = []
        for drafts in [GenerationRequest.Drafts.never, .always] {
            var request = GenerationRequest(prompt: Array(prompt(2).prefix(100)))
            request.drafts = drafts
            var text = 0
            let error = await #expect(throws: InferenceError.self) {
                for try await event in small.generate(request) {
                    if case .text(_, let count) = event { text += count }
                }
            }
            guard case .contextSizeExceeded(151, 150)? = error else { throw try #require(error) }
            counts.append(text)
        }
        #expect(counts[0] == counts[1] && counts[0] > 40)
    }

    @Test("several requests at once, some with drafts")
    func together() async throws {
        let requests = (0..<4).map { seed in
            var request = GenerationRequest(prompt: prompt(seed), maximumTokens: 80)
            request.drafts = seed % 2 == 0 ? .always : .never
            return request
        }
        let engine = engine
        let together = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for (index, request) in requests.enumerated() {
                group.addTask { (index, try await collect(engine.generate(request)).text) }
            }
            return try await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
        }
        let other = try Engine.load(folder.file(), options: EngineOptions(threadCount: 1))
        for (index, request) in requests.enumerated() {
            var plain = request
            plain.drafts = .never
            #expect(together[index] == (try await collect(other.generate(plain)).text))
        }
    }

    @Test("what a draft left in the cache is never taken for the text")
    func cache() async throws {
        var request = GenerationRequest(prompt: prompt(3), maximumTokens: 50)
        request.drafts = .always
        let first = try await collect(engine.generate(request))
        let next =
            request.prompt + engine.tokenizer.encode(first.text, parsesSpecial: false, addsBOS: false) + [3, 4, 5]
        let outcome = try await collect(engine.generate(GenerationRequest(prompt: next, maximumTokens: 30)))
        let other = try Engine.load(folder.file(), options: EngineOptions(threadCount: 1))
        let expected = try await collect(other.generate(GenerationRequest(prompt: next, maximumTokens: 30)))
        #expect(outcome.prompt[1] > request.prompt.count)
        #expect(outcome.text == expected.text)
    }
}
