import CKernels
import Foundation
import Synchronization

extension Weights {
    /// Reads the weights of a model. Each thread of the pool reads a piece of a tensor into its place in memory and
    /// prepares it there while it is in the cache, so that the weights are in memory once.
    static func load(
        _ file: GGUFFile, configuration: ModelConfiguration, pool: ThreadPool
    ) throws(InferenceError) -> Weights {
        let layout = try WeightLayout(file, configuration)
        guard let memory = ck_allocate(layout.byteCount) else {
            throw .outOfMemory(bytes: layout.byteCount, purpose: "the weights")
        }
        let arena = UnsafeMutableRawBufferPointer(start: memory, count: layout.byteCount)
        do {
            try fill(arena, layout, file, pool)
        } catch {
            ck_free(arena.baseAddress, arena.count)
            throw error
        }

        let matrices = UnsafeMutableBufferPointer<ck_matrix>.allocate(capacity: layout.order.count)
        var matrixCount = 0
        func matrix(_ name: String) -> UnsafePointer<ck_matrix> {
            let entry = layout.entries[name]!
            defer { matrixCount += 1 }
            matrices.initializeElement(
                at: matrixCount,
                to: ck_matrix(
                    type: entry.tensor.type.kernelType, rows: Int64(entry.tensor.rows),
                    cols: Int64(entry.tensor.columns), data: UnsafeRawPointer(memory + entry.offset),
                    fine: needsFineInput(name, configuration)))
            return UnsafePointer(matrices.baseAddress! + matrixCount)
        }
        func optionalVector(_ name: String) -> UnsafePointer<Float>? {
            layout.entries[name].map { UnsafeRawPointer(memory + $0.offset).assumingMemoryBound(to: Float.self) }
        }
        func vector(_ name: String) -> UnsafePointer<Float> { optionalVector(name)! }
        func linear(_ name: String) -> Linear {
            Linear(matrix: matrix("\(name).weight"), bias: optionalVector("\(name).bias"))
        }
        let architecture = configuration.architecture
        let layers = (0..<configuration.layerCount).map { index in
            let block = "blk.\(index)"
            return Layer(
                attentionNorm: vector("\(block).attn_norm.weight"),
                queryKeyValue: (architecture.fusesQKV ? ["attn_qkv"] : ["attn_q", "attn_k", "attn_v"])
                    .map { linear("\(block).\($0)") },
                queryNorm: optionalVector("\(block).attn_q_norm.weight"),
                keyNorm: optionalVector("\(block).attn_k_norm.weight"),
                attentionOutput: linear("\(block).attn_output"),
                postAttentionNorm: optionalVector("\(block).post_attention_norm.weight"),
                postFeedForwardNorm: optionalVector("\(block).post_ffw_norm.weight"),
                feedForwardNorm: vector("\(block).ffn_norm.weight"),
                gateUp: (architecture.fusesGateUp ? ["ffn_up"] : ["ffn_gate", "ffn_up"])
                    .map { linear("\(block).\($0)") },
                down: linear("\(block).ffn_down"))
        }
        let embedding = matrix("token_embd.weight")
        return Weights(
            embedding: embedding, outputNorm: vector("output_norm.weight"),
            head: layout.entries["output.weight"] == nil ? embedding : matrix("output.weight"), layers: layers,
            parameterCount: layout.order.reduce(0) { $0 + $1.tensor.elementCount }, arena: arena,
            matrices: matrices)
    }

    /// Rows of one tensor that one thread reads at a time.
    private struct Piece {
        let entry: WeightLayout.Entry
        let rows: Range<Int>
    }

    private static func fill(
        _ arena: UnsafeMutableRawBufferPointer, _ layout: WeightLayout, _ file: GGUFFile, _ pool: ThreadPool
    ) throws(InferenceError) {
        // Small enough to be prepared in the second-level cache.
        let pieceBytes = 256 << 10
        var pieces: [Piece] = []
        for entry in layout.order {
            let rowBytes = entry.tensor.byteCount / entry.tensor.rows
            let group = Int(CK_GROUP_ROWS)
            let step = entry.isMatrix ? max(group, pieceBytes / rowBytes / group * group) : entry.tensor.rows
            for first in stride(from: 0, to: entry.tensor.rows, by: step) {
                pieces.append(Piece(entry: entry, rows: first..<min(first + step, entry.tensor.rows)))
            }
        }
        let reader: TensorReader
        do { reader = try TensorReader(file) } catch { throw .gguf(error) }

        let failure = Mutex<InferenceError?>(nil)
        pool.forEach(pieces.count) { index in
            guard failure.withLock({ $0 == nil }) else { return }
            do throws(InferenceError) {
                try read(pieces[index], into: arena, reader)
            } catch {
                failure.withLock { $0 = $0 ?? error }
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private static func read(
        _ piece: Piece, into arena: UnsafeMutableRawBufferPointer, _ reader: TensorReader
    ) throws(InferenceError) {
        let tensor = piece.entry.tensor
        let memory = arena.baseAddress! + piece.entry.offset
        guard piece.entry.isMatrix else {
            let floats: [Float]
            do { floats = try reader.floats(of: tensor) } catch { throw .gguf(error) }
            floats.withUnsafeBytes { memory.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
            return
        }
        let rowBytes = tensor.byteCount / tensor.rows
        let start = piece.rows.lowerBound * rowBytes
        let bytes = UnsafeMutableRawBufferPointer(start: memory + start, count: piece.rows.count * rowBytes)
        do { try reader.read(into: bytes, at: tensor.offset + start) } catch { throw .gguf(error) }
        guard
            ck_pack(
                tensor.type.kernelType, bytes.baseAddress, bytes.baseAddress, Int64(piece.rows.count),
                Int64(tensor.columns))
        else { throw .outOfMemory(bytes: 8 * rowBytes, purpose: "preparing the tensor \(tensor.name)") }
    }
}
