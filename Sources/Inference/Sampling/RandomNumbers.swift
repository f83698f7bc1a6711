/// A generator whose numbers depend on the seed alone, on every machine: SplitMix64.
/// Source: G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom number generators" (2014).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }

    /// A number in [0, 1), from the upper 53 bits. Spelled out, so that no change of the standard library changes texts.
    package mutating func nextUnit() -> Double { Double(next() >> 11) * 0x1p-53 }
}
