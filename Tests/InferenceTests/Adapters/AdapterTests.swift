import Foundation
import Inference
import TestSupport
import Testing
import Tokenizers

/// Adapters beside a base against the model that they are merged into, and against bad files.
@Suite("Adapters")
struct AdapterTests {
    static func logits(_ model: URL, _ tokens: [TokenID], _ adapter: URL? = nil, chunk: Int) throws -> [[Float]] {
        let transformer = try Transformer.load(model, threadCount: 2)
        let loaded = try adapter.map { try Adapter(AdapterFile($0), for: transformer.configuration) }
        var result: [[Float]] = []
        try transformer.evaluate(tokens, chunk: chunk, adapter: loaded) { _, logits in result.append(Array(logits)) }
        return result
    }

    static func error(_ logits: [[Float]], _ expected: [[Float]]) -> Float {
        zip(logits, expected).map { row, expected in
            zip(row, expected).map { abs($0 - $1) }.max()! / expected.map(abs).max()!
        }.max()!
    }

    @Test(
        "logits are those of the merged model, in every family, as a prompt and token by token",
        arguments: FamilyTests.fixtures)
    func merged(fixture: FamilyTests.Fixture) throws {
        let folder = try TemporaryFolder()
        let base = fixture.writer
        let layers = Int(fixture.metadata.first { $0.key.hasSuffix(".block_count") }!.int!)
        let adapter = AdapterFixture(
            base, architecture: fixture.metadata.first { $0.key == "general.architecture" }!.str!, alpha: 3,
            matrices: AdapterFixture.matrices(base, layers: layers), seed: fixture.name, scale: 0.1)
        try base.write(to: folder.file())
        try adapter.merged(into: base).write(to: folder.file("merged.gguf"))
        try adapter.gguf.write(to: folder.file("adapter.gguf"))
        let tokens = Array(fixture.tokens.prefix(24))
        let expected = try Self.logits(folder.file("merged.gguf"), tokens, chunk: tokens.count)
        #expect(try Self.error(Self.logits(folder.file(), tokens, chunk: 24), expected) > 0.01, "it changes nothing")
        for chunk in [24, 5, 1] {
            let logits = try Self.logits(folder.file(), tokens, folder.file("adapter.gguf"), chunk: chunk)
            #expect(Self.error(logits, expected) < 1e-3, "chunks of \(chunk)")
        }
    }

