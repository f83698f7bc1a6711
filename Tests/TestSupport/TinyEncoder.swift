import Foundation

/// A GGUF file with a small nomic-bert model, whose vectors mean nothing but are always the same.
package enum TinyEncoder {
    package static let width = 32
    package static let context = 64
    /// Words of the vocabulary behind the special tokens.
    package static let words = ["red", "green", "blue", "one", "two", "three", "s", "!"]

    /// - Parameter numbers: Metadata that differs.
    package static func write(to url: URL, numbers: [String: UInt32] = [:]) throws {
        let (layers, heads, inner) = (2, 4, 48)
        var integers: [(String, UInt32)] = [
            ("nomic-bert.block_count", UInt32(layers)), ("nomic-bert.context_length", UInt32(context)),
            ("nomic-bert.embedding_length", UInt32(width)), ("nomic-bert.feed_forward_length", UInt32(inner)),
            ("nomic-bert.attention.head_count", UInt32(heads)), ("nomic-bert.pooling_type", 1),
            ("tokenizer.ggml.unknown_token_id", 1), ("tokenizer.ggml.cls_token_id", 2),
            ("tokenizer.ggml.seperator_token_id", 3),
        ]
        for index in integers.indices { integers[index].1 = numbers[integers[index].0] ?? integers[index].1 }
        let tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + words.map { $0 == "s" ? $0 : "\u{2581}\($0)" }
        let types: [UInt32] = tokens.indices.map { $0 < 4 ? 3 : 1 }

        var pairs: [UInt8] = []
        var pairCount: UInt64 = 0
        func pair(_ key: String, _ type: UInt32, _ value: [UInt8]) {
            pairs += text(key) + bytes(type) + value
            pairCount += 1
        }
        pair("general.architecture", 8, text("nomic-bert"))
        pair("general.name", 8, text("tiny encoder"))
        for (key, value) in integers { pair(key, 4, bytes(value)) }
        pair("nomic-bert.attention.layer_norm_epsilon", 6, bytes(Float(1e-12).bitPattern))
        pair("nomic-bert.rope.freq_base", 6, bytes(Float(1000).bitPattern))
        pair("tokenizer.ggml.model", 8, text("bert"))
        pair("tokenizer.ggml.tokens", 9, bytes(UInt32(8)) + bytes(UInt64(tokens.count)) + tokens.flatMap(text))
        pair("tokenizer.ggml.token_type", 9, bytes(UInt32(5)) + bytes(UInt64(types.count)) + types.flatMap(bytes))

        var infos: [UInt8] = []
        var data: [UInt8] = []
        var tensorCount: UInt64 = 0
        var state: UInt64 = 1
        func tensor(_ name: String, _ shape: [Int], scale: Float, offset: Float = 0) {
            infos += text(name) + bytes(UInt32(shape.count)) + shape.flatMap { bytes(UInt64($0)) }
            infos += bytes(UInt32(0)) + bytes(UInt64(data.count))
            for _ in 0..<shape.reduce(1, *) {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                data += bytes(((Float(state >> 40) / 8_388_608 - 1) * scale + offset).bitPattern)
            }
            while data.count % 32 != 0 { data.append(0) }
            tensorCount += 1
        }
        func norm(_ name: String) {
            tensor("\(name).weight", [width], scale: 0.5, offset: 1)
            tensor("\(name).bias", [width], scale: 0.25)
        }
        tensor("token_embd.weight", [width, tokens.count], scale: 2)
        tensor("token_types.weight", [width, 2], scale: 0.5)
        norm("token_embd_norm")
        for layer in 0..<layers {
            tensor("blk.\(layer).attn_qkv.weight", [width, 3 * width], scale: 0.3)
            tensor("blk.\(layer).attn_output.weight", [width, width], scale: 0.3)
            norm("blk.\(layer).attn_output_norm")
            tensor("blk.\(layer).ffn_gate.weight", [width, inner], scale: 0.3)
            tensor("blk.\(layer).ffn_up.weight", [width, inner], scale: 0.3)
            tensor("blk.\(layer).ffn_down.weight", [inner, width], scale: 0.3)
            norm("blk.\(layer).layer_output_norm")
        }

        var file = Array("GGUF".utf8) + bytes(UInt32(3)) + bytes(tensorCount) + bytes(pairCount) + pairs + infos
        while file.count % 32 != 0 { file.append(0) }
        try Data(file + data).write(to: url)
    }

    private static func text(_ text: String) -> [UInt8] { bytes(UInt64(text.utf8.count)) + Array(text.utf8) }

    private static func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
}
