import Foundation
import Inference
import TestSupport
import Testing
import Tokenizers

/// Weights that are no numbers, or so large that nothing computed with them is one, end a request with an error.
@Suite struct DamagedWeightsTests {
    /// Whether a model with these numbers in place of a tensor's first ones says that it is damaged.
    private func isNoticed(_ name: String, _ number: Float, at index: Int = 0, count: Int = 1) async throws -> Bool {
        let folder = try TemporaryFolder()
        try TinyModel.write(to: folder.file()) { writer in
            let place = writer.tensors.firstIndex { $0.name == name }!
            var data = writer.tensors[place].data
            for offset in index..<index + count {
                withUnsafeBytes(of: number) { data.replaceSubrange(4 * offset..<4 * offset + 4, with: $0) }
            }
            writer.tensors[place].data = data
        }
        let engine = try Engine.load(folder.file(), options: EngineOptions(threadCount: 1), trace: nil)
        var request = GenerationRequest(
            prompt: engine.tokenizer.encode("the other name", parsesSpecial: false, addsBOS: false), sampling: .greedy,
            maximumTokens: 3)
        request.endsAtStopTokens = false
        do {
            for try await _ in engine.generate(request) {}
            return false
        } catch InferenceError.notFinite {
            return true
        }
    }

    @Test(
        arguments: [
            "output_norm.weight", "blk.0.attn_norm.weight", "blk.0.attn_q.weight", "blk.0.attn_k.weight",
            "blk.0.attn_v.weight",
            "blk.0.attn_q.bias", "blk.0.attn_output.weight", "blk.0.ffn_norm.weight", "blk.0.ffn_gate.weight",
            "blk.0.ffn_up.weight", "blk.0.ffn_down.weight", "blk.1.attn_k.bias", "blk.1.ffn_down.weight",
        ], [Float.nan, .infinity, -.infinity]) func anyWeightCounts(name: String, number: Float) async throws
    {
        #expect(try await isNoticed(name, number))
    }

    @Test(arguments: ["output_norm.weight", "blk.0.attn_v.weight", "blk.0.ffn_down.weight", "blk.1.ffn_down.weight"])
    func numbersBeyondAllMeasureCount(name: String) async throws {
        #expect(try await isNoticed(name, -Float.greatestFiniteMagnitude, count: 32))
    }

    @Test func oneTokensEmbeddingCounts() async throws {
        // The letter `o`, which the prompt has in its middle; the head is tied to the embedding.
        let letter = Int(TinyModel.vocabulary().tokens.firstIndex(of: "o")!)
        #expect(try await isNoticed("token_embd.weight", .nan, at: 32 * letter))
    }

    @Test func soundWeightsAreSound() async throws {
        #expect(try await !isNoticed("output_norm.weight", 1))
    }
}
