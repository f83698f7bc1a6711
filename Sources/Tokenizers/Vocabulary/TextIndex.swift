/// From the text of a token to its id: a hash table with open addressing over the strings of one `StringTable`.
struct TextIndex: Sendable {
    /// A slot is 0 when free, else the upper half of the hash and the id + 1.
    private var slots: [UInt64]
    private let mask: Int
    /// The longest string of the index, in bytes: nothing longer needs to be looked up.
    private(set) var longest = 0

    /// An index for at most `count` strings, at most 70 % full.
    init(capacity count: Int) {
        var size = 16
        while 10 * count > 7 * size { size *= 2 }
        slots = [UInt64](repeating: 0, count: size)
        mask = size - 1
    }

    /// Adds string `id` of `table`, unless the same text is there already: then returns the id that has it.
    mutating func insert(_ id: TokenID, of table: StringTable) -> TokenID? {
        let ends = table.ends
        return table.bytes.withUnsafeBufferPointer { bytes in
            let text = Self.text(of: id, bytes, ends)
            longest = max(longest, text.count)
            let hash = ByteHash.hash(text, seed: ByteHash.seed)
            var slot = Int(truncatingIfNeeded: hash) & mask
            while slots[slot] != 0 {
                if slots[slot] >> 32 == hash >> 32 {
                    let other = TokenID(truncatingIfNeeded: slots[slot] & 0xffff_ffff) - 1
                    if Self.equal(Self.text(of: other, bytes, ends), text) { return other }
                }
                slot = (slot + 1) & mask
            }
            slots[slot] = hash & ~0xffff_ffff | UInt64(id + 1)
            return nil
        }
    }

    /// The id of the string of `table` that is `text`.
    @inline(__always)
    func find(_ text: UnsafeBufferPointer<UInt8>, in table: StringTable) -> TokenID? {
        guard text.count <= longest else { return nil }
        let hash = ByteHash.hash(text, seed: ByteHash.seed)
        var slot = Int(truncatingIfNeeded: hash) & mask
        while true {
            let entry = slots[slot]
            if entry == 0 { return nil }
            if entry >> 32 == hash >> 32 {
                let id = TokenID(truncatingIfNeeded: entry & 0xffff_ffff) - 1
                let range = table.range(at: Int(id))
                if range.count == text.count, table.matches(text, at: range) { return id }
            }
            slot = (slot &+ 1) & mask
        }
    }

    private static func text(
        of id: TokenID, _ bytes: UnsafeBufferPointer<UInt8>, _ ends: [Int]
    ) -> UnsafeBufferPointer<UInt8> {
        let start = id == 0 ? 0 : ends[Int(id) - 1]
        return UnsafeBufferPointer(rebasing: bytes[start..<ends[Int(id)]])
    }

    private static func equal(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Bool {
        a.count == b.count && a.elementsEqual(b)
    }
}
