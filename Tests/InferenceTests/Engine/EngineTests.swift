import Foundation
import GuidedGeneration
import Inference
import JSON
import TestSupport
import Testing
import Tokenizers

/// What one request gave.
struct Outcome: Equatable {
    var text = ""
    var tokenCount = 0
    var prompt: [Int] = []
    var reason: FinishReason?
    var usage: GenerationUsage?
    var logprobs: [TokenLogprobs] = []
}

func collect(_ stream: AsyncThrowingStream<GenerationEvent, any Error>) async throws -> Outcome {
    var outcome = Outcome()
    for try await event in stream {
        switch event {
        case .promptProcessed(let total, let cached): outcome.prompt = [total, cached]
        case .text(let text, let count):
            outcome.text += text
            outcome.tokenCount += count
        case .logprobs(let logprobs): outcome.logprobs += logprobs
        case .finished(let reason, let usage):
            outcome.reason = reason
            outcome.usage = usage
        }
    }
    return outcome
}

@Suite("Engine")
struct EngineTests {
    let folder: TemporaryFolder
    let engine: Engine

    init() throws {
        folder = try TemporaryFolder()
        try TinyModel.write(to: folder.file())
        engine = try Engine.load(folder.file(), options: EngineOptions(threadCount: 2, prefillBatch: 16))
    }

    private func tokens(_ text: String) -> [TokenID] {
        engine.tokenizer.encode(text, parsesSpecial: true, addsBOS: true)
    }

    /// Another engine of the same model, with nothing cached.
    private func fresh(_ options: EngineOptions = EngineOptions(threadCount: 2, prefillBatch: 16)) throws -> Engine {
        try Engine.load(folder.file(), options: options)
    }

    private let prompt = "The quick brown fox jumps over the lazy dog, and then the other one."

    // MARK: Prompts that are too long

