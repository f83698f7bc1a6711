/// The merges of byte-level BPE, by the ids of their two sides: a hash table with open addressing.
struct PairRanks: MergeRules, Sendable {
    private struct Slot {
        var pair: UInt64
        var merge: UInt64
    }

    /// No pair: ids are not negative.
    private static let free = UInt64.max

    private var slots: [Slot]
    private let mask: Int

    /// The most merges of a file that are read.
    static let countLimit = 16_777_216

    init(_ merges: StringTable, vocabulary: Vocabulary) throws(TokenizerError) {
        guard merges.count <= Self.countLimit else {
            throw .vocabularyTooLarge(count: merges.count, limit: Self.countLimit)
        }
        var size = 16
        while size < 2 * merges.count { size *= 2 }
        slots = [Slot](repeating: Slot(pair: Self.free, merge: 0), count: size)
        mask = size - 1

        var joined: [UInt8] = []
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
                joined.removeAll(keepingCapacity: true)
                joined.append(contentsOf: left)
                joined.append(contentsOf: right)
                let result = joined.withUnsafeBufferPointer { vocabulary.find($0) }
                guard let leftID = vocabulary.find(left), let rightID = vocabulary.find(right), let result else {
                    fault = "one side or the result is not in the vocabulary"
                    return
                }
                insert(Self.key(leftID, rightID), Merge(order: UInt32(rank), id: result))
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
    private func slot(of pair: UInt64) -> Int {
        Int(truncatingIfNeeded: ByteHash.fold(pair ^ 0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03)) & mask
    }

    /// Adds a merge; of two merges of one pair the first counts.
    private mutating func insert(_ pair: UInt64, _ merge: Merge) {
        var index = slot(of: pair)
        while slots[index].pair != Self.free {
            if slots[index].pair == pair { return }
            index = (index + 1) & mask
        }
        slots[index] = Slot(pair: pair, merge: merge.packed)
    }

    @inline(__always)
    func merge(_ left: TokenID, _ right: TokenID, text: UnsafeBufferPointer<UInt8>) -> Merge {
        if left < 0 || right < 0 { return .none }
        let pair = Self.key(left, right)
        var index = slot(of: pair)
        while true {
            let slot = slots[index]
            if slot.pair == pair {
                return Merge(
                    order: UInt32(truncatingIfNeeded: slot.merge >> 32), id: TokenID(truncatingIfNeeded: slot.merge))
            }
            if slot.pair == Self.free { return .none }
            index = (index &+ 1) & mask
        }
    }
}
