/// Which tensors a model must have, in what shape, by its family and numbers, and where each goes in memory. Made and
/// checked before a byte of the weights is read.
struct WeightLayout {
    /// A tensor of the file and its place in memory.
    struct Entry {
        let tensor: GGUFTensor
        /// Whether it is prepared as a matrix, or kept as floats.
        let isMatrix: Bool
        /// In bytes from the start of the weights.
        let offset: Int
    }

    /// By the names in the file.
    private(set) var entries: [String: Entry] = [:]
    /// In the order of the file, so that it is read from front to back.
    private(set) var order: [Entry] = []
    private(set) var byteCount = 0

    private let file: GGUFFile

    init(_ file: GGUFFile, _ configuration: ModelConfiguration) throws(InferenceError) {
        self.file = file
        let width = configuration.width
        try require(matrix: "token_embd", rows: configuration.vocabularySize, columns: width)
        switch configuration.architecture.purpose {
        case .text:
            try require(vector: "output_norm.weight", count: width)
            if file.tensor("output.weight") != nil {
                try require(matrix: "output", rows: configuration.vocabularySize, columns: width)
            }
            for layer in 0..<configuration.layerCount {
                try addLayer("blk.\(layer)", configuration)
            }
        case .embeddings:
            if let types = file.tensor("token_types.weight") {
                // One vector for each type of token, the first of which all tokens of a text have.
                try add(types.name, shape: [width, max(1, types.rows)], isMatrix: false)
            }
            try require(norm: "token_embd_norm", count: width)
            for layer in 0..<configuration.layerCount {
                try addEncoderLayer("blk.\(layer)", configuration)
            }
        }
        for name in Self.elsewhere where file.tensor(name) != nil { known.insert(name) }
        if let unexpected = file.tensors.first(where: { !known.contains($0.name) }) {
            throw .unexpectedTensor(unexpected.name)
        }
        order = entries.values.sorted { $0.tensor.offset < $1.tensor.offset }
    }

    /// Read with the configuration.
    private static let elsewhere = ["rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"]
    private var known: Set<String> = []

    private mutating func addLayer(
        _ block: String, _ configuration: ModelConfiguration
    ) throws(InferenceError) {
        let architecture = configuration.architecture
        let width = configuration.width

        try require(vector: "\(block).attn_norm.weight", count: width)
        try addProjections(block, configuration)
        if architecture.normalizesQueryKey {
            try require(vector: "\(block).attn_q_norm.weight", count: configuration.headWidth)
            try require(vector: "\(block).attn_k_norm.weight", count: configuration.headWidth)
        }
        try require(vector: "\(block).ffn_norm.weight", count: width)
        if architecture.hasPostNorms {
            try require(vector: "\(block).post_attention_norm.weight", count: width)
            try require(vector: "\(block).post_ffw_norm.weight", count: width)
        }
    }

    private mutating func addEncoderLayer(
        _ block: String, _ configuration: ModelConfiguration
    ) throws(InferenceError) {
        try addProjections(block, configuration)
        try require(norm: "\(block).attn_output_norm", count: configuration.width)
        try require(norm: "\(block).layer_output_norm", count: configuration.width)
    }

    /// The matrices of attention and feed-forward, which all blocks have.
    private mutating func addProjections(
        _ block: String, _ configuration: ModelConfiguration
    ) throws(InferenceError) {
        let architecture = configuration.architecture
        let width = configuration.width
        let queryWidth = configuration.queryWidth
        let keyValueWidth = configuration.keyValueWidth
        let feedForwardWidth = configuration.feedForwardWidth
        if architecture.fusesQKV {
            try require(matrix: "\(block).attn_qkv", rows: queryWidth + 2 * keyValueWidth, columns: width)
        } else {
            try require(matrix: "\(block).attn_q", rows: queryWidth, columns: width)
            try require(matrix: "\(block).attn_k", rows: keyValueWidth, columns: width)
            try require(matrix: "\(block).attn_v", rows: keyValueWidth, columns: width)
        }
        try require(matrix: "\(block).attn_output", rows: width, columns: queryWidth)
        if architecture.fusesGateUp {
            try require(matrix: "\(block).ffn_up", rows: 2 * feedForwardWidth, columns: width)
        } else {
            try require(matrix: "\(block).ffn_gate", rows: feedForwardWidth, columns: width)
            try require(matrix: "\(block).ffn_up", rows: feedForwardWidth, columns: width)
        }
        try require(matrix: "\(block).ffn_down", rows: width, columns: feedForwardWidth)
    }

    /// Weight and bias of a norm that takes the mean away.
    private mutating func require(norm name: String, count: Int) throws(InferenceError) {
        try require(vector: "\(name).weight", count: count)
        try require(vector: "\(name).bias", count: count)
    }

    /// A matrix `NAME.weight` and, where the file has one, its bias `NAME.bias`.
    private mutating func require(matrix name: String, rows: Int, columns: Int) throws(InferenceError) {
        try add("\(name).weight", shape: [columns, rows], isMatrix: true)
        if file.tensor("\(name).bias") != nil { try require(vector: "\(name).bias", count: rows) }
    }

    private mutating func require(vector name: String, count: Int) throws(InferenceError) {
        try add(name, shape: [count], isMatrix: false)
    }

    private mutating func add(_ name: String, shape: [Int], isMatrix: Bool) throws(InferenceError) {
        guard let tensor = file.tensor(name) else { throw .missingTensor(name) }
        guard tensor.shape == shape else {
            throw .wrongShape(tensor: name, expected: shape, actual: tensor.shape)
        }
        entries[name] = Entry(tensor: tensor, isMatrix: isMatrix, offset: byteCount)
        known.insert(name)
        // Bounded by the file's size, four times for vectors that become floats.
        let bytes = isMatrix ? tensor.byteCount : tensor.elementCount * MemoryLayout<Float>.size
        byteCount = (byteCount + bytes + 63) & ~63
    }
}
