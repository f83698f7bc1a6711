/// GPT-2's alphabet, in which byte-level vocabularies spell bytes as printable characters: the printable bytes of Latin-1
/// stand for themselves, the other 68 for U+0100 and what follows, in order ('Ġ' is the space).
enum ByteAlphabet {
    /// The scalar that stands for each byte.
    static let scalars: [UInt32] = {
        var next: UInt32 = 0x100
        return (UInt32(0)...255).map { byte in
            switch byte {
            case 0x21...0x7e, 0xa1...0xac, 0xae...0xff: return byte
            default:
                defer { next += 1 }
                return next
            }
        }
    }()

    /// The byte for which each scalar below U+0144 stands, or -1.
    static let bytes: [Int16] = {
        var bytes = [Int16](repeating: -1, count: 0x144)
        for (byte, scalar) in scalars.enumerated() { bytes[Int(scalar)] = Int16(byte) }
        return bytes
    }()

    /// Appends the UTF-8 of the scalar that stands for `byte`.
    @inline(__always)
    static func spell(_ byte: UInt8, into text: inout [UInt8]) {
        let scalar = scalars[Int(byte)]
        if scalar < 0x80 {
            text.append(UInt8(scalar))
        } else {
            text.append(0xc0 | UInt8(scalar >> 6))
            text.append(0x80 | UInt8(scalar & 0x3f))
        }
    }

    /// Appends the bytes that a token's text stands for. A text with a character that is not of the alphabet (an added
    /// token, written as it is) stands for itself.
    static func appendBytes(of text: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
        let start = output.count
        var index = 0
        while index < text.count {
            var scalar = Int(text[index])
            index += 1
            if scalar >= 0x80 {
                guard scalar & 0xe0 == 0xc0, index < text.count else { return spellAsIs() }
                scalar = (scalar & 0x1f) << 6 | Int(text[index] & 0x3f)
                index += 1
            }
            guard scalar < bytes.count, bytes[scalar] >= 0 else { return spellAsIs() }
            output.append(UInt8(bytes[scalar]))
        }

        func spellAsIs() {
            output.removeLast(output.count - start)
            output.append(contentsOf: text)
        }
    }
}
