import Foundation
import Inference
import TestSupport
import Testing
import Tokenizers

/// A cache of 8 bits: what it computes is near to what one of 16 bits does, and as independent of how it is computed.
@Suite("Cache types")
struct CacheTypeTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        // Heads of 32, so that a scale is shared by as many numbers as in larger models.
        try TinyModel.write(to: folder.file(), width: 128, context: 1024)
    }

    private func engine(
        _ type: CacheType, threads: Int = 2, prefixes: String? = nil, prefillBatch: Int = 32
    ) throws -> Engine {
        try Engine.load(
            folder.file(),
            options: EngineOptions(
                threadCount: threads, cacheType: type, prefixFolder: prefixes.map { folder.file($0) },
                prefillBatch: prefillBatch))
    }

    private func text(_ seed: Int, _ count: Int) -> [TokenID] {
        (0..<count).map { TokenID(($0 * $0 + seed * 13) % 250) }
    }

    private func answer(_ engine: Engine, _ prompt: [TokenID], _ count: Int = 12) async throws -> Outcome {
        try await collect(engine.generate(GenerationRequest(prompt: prompt, maximumTokens: count)))
    }

    @Test("takes about half of the memory, and a machine has more context for it")
    func memory() throws {
        let sizes = try CacheType.allCases.map { try engine($0).description.cacheBytesPerToken }
        // Two layers, keys and values, two heads of 32.
        #expect(sizes == [8 * 32 * 2, 8 * (32 + 2)])
        try TinyModel.write(to: folder.file("long.gguf"), width: 128, context: 1 << 28)
        let contexts = try CacheType.allCases.map {
            Double(try Engine.contextSize(of: folder.file("long.gguf"), options: EngineOptions(cacheType: $0)))
        }
        #expect(abs(contexts[1] / contexts[0] - 64.0 / 34) < 0.001)
    }

    @Test(
        "its logits are near to those of the other, and not the same, even where all keys have something large in common",
        arguments: [false, true])
    func logits(keysAreBiased: Bool) throws {
        try TinyModel.write(to: folder.file(), width: 128, context: 1024) { writer in
            guard keysAreBiased else { return }
            for index in writer.tensors.indices where writer.tensors[index].name.hasSuffix("attn_k.bias") {
                // The pairs of the lowest frequencies, as models have it.
                for dimension in [13, 14, 15, 29, 30, 31] {
                    let place = 4 * (32 + dimension)
                    writer.tensors[index].data.replaceSubrange(
                        place..<place + 4, with: withUnsafeBytes(of: Float(200).bitPattern.littleEndian, Array.init))
                }
            }
        }
        let transformer = try Transformer.load(folder.file(), threadCount: 2)
        func logits(_ type: CacheType) throws -> [[Float]] {
            var rows: [[Float]] = []
            try transformer.evaluate(text(1, 300), chunk: 64, cacheType: type) { _, row in rows.append(Array(row)) }
            return rows
        }
        var (difference, size) = (0.0, 0.0)
        for (row, exact) in zip(try logits(.q8_0), try logits(.f16)) {
            for (value, expected) in zip(row, exact) {
                difference += Double((value - expected) * (value - expected))
                size += Double(expected * expected)
            }
        }
        #expect(difference > 0)
        #expect((difference / size).squareRoot() < 0.05)
    }

    @Test("an answer is that of computing the whole text anew for each token")
    func greedy() async throws {
        let engine = try engine(.q8_0)
        let transformer = try Transformer.load(folder.file(), threadCount: 1)
        let prompt = text(2, 150)
        var tokens = prompt
        for _ in 0..<12 {
            var next: TokenID = 0
            try transformer.evaluate(tokens, chunk: tokens.count, cacheType: .q8_0) { position, logits in
                guard position == tokens.count - 1 else { return }
                next = TokenID(logits.indices.max { logits[$0] < logits[$1] }!)
            }
            tokens.append(next)
        }
        let outcome = try await answer(engine, prompt)
        #expect(outcome.text == engine.tokenizer.decode(Array(tokens[prompt.count...]), skipsSpecial: true))
    }

    @Test("drafts change nothing")
    func drafts() async throws {
        for seed in 0..<3 {
            let prompt = text(seed, 30) + text(seed, 30)
            var request = GenerationRequest(prompt: prompt, maximumTokens: 60)
            request.drafts = .never
            let plain = try await collect(engine(.q8_0, threads: 1).generate(request))
            request.drafts = .always
            #expect(try await collect(engine(.q8_0).generate(request)).text == plain.text)
        }
    }

    @Test("sessions that share a beginning compute it once, and get what each gets alone")
    func sharedBeginning() async throws {
        let engine = try engine(.q8_0)
        let shared = text(3, 150)
        let prompts = (0..<4).map { shared + text(20 + $0, 30) }
        let outcomes = try await withThrowingTaskGroup(of: (Int, Outcome).self) { group in
            for (index, prompt) in prompts.enumerated() {
                group.addTask { (index, try await answer(engine, prompt)) }
            }
            return try await group.reduce(into: [Int: Outcome]()) { $0[$1.0] = $1.1 }
        }
        #expect(outcomes.values.count { $0.prompt[1] >= shared.count } == 3)
        for (index, prompt) in prompts.enumerated() {
            let alone = try await answer(self.engine(.q8_0, threads: 1, prefillBatch: 256), prompt)
            #expect(outcomes[index]?.text == alone.text)
        }
    }

    @Test("a snapshot is read by engines of its type alone")
    func snapshots() async throws {
        let prefix = text(4, 203)
        let prompt = prefix + text(5, 20)
        var sizes: [Int] = []
        for type in CacheType.allCases {
            try await engine(type, prefixes: "prefixes").prewarm(prefix)
            let files = try FileManager.default.contentsOfDirectory(
                at: folder.file("prefixes"), includingPropertiesForKeys: [.fileSizeKey])
            #expect(files.count == sizes.count + 1)
            let total = try files.reduce(0) { $0 + (try $1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0) }
            sizes.append(total - sizes.reduce(0, +))
            let outcome = try await answer(engine(type, prefixes: "prefixes"), prompt)
            #expect(outcome.prompt == [prompt.count, prefix.count])
            #expect(outcome.text == (try await answer(engine(type), prompt)).text)
            // The other type has none yet, or its own.
            let other: CacheType = type == .f16 ? .q8_0 : .f16
            let crossed = try await answer(engine(other, prefixes: "prefixes"), prompt)
            #expect(crossed.prompt == [prompt.count, type == .f16 ? 0 : prefix.count])
            #expect(crossed.text == (try await answer(engine(other), prompt)).text)
        }
        #expect(sizes[1] * 100 < sizes[0] * 56)
    }
}