    @Test("a prompt that cannot fit is refused before it is made into tokens")
    func hopelessPrompts() throws {
        let text = String(repeating: "x", count: 20_000_000)
        let start = ContinuousClock.now
        do {
            _ = try engine.tokens(of: [ChatMessage(.user, text)])
            Issue.record("made into tokens")
        } catch {
            guard case .promptTooLong(let least, let size) = error else { throw error }
            #expect(size == engine.contextSize)
            #expect(least >= text.utf8.count / 20 && least <= text.utf8.count)
            #expect(error.description.hasPrefix("at least "))
        }
        #expect(throws: InferenceError.self) { try engine.checkLength(of: text) }
        // Finding the tokens takes many times as long in a debug build.
        #expect(ContinuousClock.now - start < .seconds(60))
        // What might fit is counted.
        let long = String(repeating: "xy ", count: 400)
        #expect(try engine.tokens(of: [ChatMessage(.user, long)]).count > engine.contextSize)
        #expect(
            try engine.tokens(of: [ChatMessage(.user, String(repeating: long, count: 20))], isBounded: false).count > 0)
    }

    // MARK: Counts and ends

    @Test("counts are true and the text is that of its tokens")
    func counts() async throws {
        let prompt = tokens(prompt)
        let outcome = try await collect(engine.generate(GenerationRequest(prompt: prompt, maximumTokens: 20)))
        #expect(outcome.prompt == [prompt.count, 0])
        #expect(outcome.reason == .maximumTokens)
        #expect(outcome.tokenCount == 20)
        #expect(
            outcome.usage
                == GenerationUsage(promptTokens: prompt.count, cachedTokens: 0, generatedTokens: 20, forcedTokens: 0))
        #expect(!outcome.text.isEmpty)
    }

    @Test("probabilities are those of the tokens, and do not change the text", arguments: [false, true])
    func logprobs(isConstrained: Bool) async throws {
        var request = GenerationRequest(prompt: tokens(prompt), maximumTokens: 12)
        if isConstrained {
            let schema: JSONValue = ["type": "object", "properties": ["name": ["enum": ["in", "true"]]]]
            request.matcher = Matcher(try Grammar.jsonSchema(schema), trie: engine.tokenTrie)
        }
        let plain = try await collect(engine.generate(request))
        request.logprobCount = engine.description.vocabularySize
        let outcome = try await collect(engine.generate(request))
        if !isConstrained { #expect(outcome.text == plain.text) }
        #expect(outcome.logprobs.count == outcome.usage?.generatedTokens)
        #expect(
            engine.tokenizer.decode(outcome.logprobs.map(\.chosen.token), skipsSpecial: true).hasPrefix(outcome.text))
        for token in outcome.logprobs {
            // All tokens together have the probability 1.
            #expect(abs(token.top.reduce(0) { $0 + exp($1.logprob) } - 1) < 1e-6)
            #expect(token.top.contains(token.chosen))
            #expect(zip(token.top, token.top.dropFirst()).allSatisfy { $0.logprob >= $1.logprob })
            if !isConstrained { #expect(token.chosen.token == token.top[0].token) }
        }
    }

    @Test("a stop token ends the text and is not part of it")
    func stopTokens() async throws {
        let request = GenerationRequest(prompt: tokens(prompt), maximumTokens: 30)
        let free = try await collect(engine.generate(request))
        let generated = try plainTokens(request.prompt, count: 30)
        #expect(free.text == engine.tokenizer.decode(generated, skipsSpecial: true))
        let stop = generated[7]
        let first = try #require(generated.firstIndex(of: stop))
        var stopped = request
        stopped.stopTokens = [stop]
        let outcome = try await collect(engine.generate(stopped))
        #expect(outcome.reason == .endOfText)
        #expect(outcome.usage?.generatedTokens == first)
        #expect(outcome.text == engine.tokenizer.decode(generated[..<first], skipsSpecial: true))
    }

    /// A greedy answer the plain way: the whole text is computed anew for each token.
    private func plainTokens(_ prompt: [TokenID], count: Int) throws -> [TokenID] {
        let transformer = try Transformer.load(folder.file(), threadCount: 1)
        var tokens = prompt
        for _ in 0..<count {
            var best: TokenID = 0
            try transformer.evaluate(tokens, chunk: tokens.count) { position, logits in
                guard position == tokens.count - 1 else { return }
                best = TokenID(logits.indices.max { logits[$0] < logits[$1] }!)
            }
            tokens.append(best)
        }
        return Array(tokens[prompt.count...])
    }

    @Test("a stop string ends the text and is not part of it")
    func stopStrings() async throws {
        let free = try await collect(engine.generate(GenerationRequest(prompt: tokens(prompt), maximumTokens: 30)))
        let scalars = Array(free.text.unicodeScalars)
        let middle = scalars.count / 2
        var stop = ""
        stop.unicodeScalars.append(contentsOf: scalars[middle..<middle + 2])
        let (text, pattern) = (Array(free.text.utf8), Array(stop.utf8))
        let end = try #require((0...(text.count - pattern.count)).first { text[$0...].starts(with: pattern) })
        let outcome = try await collect(
            engine.generate(GenerationRequest(prompt: tokens(prompt), maximumTokens: 30, stopStrings: [stop])))
        #expect(outcome.reason == .stopString(stop))
        #expect(Array(outcome.text.utf8) == Array(text[..<end]))
    }

    @Test("what does not fit the context is an error with the true counts")
    func context() async throws {
        let small = try fresh(EngineOptions(threadCount: 1, contextSize: 40, prefillBatch: 16))
        let long = [TokenID](repeating: 5, count: 40)
        let tooLong = await #expect(throws: InferenceError.self) {
            try await collect(small.generate(GenerationRequest(prompt: long)))
        }
        guard case .contextSizeExceeded(41, 40)? = tooLong else { throw try #require(tooLong) }

        let grown = await #expect(throws: InferenceError.self) {
            try await collect(small.generate(GenerationRequest(prompt: Array(long.prefix(30)))))
        }
        guard case .contextSizeExceeded(41, 40)? = grown else { throw try #require(grown) }

        let exact = try await collect(
            small.generate(GenerationRequest(prompt: Array(long.prefix(30)), maximumTokens: 10)))
        #expect(exact.reason == .maximumTokens && exact.usage?.generatedTokens == 10)
    }

    @Test("requests that cannot be are errors")
    func invalidRequests() async throws {
        let size = TokenID(engine.description.vocabularySize)
        let wrong: [(GenerationRequest, String)] = [
            (GenerationRequest(prompt: []), "no token"), (GenerationRequest(prompt: [1, size]), "token \(size)"),
            (GenerationRequest(prompt: [-1]), "token -1"),
            (GenerationRequest(prompt: [1], maximumTokens: 0), "maximum"),
            (GenerationRequest(prompt: [1], sampling: Sampling(mode: .topK(0))), "top-k"),
        ]
        for (request, text) in wrong {
            let error = await #expect(throws: InferenceError.self) { try await collect(engine.generate(request)) }
            #expect(try #require(error).description.contains(text))
        }
    }

    // MARK: Chance

    @Test("the same seed gives the same text, in the same engine and in another")
    func seeds() async throws {
        let sampling = Sampling(mode: .random, temperature: 20, seed: 7)
        let request = GenerationRequest(prompt: tokens(prompt), sampling: sampling, maximumTokens: 30)
        let first = try await collect(engine.generate(request))
        #expect(try await collect(engine.generate(request)).text == first.text)
        #expect(try await collect(fresh().generate(request)).text == first.text)
        var texts: Set<String> = []
        for seed: UInt64 in 8..<16 {
            var other = request
            other.sampling.seed = seed
            texts.insert(try await collect(engine.generate(other)).text)
        }
        #expect(texts.count > 1)
    }

    // MARK: Cache

    @Test("what is cached is not computed again and changes nothing")
    func prefixReuse() async throws {
        let first = tokens(prompt)
        let firstOutcome = try await collect(engine.generate(GenerationRequest(prompt: first, maximumTokens: 12)))
        // The same again: all but the last token is cached.
        let again = try await collect(engine.generate(GenerationRequest(prompt: first, maximumTokens: 12)))
        #expect(again.prompt == [first.count, first.count - 1])
        #expect(again.text == firstOutcome.text)
        // The conversation goes on: prompt, answer and a new turn.
        let second = first + tokens(firstOutcome.text + " And what then?")
        let goesOn = try await collect(engine.generate(GenerationRequest(prompt: second, maximumTokens: 12)))
        #expect(goesOn.prompt[1] >= first.count)
        #expect(
            goesOn.text
                == (try await collect(fresh().generate(GenerationRequest(prompt: second, maximumTokens: 12)))).text)
        // A third conversation shares the beginning only; afterwards the second one is still there.
        let third = Array(first.prefix(20)) + tokens("something else entirely, with some more words in it to be long")
        let branch = try await collect(engine.generate(GenerationRequest(prompt: third, maximumTokens: 12)))
        #expect(branch.prompt[1] == 20)
        #expect(
            branch.text
                == (try await collect(fresh().generate(GenerationRequest(prompt: third, maximumTokens: 12)))).text)
        let back = try await collect(engine.generate(GenerationRequest(prompt: second, maximumTokens: 12)))
        #expect(back.prompt[1] == second.count - 1)
        #expect(back.text == goesOn.text)
    }

    @Test("without a cache every prompt is computed")
    func noCache() async throws {
        let engine = try fresh(EngineOptions(threadCount: 1, cachedTokenLimit: 0))
        for _ in 0..<2 {
            let outcome = try await collect(
                engine.generate(GenerationRequest(prompt: tokens(prompt), maximumTokens: 2)))
            #expect(outcome.prompt[1] == 0)
        }
    }

    @Test("a cache that grows keeps what it has")
    func growth() async throws {
        // Beyond the slots that a cache begins with.
        let request = GenerationRequest(prompt: tokens(prompt), maximumTokens: 400)
        let outcome = try await collect(engine.generate(request))
        #expect(outcome.usage?.generatedTokens == 400)
        let wide = try fresh(EngineOptions(threadCount: 1, prefillBatch: 512))
        #expect(try await collect(wide.generate(request)).text == outcome.text)
    }

    // MARK: Several requests

    @Test("requests at the same time give what they give alone")
    func batching() async throws {
        let prompts = (0..<6).map {
            tokens("Request number \($0): " + String(repeating: "word \($0) ", count: 4 * $0 + 1))
        }
        var alone: [String] = []
        for prompt in prompts {
            alone.append(try await collect(fresh().generate(GenerationRequest(prompt: prompt, maximumTokens: 25))).text)
        }
        let engine = engine
        let together = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for (index, prompt) in prompts.enumerated() {
                group.addTask {
                    let request = GenerationRequest(prompt: prompt, maximumTokens: 25)
                    return (index, try await collect(engine.generate(request)).text)
                }
            }
            return try await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
        }
        #expect(prompts.indices.map { together[$0] } == alone)
    }

    @Test("a cancelled request stops, also in its prompt, and the others go on")
    func cancellation() async throws {
        try TinyModel.write(to: folder.file("deep.gguf"), layers: 24, width: 256, context: 16_384)
        let deep = try Engine.load(folder.file("deep.gguf"), options: EngineOptions(threadCount: 2))
        let short = GenerationRequest(prompt: tokens("hello there"), maximumTokens: 3)
        let expected = try await collect(deep.generate(short)).text

        let clock = ContinuousClock()
        let part = GenerationRequest(prompt: (0..<1_000).map { TokenID(($0 + 7) % 200) }, maximumTokens: 1)
        let partTime = try await clock.measure { _ = try await collect(deep.generate(part)) }
        let long = GenerationRequest(prompt: (0..<16_000).map { TokenID($0 % 200) }, maximumTokens: 3)
        let task = Task { try await collect(deep.generate(long)) }
        try await Task.sleep(for: .milliseconds(100))
        let start = clock.now
        task.cancel()
        #expect(try await collect(deep.generate(short)).text == expected)
        // The whole prompt takes more than sixteen times the time of a part; one step of it, less than that.
        #expect(clock.now - start < partTime * 8)
        let outcome = try? await task.value
        #expect(outcome?.reason == nil)
    }

    @Test("a stream that nobody reads any more stops its request")
    func abandonedStream() async throws {
        do {
            var iterator = engine.generate(GenerationRequest(prompt: tokens(prompt))).makeAsyncIterator()
            _ = try await iterator.next()
        }
        let outcome = try await collect(engine.generate(GenerationRequest(prompt: tokens(prompt), maximumTokens: 3)))
        #expect(outcome.usage?.generatedTokens == 3)
    }

    @Test("a request outlives the last other reference to its engine")
    func lifetime() async throws {
        var engine: Engine? = try fresh()
        let stream = engine!.generate(GenerationRequest(prompt: tokens(prompt), maximumTokens: 40))
        engine = nil
        #expect(try await collect(stream).usage?.generatedTokens == 40)
    }

    // MARK: Constraints

    @Test("one of a set of texts", arguments: [Sampling.greedy, Sampling(mode: .random, temperature: 2, seed: 3)])
    func choice(sampling: Sampling) async throws {
        let texts = ["yes", "no", "north by northwest", "nothing"]
        let matcher = Matcher(try Grammar.choice(texts), trie: engine.tokenTrie)
        let outcome = try await collect(
            engine.generate(GenerationRequest(prompt: tokens(prompt), sampling: sampling, matcher: matcher)))
        #expect(texts.contains(outcome.text))
        #expect(outcome.tokenCount == outcome.usage?.generatedTokens)
    }

    @Test("JSON by a schema, with forced text in the tokenizer's own tokens", arguments: 0..<5)
    func schema(seed: Int) async throws {
        let schema = try JSONValue(
            parsing: """
                {"type": "object", "properties": {"name": {"enum": ["theodor", "the"]}, "true": {"type": "boolean"}},
                 "required": ["name", "true"], "additionalProperties": false}
                """)
        let matcher = Matcher(try Grammar.jsonSchema(schema), trie: engine.tokenTrie)
        let request = GenerationRequest(
            prompt: tokens(prompt), sampling: Sampling(mode: .random, temperature: 3, seed: UInt64(seed)),
            maximumTokens: 200, matcher: matcher)
        let outcome = try await collect(engine.generate(request))
        let value = try JSONValue(parsing: outcome.text)
        #expect(["theodor", "the"].contains(value["name"]?.stringValue ?? ""))
        #expect(value["true"]?.boolValue != nil)
        let usage = try #require(outcome.usage)
        #expect(usage.forcedTokens > 0 && usage.forcedTokens < usage.generatedTokens)
        // The cache holds the forced tokens as the tokenizer spells them, so that the answer is found again as text.
        let next = tokens(prompt) + engine.tokenizer.encode(outcome.text, parsesSpecial: false, addsBOS: false) + [7]
        let followed = try await collect(engine.generate(GenerationRequest(prompt: next, maximumTokens: 1)))
        #expect(followed.prompt[1] >= tokens(prompt).count + 3)
    }

    @Test("text that is forced from beginning to end needs no step of the model")
    func forcedThroughout() async throws {
        let matcher = Matcher(try Grammar.choice(["the name in there"]), trie: engine.tokenTrie)
        let outcome = try await collect(engine.generate(GenerationRequest(prompt: tokens(prompt), matcher: matcher)))
        #expect(outcome.text == "the name in there")
        #expect(outcome.reason == .constraintSatisfied)
        #expect(outcome.usage?.forcedTokens == outcome.usage?.generatedTokens)
    }

    @Test("a bracket that opens is chosen together with what may follow it")
    func openingBracket() async throws {
        // The vocabulary has the bracket alone and in one token with a quotation mark.
        let grammar = try Grammar.jsonSchema(
            JSONValue(parsing: #"{"type": "object", "additionalProperties": {"type": "boolean"}}"#))
        var texts: Set<String> = []
        for seed in UInt64(0)..<20 {
            let request = GenerationRequest(
                prompt: tokens(prompt), sampling: Sampling(mode: .random, temperature: 3, seed: seed),
                maximumTokens: 1, matcher: Matcher(grammar, trie: engine.tokenTrie))
            texts.insert(try await collect(engine.generate(request)).text)
        }
        #expect(texts == ["{", "{\""])
    }

    @Test("the maximum holds inside forced text")
    func forcedMaximum() async throws {
        let matcher = Matcher(try Grammar.choice(["the name in there"]), trie: engine.tokenTrie)
        let outcome = try await collect(
            engine.generate(GenerationRequest(prompt: tokens(prompt), maximumTokens: 3, matcher: matcher)))
        #expect(outcome.reason == .maximumTokens && outcome.usage?.generatedTokens == 3)
        #expect("the name in there".hasPrefix(outcome.text))
    }
}
