import Inference
import Testing
import Tokenizers

@Suite("PrefixTree")
struct PrefixTreeTests {
    private final class Holder {
        var tokens: [TokenID] = []
    }

    /// The plain way: every holder is compared.
    private func plain(_ holders: [Holder], _ text: [TokenID]) -> (Int, Set<ObjectIdentifier>) {
        let common = holders.map { holder in zip(holder.tokens, text).prefix { $0 == $1 }.count }
        let most = common.max() ?? 0
        guard most > 0 else { return (0, []) }
        return (most, Set(zip(holders, common).filter { $0.1 == most }.map { ObjectIdentifier($0.0) }))
    }

    @Test("says what comparing with every sequence says, whatever came and went", arguments: 0..<20)
    func equalsPlain(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let tree = PrefixTree<Holder>()
        var holders: [Holder] = []
        func text(_ count: Int) -> [TokenID] { (0..<count).map { _ in TokenID.random(in: 0..<2, using: &generator) } }
        for _ in 0..<400 {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1:
                let holder = Holder()
                // Mostly beginnings of others, with something of their own.
                let base = holders.randomElement(using: &generator)?.tokens ?? []
                let kept = Int.random(in: 0...base.count, using: &generator)
                holder.tokens = Array(base[..<kept]) + text(Int.random(in: 1...6, using: &generator))
                tree.insert(holder.tokens, for: holder)
                holders.append(holder)
            case 2:
                guard let holder = holders.randomElement(using: &generator) else { continue }
                holder.tokens += text(3)
                tree.insert(holder.tokens, for: holder)
            case 3:
                guard let index = holders.indices.randomElement(using: &generator) else { continue }
                let holder = holders[index]
                let kept = Int.random(in: 0...holder.tokens.count, using: &generator)
                tree.remove(holder, tokens: holder.tokens, keeping: kept)
                holder.tokens.removeSubrange(kept...)
                if kept == 0 { holders.remove(at: index) }
            default:
                guard holders.count > 12 else { continue }
                let holder = holders.removeFirst()
                tree.remove(holder, tokens: holder.tokens)
            }
            for wanted in [text(8), (holders.randomElement(using: &generator)?.tokens ?? []) + text(2)] {
                let found = tree.longestPrefix(of: wanted)
                let (length, expected) = plain(holders, wanted)
                #expect(found.length == length)
                #expect(Set(found.holders.map { ObjectIdentifier($0) }) == expected)
            }
            #expect(Set(tree.all.map { ObjectIdentifier($0) }) == Set(holders.map { ObjectIdentifier($0) }))
        }
        // Runs are cut only where holders part or end: one run more at most for each cut.
        #expect(tree.nodeCount <= max(0, 2 * holders.count - 1))
        for holder in holders { tree.remove(holder, tokens: holder.tokens) }
        #expect(tree.nodeCount == 0)
    }
}
