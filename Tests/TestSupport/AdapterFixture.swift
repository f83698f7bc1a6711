import Foundation

/// An adapter for a model file of the tests, and the file of the model that it is merged into.
package struct AdapterFixture {
    package struct Factors {
        /// The matrix, such as `blk.0.attn_q`.
        package var matrix: String
        package var rank: Int
        package var rows: Int
        package var columns: Int
        /// [rank, columns]
        package var a: [Float]
        /// [rows, rank]
        package var b: [Float]
    }

    package var architecture: String
    package var alpha: Float
    package var factors: [Factors]

    /// Random factors for matrices of a model.
    /// - Parameters:
    ///   - matrices: With their ranks.
    ///   - seed: Adapters of other seeds have other numbers.
    package init(
        _ base: GGUFWriter, architecture: String, alpha: Float, matrices: [(String, Int)], seed: String,
        scale: Float = 0.3
    ) {
        self.architecture = architecture
        self.alpha = alpha
        factors = matrices.map { matrix, rank in
            let tensor = base.tensors.first { $0.name == "\(matrix).weight" }!
            let (columns, rows) = (Int(tensor.shape[0]), Int(tensor.shape[1]))
            func numbers(_ part: String, _ count: Int) -> [Float] {
                generatedWeights("\(seed) \(matrix) \(part)", count: count, scale: scale, offset: 0)
            }
            return Factors(
                matrix: matrix, rank: rank, rows: rows, columns: columns, a: numbers("a", rank * columns),
                b: numbers("b", rows * rank))
        }
    }

    /// All matrices that a layer has, and the ranks 1, 2, 3, ... in turn.
    package static func matrices(_ base: GGUFWriter, layers: Int) -> [(String, Int)] {
        let parts = ["attn_q", "attn_k", "attn_v", "attn_qkv", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]
        let names = (0..<layers).flatMap { layer in parts.map { "blk.\(layer).\($0)" } } + ["output"]
        return names.filter { name in base.tensors.contains { $0.name == "\(name).weight" } }
            .enumerated().map { ($1, $0 % 11 + 1) }
    }

    /// llama.cpp's form.
    package var gguf: GGUFWriter {
        var writer = GGUFWriter()
        writer.pairs = [
            ("general.architecture", .string(architecture)), ("general.type", .string("adapter")),
            ("adapter.type", .string("lora")), ("adapter.lora.alpha", .float32(alpha)),
        ]
        for factor in factors {
            writer.tensors.append(.init("\(factor.matrix).weight.lora_a", [factor.columns, factor.rank], factor.a))
            writer.tensors.append(.init("\(factor.matrix).weight.lora_b", [factor.rank, factor.rows], factor.b))
        }
        return writer
    }

    /// The base with W + alpha / rank · B A in the places of W, computed plainly in double precision.
    package func merged(into base: GGUFWriter) -> GGUFWriter {
        var result = base
        for factor in factors {
            let index = result.tensors.firstIndex { $0.name == "\(factor.matrix).weight" }!
            var weights = result.tensors[index].data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
            for row in 0..<factor.rows {
                for column in 0..<factor.columns {
                    var sum = 0.0
                    for k in 0..<factor.rank {
                        sum += Double(factor.b[row * factor.rank + k]) * Double(factor.a[k * factor.columns + column])
                    }
                    let place = row * factor.columns + column
                    weights[place] = Float(Double(weights[place]) + Double(alpha) / Double(factor.rank) * sum)
                }
            }
            result.tensors[index] = .init(
                result.tensors[index].name, result.tensors[index].shape.map { Int($0) }, weights)
        }
        return result
    }
}

/// Writes safetensors files for tests, right ones and wrong ones.
package struct SafetensorsWriter {
    /// In the order of the data.
    package var tensors: [(name: String, shape: [Int], values: [Float])] = []
    /// Instead of the right header.
    package var header: String?
    /// Instead of the header's right length.
    package var headerLength: UInt64?

    package init() {}

    package var data: Data {
        var body: [UInt8] = []
        var entries: [String] = [#""__metadata__": {"format": "pt"}"#]
        for tensor in tensors {
            let begin = body.count
            tensor.values.withUnsafeBytes { body += $0 }
            entries.append(
                "\"\(tensor.name)\": {\"dtype\": \"F32\", \"shape\": \(tensor.shape), \"data_offsets\": [\(begin), \(body.count)]}"
            )
        }
        let text = Array((header ?? "{\(entries.joined(separator: ", "))}").utf8)
        return Data(bytes(headerLength ?? UInt64(text.count)) + text + body)
    }
}
