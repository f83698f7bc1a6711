/// The merges of SentencePiece's BPE: two neighbours merge when their joined text is a piece, that of the highest score
/// first.
struct PieceScores: MergeRules, Sendable {
    private let vocabulary: Vocabulary
    /// The order of each token as the product of a merge; `UInt32.max` for tokens that no merge makes.
    private let orders: [UInt32]

    init(_ scores: [Float], vocabulary: Vocabulary) throws(TokenizerError) {
        guard scores.count == vocabulary.count else {
            if scores.isEmpty { throw .missing(key: "tokenizer.ggml.scores") }
            throw .countMismatch(key: "tokenizer.ggml.scores", count: scores.count, tokens: vocabulary.count)
        }
        var orders = [UInt32](repeating: .max, count: scores.count)
        for (id, score) in scores.enumerated() {
            guard !score.isNaN else { throw .invalidScore(token: TokenID(id)) }
            switch vocabulary.types[id] {
            // Text that spells a control token is text.
            case .control, .unknown, .byte: continue
            case .normal, .userDefined, .unused: orders[id] = Self.order(score)
            }
        }
        self.vocabulary = vocabulary
        self.orders = orders
    }

    /// The bits of a float in an order that integers have too, the highest score first.
    private static func order(_ score: Float) -> UInt32 {
        // -0.0 and 0.0 are one score.
        let bits = (score == 0 ? 0 : score).bitPattern
        let ascending = bits >> 31 == 1 ? ~bits : bits | 0x8000_0000
        return ~ascending
    }

    /// The token of a single character: no control token has one that short, but `merge` and this agree on it.
    @inline(__always)
    func token(_ text: UnsafeBufferPointer<UInt8>) -> TokenID {
        guard let id = vocabulary.find(text), orders[Int(id)] != .max else { return -1 }
        return id
    }

    @inline(__always)
    func merge(_ left: TokenID, _ right: TokenID, text: UnsafeBufferPointer<UInt8>) -> Merge {
        guard let id = vocabulary.find(text) else { return .none }
        let order = orders[Int(id)]
        return order == .max ? .none : Merge(order: order, id: id)
    }
}
