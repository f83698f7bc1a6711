/// Which matrices of a model an adapter can change, and their shapes.
struct AdaptedMatrices: Hashable {
    let architecture: String
    private let layerCount: Int
    private let width: Int
    private let feedForwardWidth: Int
    private let headWidth: Int
    private let headCount: Int
    private let keyValueHeadCount: Int
    private let vocabularySize: Int
    private let fusesQKV: Bool
    private let fusesGateUp: Bool
    private let interleavesHeads: Bool

    init(_ configuration: ModelConfiguration) {
        architecture = configuration.architecture.name
        layerCount = configuration.layerCount
        width = configuration.width
        feedForwardWidth = configuration.feedForwardWidth
        headWidth = configuration.headWidth
        headCount = configuration.headCount
        keyValueHeadCount = configuration.keyValueHeadCount
        vocabularySize = configuration.vocabularySize
        fusesQKV = configuration.architecture.fusesQKV
        fusesGateUp = configuration.architecture.fusesGateUp
        interleavesHeads = configuration.architecture.ropePairing == .interleaved
    }

    /// Where a change belongs.
    struct Place {
        /// Nil: the output head.
        var layer: Int?
        var matrices: WritableKeyPath<Adapter.Layer, [Adapter.Change?]> = \.down
        var index = 0
        var rows: Int
        var columns: Int
        /// The number of heads whose rows GGUF files have in another order than checkpoints do.
        var interleavedHeads: Int?
    }

    var emptyLayers: [Adapter.Layer] {
        let layer = Adapter.Layer(
            queryKeyValue: Array(repeating: nil, count: fusesQKV ? 1 : 3), attentionOutput: [nil],
            gateUp: Array(repeating: nil, count: fusesGateUp ? 1 : 2), down: [nil])
        return Array(repeating: layer, count: layerCount)
    }

    func place(of change: AdapterFile.Change) throws(AdapterError) -> Place {
        guard let place = place(of: change.matrix) else {
            throw .unknownTensor(
                change.a.name, reason: "the model in use has no matrix \(change.matrix).weight that adapters can change"
            )
        }
        guard change.a.columns == place.columns else {
            throw .wrongShape(
                tensor: change.a.name, expected: "\(place.columns) columns", actual: [change.a.rows, change.a.columns])
        }
        guard change.b.rows == place.rows else {
            throw .wrongShape(
                tensor: change.b.name, expected: "\(place.rows) rows", actual: [change.b.rows, change.b.columns])
        }
        return place
    }

    private func place(of matrix: String) -> Place? {
        if matrix == "output" { return Place(rows: vocabularySize, columns: width) }
        let parts = matrix.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "blk", let layer = Int(parts[1]), (0..<layerCount).contains(layer),
            String(layer) == parts[1]
        else { return nil }
        let (queryWidth, keyValueWidth) = (headCount * headWidth, keyValueHeadCount * headWidth)
        switch (parts[2], fusesQKV, fusesGateUp) {
        case ("attn_q", false, _):
            return Place(
                layer: layer, matrices: \.queryKeyValue, index: 0, rows: queryWidth, columns: width,
                interleavedHeads: interleavesHeads ? headCount : nil)
        case ("attn_k", false, _):
            return Place(
                layer: layer, matrices: \.queryKeyValue, index: 1, rows: keyValueWidth, columns: width,
                interleavedHeads: interleavesHeads ? keyValueHeadCount : nil)
        case ("attn_v", false, _):
            return Place(layer: layer, matrices: \.queryKeyValue, index: 2, rows: keyValueWidth, columns: width)
        case ("attn_qkv", true, _):
            return Place(
                layer: layer, matrices: \.queryKeyValue, index: 0, rows: queryWidth + 2 * keyValueWidth, columns: width)
        case ("attn_output", _, _):
            return Place(layer: layer, matrices: \.attentionOutput, rows: width, columns: queryWidth)
        case ("ffn_gate", _, false):
            return Place(layer: layer, matrices: \.gateUp, index: 0, rows: feedForwardWidth, columns: width)
        case ("ffn_up", _, false):
            return Place(layer: layer, matrices: \.gateUp, index: 1, rows: feedForwardWidth, columns: width)
        case ("ffn_up", _, true):
            return Place(layer: layer, matrices: \.gateUp, index: 0, rows: 2 * feedForwardWidth, columns: width)
        case ("ffn_down", _, _):
            return Place(layer: layer, matrices: \.down, rows: width, columns: feedForwardWidth)
        default: return nil
        }
    }
}
