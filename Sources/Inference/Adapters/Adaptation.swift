import CKernels
import Tokenizers

/// The adapters of one step: adds their products to those of the base's matrices, row by row as each asks for.
///
/// With y = W x of the base, y += B (A x): the two factors are float matrices, and what a row gets is the same whatever
/// stands beside it, as with all products.
final class Adaptation {
    /// Neighbouring rows with the same adapter.
    private struct Run {
        let adapter: Adapter
        var rows: Range<Int>
    }

    private var runs: [Run] = []
    private var outputRuns: [Run] = []
    private var layer = 0
    /// A x of all products on one input. [rows, ranks]
    private var low: [Float] = []
    private var logits: [Float] = []

    /// Takes the adapters of a batch.
    func begin(_ batch: Batch) {
        runs = Self.runs(batch.rows.lazy.map(\.adapter))
        outputRuns = runs.isEmpty ? [] : Self.runs(batch.rows.lazy.filter(\.wantsOutput).map(\.adapter))
    }

    private static func runs(_ adapters: some Sequence<Adapter?>) -> [Run] {
        var runs: [Run] = []
        for (row, adapter) in adapters.enumerated() {
            guard let adapter else { continue }
            if let last = runs.last, last.adapter === adapter, last.rows.upperBound == row {
                runs[runs.count - 1].rows = last.rows.lowerBound..<row + 1
            } else {
                runs.append(Run(adapter: adapter, rows: row..<row + 1))
            }
        }
        return runs
    }

    func select(layer: Int) { self.layer = layer }

    /// From now on the rows are those alone whose output is wanted.
    func keepOutputRows() { runs = outputRuns }

    /// outputs += B A x for the matrices of a place in the layer, in their order.
    func add(
        _ pool: OpaquePointer, _ input: UnsafePointer<Float>, _ inputStride: Int,
        _ matrices: KeyPath<Adapter.Layer, [Adapter.Change?]>, to outputs: [UnsafeMutablePointer<Float>],
        _ outputStride: Int
    ) throws(InferenceError) {
        for run in runs {
            let changes = zip(run.adapter.layers[layer][keyPath: matrices], outputs).compactMap { change, output in
                change.map { ($0, output + run.rows.lowerBound * outputStride) }
            }
            guard !changes.isEmpty else { continue }
            try add(
                pool, input + run.rows.lowerBound * inputStride, inputStride, changes, outputStride, run.rows.count,
                accumulates: true)
        }
    }

    private func add(
        _ pool: OpaquePointer, _ input: UnsafePointer<Float>, _ inputStride: Int,
        _ changes: [(Adapter.Change, UnsafeMutablePointer<Float>)], _ outputStride: Int, _ rowCount: Int,
        accumulates: Bool
    ) throws(InferenceError) {
        let lowWidth = changes.reduce(0) { $0 + $1.0.rank }
        reserve(&low, rowCount * lowWidth)
        let isDone = low.withUnsafeMutableBufferPointer { low in
            var offset = 0
            var down: [ck_product] = []
            for (change, _) in changes {
                down.append(
                    ck_product(
                        matrix: change.a, y: low.baseAddress! + offset, y_stride: Int64(lowWidth), bias: nil,
                        accumulates: false))
                offset += change.rank
            }
            guard ck_matmul(pool, input, Int64(inputStride), Int64(rowCount), down, Int32(down.count)) else {
                return false
            }
            offset = 0
            for (change, output) in changes {
                var up = ck_product(
                    matrix: change.b, y: output, y_stride: Int64(outputStride), bias: nil, accumulates: accumulates)
                guard ck_matmul(pool, low.baseAddress! + offset, Int64(lowWidth), Int64(rowCount), &up, 1) else {
                    return false
                }
                offset += change.rank
            }
            return true
        }
        guard isDone else { throw .outOfMemory(bytes: 0, purpose: "an adapter") }
    }

    // MARK: Output head

    /// logits += B A x for the output head.
    /// - Parameters:
    ///   - input: [rows of `outputs`, width]
    ///   - outputs: Rows whose output was wanted, counted in the order of the batch.
    func addLogits(
        _ pool: OpaquePointer, _ input: UnsafePointer<Float>, _ width: Int, _ outputs: Range<Int>,
        to result: UnsafeMutablePointer<Float>, _ vocabularySize: Int
    ) throws(InferenceError) {
        for run in outputRuns {
            guard let head = run.adapter.head else { continue }
            for output in run.rows.clamped(to: outputs) {
                try addLogits(
                    pool, input + (output - outputs.lowerBound) * width, head, nil, vocabularySize,
                    to: result + (output - outputs.lowerBound) * vocabularySize)
            }
        }
    }

    /// The same for some tokens of one row.
    func addLogits(
        _ pool: OpaquePointer, _ input: UnsafePointer<Float>, _ width: Int, _ output: Int, of tokens: [TokenID],
        to result: UnsafeMutablePointer<Float>
    ) throws(InferenceError) {
        guard let head = outputRuns.first(where: { $0.rows.contains(output) })?.adapter.head else { return }
        try addLogits(pool, input, head, tokens, tokens.count, to: result)
    }

    /// Computed apart and then added, for the whole vocabulary and for some tokens alike, so that both have the same bits.
    private func addLogits(
        _ pool: OpaquePointer, _ input: UnsafePointer<Float>, _ head: Adapter.Change, _ tokens: [TokenID]?,
        _ count: Int,
        to result: UnsafeMutablePointer<Float>
    ) throws(InferenceError) {
        reserve(&low, head.rank)
        reserve(&logits, count)
        let isDone = low.withUnsafeMutableBufferPointer { low in
            logits.withUnsafeMutableBufferPointer { logits in
                let (low, logits) = (low.baseAddress!, logits.baseAddress!)
                var down = ck_product(matrix: head.a, y: low, y_stride: Int64(head.rank), bias: nil, accumulates: false)
                guard ck_matmul(pool, input, head.a.pointee.cols, 1, &down, 1) else { return false }
                if let tokens {
                    guard ck_matmul_rows(pool, low, head.b, nil, tokens, Int64(count), logits) else { return false }
                } else {
                    var up = ck_product(
                        matrix: head.b, y: logits, y_stride: Int64(count), bias: nil, accumulates: false)
                    guard ck_matmul(pool, low, Int64(head.rank), 1, &up, 1) else { return false }
                }
                ck_add(pool, result, logits, Int64(count))
                return true
            }
        }
        guard isDone else { throw .outOfMemory(bytes: 0, purpose: "an adapter") }
    }

    private func reserve(_ buffer: inout [Float], _ count: Int) {
        if buffer.count < count { buffer = [Float](repeating: 0, count: count) }
    }
}
