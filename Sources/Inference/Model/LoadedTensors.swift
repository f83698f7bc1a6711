import CKernels
import Foundation
import Synchronization

/// The tensors of a layout in memory, prepared for the kernels. They lie one after the other in one allocation of huge pages
/// and are read-only once loaded.
///
/// Each thread of the pool reads a piece of a tensor into its place and prepares it there while it is in the cache, so that
/// the weights are in memory once.
final class LoadedTensors: @unchecked Sendable {
    private let layout: WeightLayout
    private let arena: UnsafeMutableRawBufferPointer
    /// The descriptions of all matrices, which the kernels take by pointer.
    private let matrices: UnsafeMutableBufferPointer<ck_matrix>
    private let numbers: [String: Int]

    /// All parameters, tied ones counted once.
    var parameterCount: Int { layout.order.reduce(0) { $0 + $1.tensor.elementCount } }

    init(_ file: GGUFFile, configuration: ModelConfiguration, pool: ThreadPool) throws(InferenceError) {
        layout = try WeightLayout(file, configuration)
        guard let memory = ck_allocate(layout.byteCount) else {
            throw .outOfMemory(bytes: layout.byteCount, purpose: "the weights")
        }
        arena = UnsafeMutableRawBufferPointer(start: memory, count: layout.byteCount)
        do {
            try Self.fill(arena, layout, file, pool)
        } catch {
            ck_free(arena.baseAddress, arena.count)
            throw error
        }
        matrices = .allocate(capacity: layout.order.count)
        var numbers: [String: Int] = [:]
        for (name, entry) in layout.entries where entry.isMatrix {
            matrices.initializeElement(
                at: numbers.count,
                to: ck_matrix(
                    type: entry.tensor.type.kernelType, rows: Int64(entry.tensor.rows),
                    cols: Int64(entry.tensor.columns), data: UnsafeRawPointer(memory + entry.offset),
                    fine: Weights.needsFineInput(name, configuration)))
            numbers[name] = numbers.count
        }
        self.numbers = numbers
    }

    deinit {
        ck_free(arena.baseAddress, arena.count)
        matrices.deallocate()
    }

    func has(_ name: String) -> Bool { layout.entries[name] != nil }

    /// A matrix of the layout, by its name in the file.
    func matrix(_ name: String) -> UnsafePointer<ck_matrix> {
        UnsafePointer(matrices.baseAddress! + numbers[name]!)
    }

    /// The floats of a tensor that is no matrix; nil when the file has none.
    func optionalVector(_ name: String) -> UnsafePointer<Float>? {
        layout.entries[name].map {
            UnsafeRawPointer(arena.baseAddress! + $0.offset).assumingMemoryBound(to: Float.self)
        }
    }

    func vector(_ name: String) -> UnsafePointer<Float> { optionalVector(name)! }

    /// `NAME.weight` with `NAME.bias`, if there is one.
    func linear(_ name: String) -> Weights.Linear {
        Weights.Linear(matrix: matrix("\(name).weight"), bias: optionalVector("\(name).bias"))
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
