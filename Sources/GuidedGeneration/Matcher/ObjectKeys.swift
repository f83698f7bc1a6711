/// The undeclared keys of an open object, so that none comes twice.
///
/// The states of the machine do not know them: there would be a state for every set of keys. They stand beside the state, and what they
/// forbid is taken out of the mask that the state has.
struct ObjectKeys: Sendable {
    /// The keys that have been written, in UTF-8 without escapes.
    private(set) var written: Set<[UInt8]> = []
    /// The text of the key that is open, as it is spelled; nil where none is.
    private var open: [UInt8]?

    mutating func begin() { open = [] }

    mutating func append(_ byte: UInt8) { open?.append(byte) }

    /// Takes the byte with which the text is no longer inside an undeclared key: the quotation mark that ends it, or one after which
    /// only a declared key can be meant.
    /// - Returns: False when the key has been written before.
    mutating func end(with byte: UInt8) -> Bool {
        guard let key = open else { return true }
        open = nil
        let (text, isWhole) = Self.decoded(key)
        guard byte == UInt8(ascii: "\""), isWhole else { return true }
        return written.insert(text).inserted
    }

    /// What is left to write of each written key that begins as the open one does, and whether the open one ends between two
    /// characters.
    var repetitions: (rests: [[UInt8]], isBetweenCharacters: Bool) {
        guard let open else { return ([], true) }
        let (beginning, isWhole) = Self.decoded(open)
        let rests = written.filter { $0.starts(with: beginning) }.map { Array($0.dropFirst(beginning.count)) }
        return (rests, isWhole)
    }

    /// The text that the inside of a JSON string spells, and whether nothing of it is cut off.
    static func decoded(_ bytes: some Collection<UInt8>) -> (text: [UInt8], isWhole: Bool) {
        var text: [UInt8] = []
        let bytes = Array(bytes)
        var index = 0
        while index < bytes.count {
            if bytes[index] != UInt8(ascii: "\\") {
                let length =
                    switch bytes[index] {
                    case ..<0x80: 1
                    case ..<0xe0: 2
                    case ..<0xf0: 3
                    default: 4
                    }
                guard index + length <= bytes.count else { return (text, false) }
                text += bytes[index..<index + length]
                index += length
                continue
            }
            guard index + 1 < bytes.count else { return (text, false) }
            index += 2
            switch bytes[index - 1] {
            case UInt8(ascii: "n"): text.append(0x0a)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "r"): text.append(0x0d)
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0c)
            case UInt8(ascii: "u"):
                guard var scalar = hexUnit(bytes, index) else { return (text, false) }
                index += 4
                if scalar & 0xfc00 == 0xd800 {
                    // The second half stands behind another `\u`.
                    guard let low = hexUnit(bytes, index + 2) else { return (text, false) }
                    index += 6
                    scalar = 0x10000 + (scalar & 0x3ff) << 10 + low & 0x3ff
                }
                guard let scalar = Unicode.Scalar(scalar) else { return (text, false) }
                text += Array(String(Character(scalar)).utf8)
            case let byte: text.append(byte)
            }
        }
        return (text, true)
    }

    private static func hexUnit(_ bytes: [UInt8], _ start: Int) -> UInt32? {
        guard start + 4 <= bytes.count else { return nil }
        var value: UInt32 = 0
        for byte in bytes[start..<start + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
