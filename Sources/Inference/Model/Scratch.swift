import CKernels

/// The activations of one step, for a fixed number of rows, in one allocation.
final class Scratch {
    let rows: Int
    /// The residual stream. [rows, width]
    let state: UnsafeMutablePointer<Float>
    /// What goes into a block. [rows, width]
    let normalized: UnsafeMutablePointer<Float>
    /// What comes out of a block, where it is not added to the state at once. [rows, width]
    let branch: UnsafeMutablePointer<Float>
    /// Queries, keys and values side by side. [rows, projectionWidth]
    let projection: UnsafeMutablePointer<Float>
    let projectionWidth: Int
    /// Gate and up side by side. [rows, 2 · feed-forward]
    let gateUp: UnsafeMutablePointer<Float>
    /// Cosines and sines. [rows, pairs, 2]
    let ropeTable: UnsafeMutablePointer<Float>
    let slidingRoPETable: UnsafeMutablePointer<Float>
    /// [rows]
    let tokenIDs: UnsafeMutablePointer<Int32>
    let positions: UnsafeMutablePointer<Int32>
    let tokens: UnsafeMutablePointer<ck_token>

    private let memory: UnsafeMutableRawBufferPointer

    init(_ configuration: ModelConfiguration, rows: Int) throws(InferenceError) {
        let width = configuration.width
        projectionWidth = configuration.queryWidth + 2 * configuration.keyValueWidth
        let pairs = configuration.rope.frequencies.count
        let slidingPairs = configuration.slidingRoPE.frequencies.count
        // Floats of each part, one row.
        let widths = [
            width, width, width, projectionWidth, 2 * configuration.feedForwardWidth, 2 * pairs, 2 * slidingPairs, 1, 1,
            MemoryLayout<ck_token>.stride / MemoryLayout<Float>.stride,
        ]
        var offsets: [Int] = []
        var byteCount = 0
        for width in widths {
            offsets.append(byteCount)
            byteCount = (byteCount + rows * width * MemoryLayout<Float>.stride + 63) & ~63
        }
        guard let base = ck_allocate(byteCount) else { throw .outOfMemory(bytes: byteCount, purpose: "activations") }
        memory = UnsafeMutableRawBufferPointer(start: base, count: byteCount)
        func floats(_ part: Int) -> UnsafeMutablePointer<Float> {
            (base + offsets[part]).assumingMemoryBound(to: Float.self)
        }
        self.rows = rows
        state = floats(0)
        normalized = floats(1)
        branch = floats(2)
        projection = floats(3)
        gateUp = floats(4)
        ropeTable = floats(5)
        slidingRoPETable = floats(6)
        tokenIDs = (base + offsets[7]).assumingMemoryBound(to: Int32.self)
        positions = (base + offsets[8]).assumingMemoryBound(to: Int32.self)
        tokens = (base + offsets[9]).bindMemory(to: ck_token.self, capacity: rows)
    }

    deinit { ck_free(memory.baseAddress, memory.count) }

    /// Prepares what all layers need of a batch.
    func fill(_ batch: Batch, _ configuration: ModelConfiguration) {
        for (index, row) in batch.rows.enumerated() {
            tokenIDs[index] = row.token
            positions[index] = Int32(row.position)
        }
        for (rope, table) in [(configuration.rope, ropeTable), (configuration.slidingRoPE, slidingRoPETable)] {
            ck_rope_table(
                positions, Int64(batch.rows.count), rope.frequencies, Int32(rope.frequencies.count), rope.magnitude,
                table)
        }
    }

    /// Points the tokens at one layer of their caches.
    func select(layer: Int, of batch: Batch) {
        for (index, row) in batch.rows.enumerated() {
            tokens[index] = ck_token(cache: row.cache.layers + layer, position: Int64(row.position))
        }
    }

    /// Moves state, queries and tokens of the rows whose output is wanted to the front. Returns how many there are.
    func keepOutputRows(of batch: Batch, width: Int, queryWidth: Int) -> Int {
        var kept = 0
        for (index, row) in batch.rows.enumerated() where row.wantsOutput {
            if kept != index {
                (state + kept * width).update(from: state + index * width, count: width)
                (projection + kept * projectionWidth).update(
                    from: projection + index * projectionWidth, count: queryWidth)
                tokens[kept] = tokens[index]
            }
            kept += 1
        }
        return kept
    }
}
