import Foundation

/// The low-rank changes that an adapter's file has, before it is known which model they are for. Names and shapes are
/// read and checked; the numbers stay in the file.
///
/// An adapter changes a matrix W of the base to W + scale · B A, with A [rank, columns] and B [rows, rank].
/// Source: E. Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models" (2021).
package struct AdapterFile: Sendable {
    /// What is added to one matrix.
    struct Change: Sendable {
        /// The matrix in the base model's file, without `.weight`: `blk.0.attn_q`, `output`.
        let matrix: String
        let a: StoredTensor
        let b: StoredTensor
        let scale: Float
        var rank: Int { a.rows }
    }

    /// A matrix in a file.
    struct StoredTensor: Sendable {
        let name: String
        /// Outputs.
        let rows: Int
        /// Inputs.
        let columns: Int
        let read: @Sendable () throws(AdapterError) -> [Float]
    }

    /// The base's architecture, where the file says it.
    let architecture: String?
    /// Whether the rows of queries and keys stand as in the checkpoints of transformers, not as in GGUF files.
    let hasCheckpointOrder: Bool
    /// By the names of their matrices.
    let changes: [Change]

    /// The greatest rank of any change.
    package var rank: Int { changes.map(\.rank).max() ?? 0 }

    /// More than any adapter has; it bounds what a hostile file can make of memory.
    package static let rankLimit = 4096

    /// Reads an adapter's headers: a GGUF file, or a safetensors file beside the `adapter_config.json` that `peft` writes.
    package init(_ file: URL) throws(AdapterError) {
        self = file.pathExtension == "safetensors" ? try Self.peft(file) : try Self.gguf(file)
    }

    /// Puts the factors together, each A with its B.
    /// - Parameter factors: By the name of the matrix.
    init(
        architecture: String?, hasCheckpointOrder: Bool, a: [String: StoredTensor], b: [String: StoredTensor],
        missingName: (_ matrix: String, _ isA: Bool) -> String, scale: (_ matrix: String, _ rank: Int) -> Float
    ) throws(AdapterError) {
        self.architecture = architecture
        self.hasCheckpointOrder = hasCheckpointOrder
        guard !a.isEmpty || !b.isEmpty else { throw .empty }
        var changes: [Change] = []
        for matrix in Set(a.keys).union(b.keys).sorted() {
            guard let a = a[matrix] else { throw .missingFactor(missingName(matrix, true)) }
            guard let b = b[matrix] else { throw .missingFactor(missingName(matrix, false)) }
            guard a.rows == b.columns else {
                throw .wrongRank(tensor: matrix, reason: "\(a.name) has \(a.rows), \(b.name) has \(b.columns)")
            }
            guard (1...Self.rankLimit).contains(a.rows) else {
                throw .wrongRank(tensor: matrix, reason: "\(a.rows) is not between 1 and \(Self.rankLimit)")
            }
            let scale = scale(matrix, a.rows)
            guard scale.isFinite else { throw .invalidConfiguration(key: "alpha", reason: "the scale is not finite") }
            changes.append(Change(matrix: matrix, a: a, b: b, scale: scale))
        }
        self.changes = changes
    }
}
