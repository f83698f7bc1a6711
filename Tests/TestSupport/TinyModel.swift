import Foundation

/// A small Qwen2-like model with random weights and a byte-level vocabulary, which answers nonsense but always the same.
package enum TinyModel {
    package static let endOfTurn = "<|im_end|>"

    /// The chat template of a model that thinks unless it is told not to, as Qwen3's does it: turns in brackets, and an empty thought
    /// where none is wanted.
    package static let thinkingTemplate = """
        {%- for message in messages -%}[{{ message.role }}]{{ message.content }}[end]{%- endfor -%}
        {%- if add_generation_prompt -%}[assistant]{%- if enable_thinking is defined and enable_thinking is false -%}
        {{- '<think>\\n\\n</think>\\n\\n' }}{%- endif -%}{%- endif -%}
        """

    /// Letters of GPT-2's alphabet for all bytes, some merges, and two control tokens.
    package static func vocabulary() -> (tokens: [String], merges: [String], types: [Int32]) {
        // Source: `bytes_to_unicode` of GPT-2: printable bytes stand for themselves, the others for U+0100 and up.
        var letters: [String] = []
        var next: UInt32 = 256
        for byte in UInt32(0)...255 {
            let isPrintable = (33...126).contains(byte) || (161...172).contains(byte) || (174...255).contains(byte)
            letters.append(String(UnicodeScalar(isPrintable ? byte : next)!))
            if !isPrintable { next += 1 }
        }
        let merges = [
            "t h", "th e", "i n", "e r", "a n", "\" :", "\" ,", ": \"", "Ġ th", "n a", "na m", "nam e", "{ \"", "} ,",
            "t r", "tr u", "tru e", "o u",
        ]
        let merged = merges.map { $0.replacingOccurrences(of: " ", with: "") }
        let tokens = letters + merged + ["<|im_start|>", endOfTurn]
        let types = [Int32](repeating: 1, count: letters.count + merged.count) + [3, 3]
        return (tokens, merges, types)
    }

    /// - Parameter changes: Made to the file before it is written.
    package static func write(
        to url: URL, layers: Int = 2, width: Int = 32, context: Int = 512,
        changes: (inout GGUFWriter) -> Void = { _ in }
    ) throws {
        let (tokens, merges, types) = vocabulary()
        let (heads, keyValueHeads, headWidth, inner) = (4, 2, width / 4, 2 * width)
        var writer = GGUFWriter()
        writer.pairs = [
            ("general.architecture", .string("qwen2")),
            ("general.name", .string("tiny")),
            ("qwen2.block_count", .uint32(UInt32(layers))),
            ("qwen2.context_length", .uint32(UInt32(context))),
            ("qwen2.embedding_length", .uint32(UInt32(width))),
            ("qwen2.feed_forward_length", .uint32(UInt32(inner))),
            ("qwen2.attention.head_count", .uint32(UInt32(heads))),
            ("qwen2.attention.head_count_kv", .uint32(UInt32(keyValueHeads))),
            ("qwen2.attention.layer_norm_rms_epsilon", .float32(1e-6)),
            ("qwen2.rope.freq_base", .float32(10_000)),
            ("tokenizer.ggml.model", .string("gpt2")),
            ("tokenizer.ggml.pre", .string("qwen2")),
            ("tokenizer.ggml.tokens", .strings(tokens)),
            ("tokenizer.ggml.token_type", .int32s(types)),
            ("tokenizer.ggml.merges", .strings(merges)),
            ("tokenizer.ggml.eos_token_id", .uint32(UInt32(tokens.count - 1))),
            ("tokenizer.ggml.add_bos_token", .bool(false)),
        ]
        func matrix(_ name: String, _ rows: Int, _ columns: Int, scale: Float) {
            writer.tensors.append(
                .init(name, [columns, rows], generatedWeights(name, count: rows * columns, scale: scale, offset: 0)))
        }
        func vector(_ name: String, _ count: Int, scale: Float, offset: Float) {
            writer.tensors.append(
                .init(name, [count], generatedWeights(name, count: count, scale: scale, offset: offset)))
        }
        // The head is tied to it: control tokens of zeros are never the likeliest, so that answers have the length that a
        // test asks for.
        var embedding = generatedWeights("token_embd.weight", count: tokens.count * width, scale: 2, offset: 0)
        for index in (embedding.count - 2 * width)..<embedding.count { embedding[index] = 0 }
        writer.tensors.append(.init("token_embd.weight", [width, tokens.count], embedding))
        vector("output_norm.weight", width, scale: 0.5, offset: 1)
        for layer in 0..<layers {
            let block = "blk.\(layer)"
            vector("\(block).attn_norm.weight", width, scale: 0.5, offset: 1)
            matrix("\(block).attn_q.weight", heads * headWidth, width, scale: 0.3)
            vector("\(block).attn_q.bias", heads * headWidth, scale: 0.2, offset: 0)
            matrix("\(block).attn_k.weight", keyValueHeads * headWidth, width, scale: 0.3)
            vector("\(block).attn_k.bias", keyValueHeads * headWidth, scale: 0.2, offset: 0)
            matrix("\(block).attn_v.weight", keyValueHeads * headWidth, width, scale: 0.3)
            vector("\(block).attn_v.bias", keyValueHeads * headWidth, scale: 0.2, offset: 0)
            matrix("\(block).attn_output.weight", width, heads * headWidth, scale: 0.3)
            vector("\(block).ffn_norm.weight", width, scale: 0.5, offset: 1)
            matrix("\(block).ffn_gate.weight", inner, width, scale: 0.3)
            matrix("\(block).ffn_up.weight", inner, width, scale: 0.3)
            matrix("\(block).ffn_down.weight", width, inner, scale: 0.3)
        }
        changes(&writer)
        try writer.write(to: url)
    }
}
