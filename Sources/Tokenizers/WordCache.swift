/// The words of one text that were already merged, and where their tokens stand among the tokens of that text: most words
/// of a long text come again.
struct WordCache {
    private struct Entry {
        var start: Int32
        var count: Int32
        var tokens: Range<Int>
    }

    /// Longer words come but once.
    static let wordLimit = 64
    private static let entryLimit = 1 << 17

    /// A slot is 0 when free, else the upper half of the hash and the entry's number + 1.
    private var slots: [UInt64] = []
    private var entries: [Entry] = []
    private var bytes: [UInt8] = []

    /// Where the tokens of `word` are.
    @inline(__always)
    func find(_ word: UnsafeBufferPointer<UInt8>, hash: UInt64) -> Range<Int>? {
        guard !slots.isEmpty else { return nil }
        let mask = slots.count &- 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
            if slots[slot] >> 32 == hash >> 32 {
                let entry = entries[Int(truncatingIfNeeded: slots[slot] & 0xffff_ffff) &- 1]
                if Int(entry.count) == word.count, matches(word, at: Int(entry.start)) { return entry.tokens }
            }
            slot = (slot &+ 1) & mask
        }
        return nil
    }

    @inline(__always)
    private func matches(_ word: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        for index in 0..<word.count where bytes[start &+ index] != word[index] { return false }
        return true
    }

    /// Remembers a word that `find` did not find.
    mutating func insert(_ word: UnsafeBufferPointer<UInt8>, hash: UInt64, tokens: Range<Int>) {
        guard entries.count < Self.entryLimit else { return }
        if 2 * entries.count >= slots.count { grow() }
        entries.append(Entry(start: Int32(bytes.count), count: Int32(word.count), tokens: tokens))
        bytes.append(contentsOf: word)
        place(hash & ~0xffff_ffff | UInt64(entries.count), hash)
    }

    private mutating func place(_ value: UInt64, _ hash: UInt64) {
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 { slot = (slot + 1) & mask }
        slots[slot] = value
    }

    private mutating func grow() {
        slots = [UInt64](repeating: 0, count: max(64, 4 * slots.count))
        bytes.withUnsafeBufferPointer { all in
            for (number, entry) in entries.enumerated() {
                let word = UnsafeBufferPointer(rebasing: all[Int(entry.start)..<Int(entry.start + entry.count)])
                let hash = ByteHash.hash(word, seed: ByteHash.seed)
                place(hash & ~0xffff_ffff | UInt64(number + 1), hash)
            }
        }
    }
}
