import Foundation
import Inference
import Testing
import Tokenizers

@Suite("Loading models")
struct ModelLoadingTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func load(_ changes: (inout GGUFWriter) -> Void) throws -> Engine {
        try TinyModel.write(to: folder.file(), changes: changes)
        return try Engine.load(folder.file(), options: EngineOptions(threadCount: 1))
    }

    private func error(_ changes: (inout GGUFWriter) -> Void) throws -> InferenceError {
        let error = #expect(throws: InferenceError.self) { try load(changes) }
        return try #require(error)
    }

    private func replace(_ key: String, _ value: GGUFWriter.Value?, _ writer: inout GGUFWriter) {
        writer.pairs.removeAll { $0.key == key }
        if let value { writer.pairs.append((key, value)) }
    }

    @Test("a loaded model says what it is")
    func description() throws {
        let engine = try load { _ in }
        let description = engine.description
        #expect(description.name == "tiny" && description.architecture == "qwen2" && description.layerCount == 2)
        #expect(description.trainedContextSize == 512 && engine.contextSize == 512)
        #expect(description.vocabularySize == engine.tokenizer.count)
        #expect(
            description.parameterCount == 8832 + 32 + 2
                * (32 + 2 * 32 * 32 + 2 * 32 * 16 + 32 + 2 * 16 + 32 + 3 * 32 * 64))
        #expect(description.cacheBytesPerToken == 2 * 2 * 16 * 2)
    }

    @Test(
        "a missing key is named",
        arguments: [
            "general.architecture", "qwen2.block_count", "qwen2.context_length", "qwen2.embedding_length",
            "qwen2.feed_forward_length", "qwen2.attention.head_count", "qwen2.attention.layer_norm_rms_epsilon",
            "tokenizer.ggml.model", "tokenizer.ggml.tokens",
        ])
    func missingKey(key: String) throws {
        let error = try error { replace(key, nil, &$0) }
        guard case .missingMetadata(key) = error else { throw error }
    }

    @Test(
        "a wrong number is named",
        arguments: [
            ("qwen2.block_count", GGUFWriter.Value.uint32(0)), ("qwen2.block_count", .uint32(1 << 31)),
            ("qwen2.block_count", .string("two")), ("qwen2.embedding_length", .uint64(1 << 62)),
            ("qwen2.attention.head_count", .uint32(3)), ("qwen2.attention.head_count_kv", .uint32(3)),
            ("qwen2.attention.head_count_kv", .uint32(0)), ("qwen2.attention.key_length", .uint32(7)),
            ("qwen2.attention.value_length", .uint32(16)), ("qwen2.context_length", .int32(-1)),
            ("qwen2.attention.layer_norm_rms_epsilon", .float32(.nan)), ("qwen2.rope.freq_base", .float32(0)),
            ("qwen2.rope.dimension_count", .uint32(64)), ("qwen2.rope.scaling.type", .string("magic")),
        ])
    func wrongNumber(key: String, value: GGUFWriter.Value) throws {
        let error = try error { replace(key, value, &$0) }
        guard case .invalidMetadata(key, _) = error else { throw error }
    }

    @Test("an unknown architecture is refused with the known ones")
    func unknownArchitecture() throws {
        let error = try error { replace("general.architecture", .string("rwkv7"), &$0) }
        guard case .unsupportedArchitecture("rwkv7", let supported) = error else { throw error }
        #expect(supported.contains("llama") && supported.contains("gemma3"))
    }

    @Test("tensors that are missing, too many or of the wrong shape are named")
    func tensors() throws {
        var error = try error { $0.tensors.removeAll { $0.name == "blk.1.ffn_up.weight" } }
        guard case .missingTensor("blk.1.ffn_up.weight") = error else { throw error }
        error = try self.error { $0.tensors.removeAll { $0.name == "token_embd.weight" } }
        guard case .missingTensor("token_embd.weight") = error else { throw error }
        error = try self.error { $0.tensors.append(.init("blk.0.attn_sinks.weight", [4], [1, 2, 3, 4])) }
        guard case .unexpectedTensor("blk.0.attn_sinks.weight") = error else { throw error }
        error = try self.error { writer in
            let index = writer.tensors.firstIndex { $0.name == "blk.0.attn_q.weight" }!
            writer.tensors[index].shape = [16, 64]
        }
        guard case .wrongShape("blk.0.attn_q.weight", [32, 32], [16, 64]) = error else { throw error }
    }

    @Test("options that cannot be are named")
    func options() throws {
        try TinyModel.write(to: folder.file())
        let wrong: [(String, EngineOptions)] = [
            ("threadCount", EngineOptions(threadCount: 0)), ("contextSize", EngineOptions(contextSize: 0)),
            ("contextSize", EngineOptions(contextSize: 513)), ("prefillBatch", EngineOptions(prefillBatch: 0)),
            ("cachedTokenLimit", EngineOptions(cachedTokenLimit: -1)),
            ("concurrentRequests", EngineOptions(concurrentRequests: 0)),
        ]
        for (name, options) in wrong {
            let error = #expect(throws: InferenceError.self) { try Engine.load(folder.file(), options: options) }
            guard case .invalidOption(name, _)? = error else { throw try #require(error) }
        }
    }

    @Test("flipped bits in a model are refused or harmless, never a crash", arguments: 0..<3)
    func bitFlips(seed: Int) throws {
        try TinyModel.write(to: folder.file())
        let whole = try Data(contentsOf: folder.file())
        // The part before the tensors' data is what can do harm.
        let header = whole.count - whole.count / 2
        var generator = SeededGenerator(seed: UInt64(100 + seed))
        for _ in 0..<150 {
            var data = whole
            data[Int.random(in: 0..<header, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            try data.write(to: folder.file("flipped.gguf"))
            do {
                let transformer = try Transformer.load(folder.file("flipped.gguf"), threadCount: 1)
                try transformer.evaluate([1, 2, 3], chunk: 3) { _, _ in }
            } catch is InferenceError {
            }
        }
    }
}
