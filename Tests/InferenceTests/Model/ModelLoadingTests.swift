import Foundation
import Inference
import TestSupport
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
            ("qwen2.attention.head_count", .uint32(0)), ("qwen2.attention.head_count_kv", .uint32(3)),
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

    @Test("a damaged model is refused or harmless, never a crash", arguments: Mutation.allCases, 0..<3)
    func damage(mutation: Mutation, seed: Int) async throws {
        try TinyModel.write(to: folder.file(), layers: 1) {
            $0.pairs.append(
                ("tokenizer.chat_template", .string("{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}")))
        }
        let whole = try Data(contentsOf: folder.file())
        let intact = try GGUFFile(folder.file())
        // Vocabularies are long and forgiving: the numbers around them are what can do harm.
        let tables = try #require(whole.range(of: Data("tokenizer.ggml.eos_token_id".utf8)))
        var generator = SeededGenerator(seed: UInt64(100 + seed))
        var refused = 0
        for round in 0..<60 {
            var data = whole
            var tail = Data(whole[tables.lowerBound..<intact.dataOffset])
            if round % 3 == 0 {
                mutation.apply(to: &data, within: 700, &generator)
            } else if round % 3 == 1 {
                mutation.apply(to: &tail, within: tail.count, &generator)
                data.replaceSubrange(tables.lowerBound..<intact.dataOffset, with: tail)
            } else {
                mutation.apply(to: &data, within: intact.dataOffset, &generator)
            }
            try data.write(to: folder.file("damaged.gguf"))
            do {
                let engine = try Engine.load(folder.file("damaged.gguf"), options: EngineOptions(threadCount: 1))
                let tokens = try engine.chatTemplate.tokens(
                    of: [ChatMessage(.user, "the")], tokenizer: engine.tokenizer)
                let request = GenerationRequest(prompt: tokens, maximumTokens: 2)
                for try await _ in engine.generate(request) {}
            } catch let error as InferenceError {
                #expect(!error.description.isEmpty)
                refused += 1
            }
        }
        #expect(refused > 5)
    }

    @Test("a model that ends anywhere says that it is incomplete")
    func truncation() throws {
        try TinyModel.write(to: folder.file(), layers: 1)
        let whole = try Data(contentsOf: folder.file())
        let dataOffset = try GGUFFile(folder.file()).dataOffset
        for length in stride(from: 4, to: whole.count, by: 997) + [dataOffset, dataOffset + 1, whole.count - 1] {
            try whole.prefix(length).write(to: folder.file("part.gguf"))
            let error = #expect(throws: InferenceError.self) { try Engine.load(folder.file("part.gguf")) }
            // What is missing may also show as a count that the rest of the file cannot hold.
            #expect(
                error?.description.contains("incomplete") == true || error?.description.contains("damaged") == true,
                "\(length)")
        }
    }
}
