/// A bracket expression of a pattern: which scalars it takes. ASCII is two words of bits, the rest a set of classes and,
/// rarely, ranges.
struct CharacterSet: Sendable {
    private(set) var low: UInt64 = 0
    private(set) var high: UInt64 = 0
    private(set) var classes: ScalarClass.Mask = 0
    private(set) var ranges: [ClosedRange<UInt32>] = []
    /// Whether the classes and ranges tell what is *not* in the set. The ASCII words tell what is.
    private(set) var isNegated = false

    /// Whether any scalar beyond ASCII may be in the set.
    var hasOthers: Bool { isNegated || classes != 0 || !ranges.isEmpty }

    func containsASCII(_ byte: UInt8) -> Bool {
        (byte < 64 ? low : high) >> UInt64(byte & 63) & 1 != 0
    }

    mutating func insert(_ range: ClosedRange<UInt32>) {
        for byte in UInt8(0)...0x7f where range.contains(UInt32(byte)) { insertASCII(byte) }
        if range.upperBound > 0x7f { ranges.append(max(0x80, range.lowerBound)...range.upperBound) }
    }

    mutating func insert(classes mask: ScalarClass.Mask) {
        for byte in UInt8(0)...0x7f where mask >> UInt32(ScalarClass.table[UInt32(byte)]) & 1 != 0 {
            insertASCII(byte)
        }
        classes |= mask
    }

    private mutating func insertASCII(_ byte: UInt8) {
        if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
    }

    /// Turns the set into that of all scalars that it does not have.
    mutating func invert() {
        low = ~low
        high = ~high
        isNegated.toggle()
    }
}
