/// The merges of byte-level BPE, by the ids of their two sides: a hash table with open addressing. Its slots are small,
/// since most pairs that are looked up are none and need nothing but a slot.
struct PairRanks: MergeRules, Sendable {
    /// A slot is 0 when free, else the upper half of the pair's hash and the rank + 1.
    private var slots: [UInt64]
    private let mask: Int
    /// By rank: both sides of a merge, and the token that it makes.
    private var pairs: [UInt64] = []
    private var results: [TokenID] = []

    /// The most merges of a file that are read.
    static let countLimit = 16_777_216

    init(_ merges: StringTable, vocabulary: Vocabulary) throws(TokenizerError) {
        guard merges.count <= Self.countLimit else {
            throw .tooManyMerges(count: merges.count, limit: Self.countLimit)
        }
        var size = 16
        while 10 * merges.count > 7 * size { size *= 2 }
        slots = [UInt64](repeating: 0, count: size)
        mask = size - 1
        pairs.reserveCapacity(merges.count)
        results.reserveCapacity(merges.count)

        var joined: [UInt8] = []
        var lastResult: TokenID = -1
        for rank in 0..<merges.count {
            let range = merges.range(at: rank)
            var fault = ""
            merges.bytes.withUnsafeBufferPointer { all in
                let text = UnsafeBufferPointer(rebasing: all[range])
                // A side may not be empty, so that the space is not the first byte.
                guard let space = text.dropFirst().firstIndex(of: UInt8(ascii: " ")), space + 1 < text.count else {
                    fault = "it is not two tokens with a space between them"
                    return
                }
                let left = UnsafeBufferPointer(rebasing: text[..<space])
                let right = UnsafeBufferPointer(rebasing: text[(space + 1)...])
                // Vocabularies are made in the order of their merges: the result is most often the next token.
                var result: TokenID? = lastResult + 1
                if !vocabulary.token(lastResult + 1, is: left, followedBy: right) {
                    joined.removeAll(keepingCapacity: true)
                    joined.append(contentsOf: left)
                    joined.append(contentsOf: right)
                    result = joined.withUnsafeBufferPointer { vocabulary.find($0) }
                }
                guard let leftID = vocabulary.find(left), let rightID = vocabulary.find(right), let result else {
                    fault = "one side or the result is not in the vocabulary"
                    return
                }
                lastResult = result
                insert(Self.key(leftID, rightID), result: result)
            }
            guard fault.isEmpty else {
                throw .invalidMerge(index: rank, text: merges.text(at: rank), reason: fault)
            }
        }
    }

    @inline(__always)
    private static func key(_ left: TokenID, _ right: TokenID) -> UInt64 {
        UInt64(UInt32(bitPattern: left)) << 32 | UInt64(UInt32(bitPattern: right))
    }

    @inline(__always)
    private static func hash(_ pair: UInt64) -> UInt64 {
        ByteHash.fold(pair ^ 0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03)
    }

    /// Adds the merge of the next rank; of two merges of one pair the first counts.
    private mutating func insert(_ pair: UInt64, result: TokenID) {
        pairs.append(pair)
        results.append(result)
        let hash = Self.hash(pair)
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
            if slots[slot] >> 32 == hash >> 32, pairs[rank(at: slot)] == pair { return }
            slot = (slot + 1) & mask
        }
        slots[slot] = hash & ~0xffff_ffff | UInt64(pairs.count)
    }

    @inline(__always)
    private func rank(at slot: Int) -> Int { Int(truncatingIfNeeded: slots[slot] & 0xffff_ffff) &- 1 }

    @inline(__always)
    func merge(_ left: TokenID, _ right: TokenID, text: UnsafeBufferPointer<UInt8>) -> Merge {
        if left < 0 || right < 0 { return .none }
        let pair = Self.key(left, right)
        let hash = Self.hash(pair)
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
            if slots[slot] >> 32 == hash >> 32 {
                let rank = rank(at: slot)
                if pairs[rank] == pair { return Merge(order: UInt32(truncatingIfNeeded: rank), id: results[rank]) }
            }
            slot = (slot &+ 1) & mask
        }
        return .none
    }
}