    @Test(
        "peft's files are the GGUF files of the same adapter, in families that reorder queries and keys and in others")
    func peft() throws {
        for name in ["llama", "qwen2", "phi3"] {
            let fixture = try #require(FamilyTests.fixtures.first { $0.name == name })
            let folder = try TemporaryFolder()
            let base = fixture.writer
            try base.write(to: folder.file())
            let adapter = AdapterFixture(
                base, architecture: name, alpha: 5, matrices: AdapterFixture.matrices(base, layers: 2), seed: "peft",
                scale: 0.1)
            try adapter.gguf.write(to: folder.file("adapter.gguf"))
            var writer = SafetensorsWriter()
            for factor in adapter.factors {
                let module = PEFT.module(factor.matrix, fusesGateUp: name == "phi3")
                writer.tensors.append(("\(module).lora_A.weight", [factor.rank, factor.columns], factor.a))
                var b = factor.b
                let isKey = factor.matrix.hasSuffix("attn_k")
                if name == "llama", isKey || factor.matrix.hasSuffix("attn_q") {
                    b = PEFT.separated(b, rank: factor.rank, heads: isKey ? 2 : 4)
                }
                writer.tensors.append(("\(module).lora_B.weight", [factor.rows, factor.rank], b))
            }
            try writer.data.write(to: folder.file("adapter_model.safetensors"))
            try Data(#"{"peft_type": "LORA", "r": 11, "lora_alpha": 5, "bias": "none"}"#.utf8)
                .write(to: folder.file("adapter_config.json"))
            let tokens = Array(fixture.tokens.prefix(12))
            let expected = try Self.logits(folder.file(), tokens, folder.file("adapter.gguf"), chunk: 12)
            let logits = try Self.logits(folder.file(), tokens, folder.file("adapter_model.safetensors"), chunk: 12)
            #expect(logits == expected, "\(name)")
        }
    }

    @Test("requests with different adapters and without any give side by side what each gives alone")
    func sideBySide() async throws {
        let folder = try TemporaryFolder()
        var base = GGUFWriter()
        try TinyModel.write(to: folder.file()) { base = $0 }
        var loaded: [Adapter?] = [nil]
        for seed in ["one", "two"] {
            let matrices = AdapterFixture.matrices(base, layers: 2)
            try AdapterFixture(base, architecture: "qwen2", alpha: 4, matrices: matrices, seed: seed).gguf
                .write(to: folder.file("\(seed).gguf"))
            loaded.append(
                try Adapter(AdapterFile(folder.file("\(seed).gguf")), for: ModelConfiguration(GGUFFile(folder.file()))))
        }
        let adapters = loaded
        // The same prompt for all: a prefix of one adapter must not be taken for another's.
        let prompt = (0..<90).map { TokenID($0 * 7 % 250) }
        func answer(_ engine: Engine, _ adapter: Adapter?) async throws -> String {
            var request = GenerationRequest(prompt: prompt, maximumTokens: 24)
            request.adapter = adapter
            // Probabilities to the last bit say more than the words of so small a model.
            request.logprobCount = 2
            var text = ""
            for try await event in engine.generate(request) {
                if case .logprobs(let tokens) = event { text += "\(tokens)" }
            }
            return text
        }
        var alone: [String] = []
        for adapter in adapters {
            alone.append(
                try await answer(Engine.load(folder.file(), options: EngineOptions(threadCount: 2)), adapter))
        }
        #expect(Set(alone).count == 3)

        let engine = try Engine.load(
            folder.file(), options: EngineOptions(threadCount: 2, cachedTokenLimit: 4096, concurrentRequests: 6))
        for round in 1...2 {
            let answers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
                for index in 0..<6 {
                    group.addTask { (index, try await answer(engine, adapters[index % 3])) }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            for index in 0..<6 { #expect(answers[index] == alone[index % 3], "request \(index) of round \(round)") }
        }
    }

    @Test("cached prefixes, in memory and on the disk, are kept apart by adapter")
    func prefixes() async throws {
        let folder = try TemporaryFolder()
        var base = GGUFWriter()
        try TinyModel.write(to: folder.file()) { base = $0 }
        let matrices = AdapterFixture.matrices(base, layers: 2)
        for seed in ["one", "two"] {
            try AdapterFixture(base, architecture: "qwen2", alpha: 4, matrices: matrices, seed: seed).gguf
                .write(to: folder.file("\(seed).gguf"))
        }
        func load(_ seed: String) throws -> Adapter {
            try Adapter(AdapterFile(folder.file("\(seed).gguf")), for: ModelConfiguration(GGUFFile(folder.file())))
        }
        func engine() throws -> Engine {
            try Engine.load(
                folder.file(),
                options: EngineOptions(
                    threadCount: 1, cachedTokenLimit: 4096, prefixFolder: folder.url.appendingPathComponent("prefixes"))
            )
        }
        let prompt = (0..<200).map { TokenID($0 * 3 % 250) }
        func cached(_ engine: Engine, _ adapter: Adapter?) async throws -> Int {
            var request = GenerationRequest(prompt: prompt, maximumTokens: 1)
            request.adapter = adapter
            var count = -1
            for try await event in engine.generate(request) {
                if case .promptProcessed(_, let cached) = event { count = cached }
            }
            return count
        }
        let first = try engine()
        try await first.prewarm(prompt, adapter: load("one"))
        #expect(try await cached(first, nil) == 0)
        #expect(try await cached(first, load("two")) == 0)
        // Loaded anew, it is the same adapter.
        #expect(try await cached(first, load("one")) == 199)
        #expect(try await cached(first, nil) == 199)

        let second = try engine()
        #expect(try await cached(second, nil) == 0)
        #expect(try await cached(second, load("two")) == 0)
        #expect(try await cached(second, load("one")) == 199)
    }

    @Test("an adapter of another model is refused before anything is computed")
    func otherModel() async throws {
        let folder = try TemporaryFolder()
        var base = GGUFWriter()
        try TinyModel.write(to: folder.file("wide.gguf"), width: 64) { base = $0 }
        try TinyModel.write(to: folder.file())
        try AdapterFixture(base, architecture: "qwen2", alpha: 1, matrices: [("blk.0.ffn_up", 2)], seed: "wide").gguf
            .write(to: folder.file("adapter.gguf"))
        let file = try AdapterFile(folder.file("adapter.gguf"))
        #expect(
            throws: AdapterError.wrongShape(
                tensor: "blk.0.ffn_up.weight.lora_a", expected: "32 columns", actual: [2, 64])
        ) { try Adapter(file, for: ModelConfiguration(GGUFFile(folder.file()))) }
        var request = GenerationRequest(prompt: [1, 2])
        request.adapter = try Adapter(file, for: ModelConfiguration(GGUFFile(folder.file("wide.gguf"))))
        let stream = try Engine.load(folder.file(), options: EngineOptions(threadCount: 1)).generate(request)
        await #expect {
            for try await _ in stream {}
        } throws: { error in
            guard case InferenceError.adapter(.otherBase) = error else { return false }
            return true
        }
    }
}

/// peft's names and orders.
enum PEFT {
    static func module(_ matrix: String, fusesGateUp: Bool = false) -> String {
        guard matrix != "output" else { return "base_model.model.lm_head" }
        let parts = matrix.split(separator: ".")
        let modules = [
            "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
            "attn_qkv": "self_attn.qkv_proj", "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj",
            "ffn_up": fusesGateUp ? "mlp.gate_up_proj" : "mlp.up_proj", "ffn_down": "mlp.down_proj",
        ]
        return "base_model.model.model.layers.\(parts[1]).\(modules[String(parts[2])]!)"
    }

    /// Rows from the order of GGUF files, in which numbers i and i + half of a head are neighbours, to that of checkpoints.
    static func separated(_ values: [Float], rank: Int, heads: Int) -> [Float] {
        let rows = values.count / rank
        let width = rows / heads
        var result = values
        for head in 0..<heads {
            for pair in 0..<width / 2 {
                for part in 0..<2 {
                    let from = head * width + 2 * pair + part
                    let to = head * width + part * (width / 2) + pair
                    for k in 0..<rank { result[to * rank + k] = values[from * rank + k] }
                }
            }
        }
        return result
    }
}
