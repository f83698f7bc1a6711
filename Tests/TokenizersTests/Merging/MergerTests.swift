import Testing
import Tokenizers

struct MergerTests {
    /// Any two neighbours whose joined text is in a table merge, in the table's order.
    private struct TextRules: MergeRules {
        let ranks: [[UInt8]: Int]

        func merge(_ left: TokenID, _ right: TokenID, text: UnsafeBufferPointer<UInt8>) -> Merge {
            guard let rank = ranks[Array(text)] else { return .none }
            return Merge(order: UInt32(rank / 3), id: TokenID(rank))
        }
    }

    /// The definition: merge the leftmost pair of the least order, again and again.
    private func plain(_ word: [UInt8], _ rules: TextRules) -> [[UInt8]] {
        var parts = word.map { [$0] }
        while true {
            var best: (order: UInt32, index: Int)?
            for index in parts.indices.dropLast() {
                let merge = (parts[index] + parts[index + 1]).withUnsafeBufferPointer { rules.merge(0, 0, text: $0) }
                if !merge.isNone, best == nil || merge.order < best!.order { best = (merge.order, index) }
            }
            guard let best else { return parts }
            parts[best.index] += parts.remove(at: best.index + 1)
        }
    }

    @Test
    func `short and long words merge as the definition says`() {
        var random = SplitMix(state: 42)
        var merger = Merger()
        for round in 0..<1500 {
            // Tables of random strings over few letters, so that merges meet and block each other.
            var ranks: [[UInt8]: Int] = [:]
            for rank in 0..<Int.random(in: 1...40, using: &random) {
                let text = (0..<Int.random(in: 2...6, using: &random)).map { _ in
                    UInt8.random(in: 97...99, using: &random)
                }
                if ranks[text] == nil { ranks[text] = rank }
            }
            let rules = TextRules(ranks: ranks)
            let word = (0..<Int.random(in: 0...70, using: &random)).map { _ in UInt8.random(in: 97...99, using: &random)
            }
            let expected = plain(word, rules)
            for usesHeap in [true, false] {
                var parts: [[UInt8]] = []
                word.withUnsafeBufferPointer { bytes in
                    merger.begin()
                    for _ in bytes { merger.append(-1, length: 1) }
                    merger.merge(bytes, by: rules, usesHeap: usesHeap) { id, text in
                        #expect(id == ranks[Array(text)].map { TokenID($0) } ?? -1)
                        parts.append(Array(text))
                    }
                }
                #expect(parts == expected, "round \(round), heap \(usesHeap)")
            }
        }
    }
}
