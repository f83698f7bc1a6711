/// The hash of a byte string: eight bytes at a time, folded by a 64 × 64 → 128 bit product as wyhash does. The seed is
/// drawn once for each process, so that a vocabulary or a text cannot be made to collide.
enum ByteHash {
    static let seed = UInt64.random(in: .min ... .max) | 1

    @inline(__always)
    static func fold(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = a.multipliedFullWidth(by: b)
        return product.high ^ product.low
    }

    @inline(__always)
    static func hash(_ bytes: UnsafeBufferPointer<UInt8>, seed: UInt64) -> UInt64 {
        let raw = UnsafeRawBufferPointer(bytes)
        var value = seed ^ UInt64(truncatingIfNeeded: bytes.count)
        var offset = 0
        while offset &+ 8 <= raw.count {
            let chunk = raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            value = fold(value ^ chunk, 0x9e37_79b9_7f4a_7c15)
            offset &+= 8
        }
        var tail: UInt64 = 0
        while offset < raw.count {
            tail = tail << 8 | UInt64(raw[offset])
            offset &+= 1
        }
        return fold(value ^ tail, 0xd1b5_4a32_d192_ed03 ^ seed)
    }
}
