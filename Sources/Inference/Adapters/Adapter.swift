import CKernels
import Foundation

/// An adapter in memory, for models of one architecture and size. The base's weights stay as they are and are shared: what an
/// adapter adds is computed beside them, for the rows of a batch that ask for it.
package final class Adapter: @unchecked Sendable {
    /// scale · B A, with the scale inside B.
    struct Change {
        /// [rank, columns]
        let a: UnsafePointer<ck_matrix>
        /// [rows, rank]
        let b: UnsafePointer<ck_matrix>
        var rank: Int { Int(a.pointee.rows) }
    }

    /// What is added to the matrices of a layer, in the order of `Weights.Layer`; nil: nothing.
    struct Layer {
        var queryKeyValue: [Change?]
        var attentionOutput: [Change?]
        var gateUp: [Change?]
        var down: [Change?]
    }

    let layers: [Layer]
    /// What is added to the output head.
    let head: Change?
    /// SHA-256 of all that it adds: adapters of one digest give the same answers. Caches are kept apart by it.
    package let digest: [UInt8]
    /// The greatest rank.
    package let rank: Int
    private let base: AdaptedMatrices
    private let arena: UnsafeMutableRawBufferPointer
    private let matrices: UnsafeMutableBufferPointer<ck_matrix>

    /// Reads an adapter's numbers and checks all of it against the model that it is for. Blocks its thread.
    package init(_ file: AdapterFile, for configuration: ModelConfiguration) throws(AdapterError) {
        let base = AdaptedMatrices(configuration)
        if let architecture = file.architecture, architecture != base.architecture {
            throw .wrongArchitecture(adapter: architecture, base: base.architecture)
        }
        // All names and shapes, before a number is read.
        var places: [AdaptedMatrices.Place] = []
        var byteCount = 0
        for change in file.changes {
            let place = try base.place(of: change)
            places.append(place)
            for count in [change.rank * change.a.columns, change.rank * change.b.rows] {
                byteCount += Self.padded(count * MemoryLayout<Float>.size)
            }
        }
        guard let memory = ck_allocate(byteCount) else { throw .outOfMemory(bytes: byteCount) }
        let arena = UnsafeMutableRawBufferPointer(start: memory, count: byteCount)
        let matrices = UnsafeMutableBufferPointer<ck_matrix>.allocate(capacity: 2 * file.changes.count)
        matrices.initialize(repeating: ck_matrix())
        var layers = base.emptyLayers
        var head: Change?
        let hash = SHA256()
        do throws(AdapterError) {
            var offset = 0
            for (index, (change, place)) in zip(file.changes, places).enumerated() {
                let a = try Self.finite(change.a)
                var b = try Self.finite(change.b)
                if file.hasCheckpointOrder, let heads = place.interleavedHeads {
                    b = Self.interleaved(b, rows: change.b.rows, columns: change.rank, heads: heads)
                }
                for index in b.indices { b[index] *= change.scale }
                guard b.allSatisfy(\.isFinite) else { throw .notFinite(tensor: change.b.name) }
                Array("\(change.matrix) \(change.rank)\n".utf8).withUnsafeBytes { hash.update($0) }
                let parts = [(a, change.rank, change.a.columns), (b, change.b.rows, change.rank)]
                for (part, (values, rows, columns)) in parts.enumerated() {
                    values.withUnsafeBytes { hash.update($0) }
                    matrices[2 * index + part] = try Self.pack(values, rows, columns, at: memory + offset)
                    offset += Self.padded(values.count * MemoryLayout<Float>.size)
                }
                let pointer = UnsafePointer(matrices.baseAddress! + 2 * index)
                let product = Change(a: pointer, b: pointer + 1)
                if let layer = place.layer {
                    layers[layer][keyPath: place.matrices][place.index] = product
                } else {
                    head = product
                }
            }
        } catch {
            ck_free(memory, byteCount)
            matrices.deallocate()
            throw error
        }
        self.base = base
        self.arena = arena
        self.matrices = matrices
        self.layers = layers
        self.head = head
        rank = file.rank
        digest = hash.bytes()
    }

    deinit {
        ck_free(arena.baseAddress, arena.count)
        matrices.deallocate()
    }

    /// Whether it was made for models of these numbers.
    func fits(_ configuration: ModelConfiguration) -> Bool { base == AdaptedMatrices(configuration) }

    private static func padded(_ bytes: Int) -> Int { (bytes + 63) & ~63 }

    private static func finite(_ tensor: AdapterFile.StoredTensor) throws(AdapterError) -> [Float] {
        let values = try tensor.read()
        guard values.allSatisfy(\.isFinite) else { throw .notFinite(tensor: tensor.name) }
        return values
    }

    private static func pack(
        _ values: [Float], _ rows: Int, _ columns: Int, at memory: UnsafeMutableRawPointer
    ) throws(AdapterError) -> ck_matrix {
        guard ck_pack(CK_F32, values, memory, Int64(rows), Int64(columns)) else { throw .outOfMemory(bytes: 0) }
        return ck_matrix(type: CK_F32, rows: Int64(rows), cols: Int64(columns), data: memory, fine: false)
    }

    /// The rows of queries or keys as files of families with interleaved RoPE pairs have them: numbers i and i + half of a head
    /// side by side.
    private static func interleaved(_ values: [Float], rows: Int, columns: Int, heads: Int) -> [Float] {
        let headWidth = rows / heads
        var result: [Float] = []
        result.reserveCapacity(values.count)
        for row in 0..<rows {
            let (head, inHead) = row.quotientAndRemainder(dividingBy: headWidth)
            let source = head * headWidth + inHead % 2 * (headWidth / 2) + inHead / 2
            result += values[source * columns..<(source + 1) * columns]
        }
        return result
    }
}
