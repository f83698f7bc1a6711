import Tokenizers

/// What one step of the model computes: tokens of one sequence or of several, each at its place.
struct Batch {
    /// One token of one sequence. Tokens of a sequence stand together, in the order of their positions.
    struct Row {
        let token: TokenID
        let cache: KeyValueCache
        let position: Int
        /// Whether the token's final state is wanted, to predict the token after it.
        let wantsOutput: Bool
        /// What changes the model for this sequence.
        var adapter: Adapter?
    }

    private(set) var rows: [Row] = []
    private(set) var outputCount = 0

    mutating func append(_ row: Row) {
        rows.append(row)
        if row.wantsOutput { outputCount += 1 }
    }
}
