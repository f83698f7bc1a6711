/// The numbers of a tensor: uniform in offset ± scale, from SplitMix64 seeded with the FNV-1a hash of its name, 16 bits each.
/// `Benchmarks/figures/_weights.py` has the same generator.
package func generatedWeights(_ name: String, count: Int, scale: Float, offset: Float) -> [Float] {
    var seed: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in name.utf8 { seed = (seed ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return (1...count).map { index in
        var state = seed &+ UInt64(index) &* 0x9e37_79b9_7f4a_7c15
        state = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        state = (state ^ (state >> 27)) &* 0x94d0_49bb_1331_11eb
        let top = (state ^ (state >> 31)) >> 48
        return (Float(top) / 32768 - 1) * scale + offset
    }
}
