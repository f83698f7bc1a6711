/// Turns tokens into text one by one and never gives half a character: bytes that begin a character, half of a flag and a
/// joiner whose partner is missing wait for the next token. All parts together are what `decode` makes of all tokens.
package struct StreamingDetokenizer: Sendable {
    private let tokenizer: Tokenizer
    private let skipsSpecial: Bool
    private var state = Tokenizer.DecodingState()
    private var pending: [UInt8] = []

    package init(_ tokenizer: Tokenizer, skipsSpecial: Bool = true) {
        self.tokenizer = tokenizer
        self.skipsSpecial = skipsSpecial
    }

    /// The text that `token` completes; often empty.
    package mutating func append(_ token: TokenID) -> String {
        tokenizer.append(token, to: &pending, after: &state, skipsSpecial: skipsSpecial)
        return take(upTo: completeCount)
    }

    /// The text that still waits; a character that was never completed is one U+FFFD.
    package mutating func finish() -> String { take(upTo: pending.count) }

    private mutating func take(upTo end: Int) -> String {
        guard end > 0 else { return "" }
        let text = String(decoding: pending[..<end], as: UTF8.self)
        pending.removeFirst(end)
        return text
    }

    /// How many of the pending bytes can be given away.
    private var completeCount: Int {
        var end = pending.count - incompleteTail
        // U+200D, the joiner of emoji.
        if pending[..<end].hasSuffix([0xe2, 0x80, 0x8d]) { return end - 3 }
        // Regional indicators, U+1F1E6 to U+1F1FF, make a flag in pairs.
        var flags = 0
        while Self.endsInRegionalIndicator(pending[..<(end - 4 * flags)]) { flags += 1 }
        if flags % 2 == 1 { end -= 4 }
        return end
    }

    /// How many bytes at the end begin a character and do not complete it: such that more bytes could make it valid.
    private var incompleteTail: Int {
        for length in 1...3 where length <= pending.count {
            let byte = pending[pending.count - length]
            if byte & 0xc0 == 0x80 { continue }
            let expected = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
            if expected <= length || !(0xc2...0xf4).contains(byte) { return 0 }
            // The second byte rules out overlong forms, surrogates and what lies beyond U+10FFFF.
            if length >= 2 {
                let second = pending[pending.count - length + 1]
                switch byte {
                case 0xe0 where second < 0xa0, 0xed where second > 0x9f, 0xf0 where second < 0x90,
                    0xf4 where second > 0x8f:
                    return 0
                default: break
                }
            }
            return length
        }
        return 0
    }

    private static func endsInRegionalIndicator(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let last = bytes.last, (0xa6...0xbf).contains(last) else { return false }
        return bytes.dropLast().hasSuffix([0xf0, 0x9f, 0x87])
    }
}

extension ArraySlice<UInt8> {
    fileprivate func hasSuffix(_ suffix: [UInt8]) -> Bool {
        count >= suffix.count && self[(endIndex - suffix.count)...].elementsEqual(suffix)
    }
}
