/// Checks bytes as UTF-8 has them (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing above U+10FFFF.
struct UTF8Validator {
    /// The continuation bytes that must still come.
    private(set) var remaining = 0
    private var next: ClosedRange<UInt8> = 0x80...0xbf

    var isAtBoundary: Bool { remaining == 0 }

    /// - Returns: Whether the byte can stand here; the validator is of no use after a false.
    mutating func accept(_ byte: UInt8) -> Bool {
        if remaining > 0 {
            guard next.contains(byte) else { return false }
            remaining -= 1
            next = 0x80...0xbf
            return true
        }
        switch byte {
        case 0..<0x80: break
        case 0xc2...0xdf: remaining = 1
        case 0xe0: (remaining, next) = (2, 0xa0...0xbf)
        case 0xed: (remaining, next) = (2, 0x80...0x9f)
        case 0xe1...0xef: remaining = 2
        case 0xf0: (remaining, next) = (3, 0x90...0xbf)
        case 0xf4: (remaining, next) = (3, 0x80...0x8f)
        case 0xf1...0xf3: remaining = 3
        default: return false
        }
        return true
    }
}
