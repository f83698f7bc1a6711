/// Why a text is not JSON, and where.
package struct JSONError: Error, Hashable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        case unexpectedEnd
        case unexpectedByte(UInt8)
        case invalidUTF8
        case invalidEscape
        case loneSurrogate
        case controlCharacter
        case invalidNumber
        case nestingTooDeep(limit: Int)
        case trailingBytes
        case repeatedKey(String)
    }

    package let reason: Reason
    /// The byte of the text, counted from 0, at which the fault stands.
    package let offset: Int

    package var description: String {
        let what =
            switch reason {
            case .unexpectedEnd: "the text ends inside a value"
            case .unexpectedByte(let byte):
                (0x20..<0x7f).contains(byte)
                    ? "unexpected '\(Character(UnicodeScalar(byte)))'" : "unexpected byte \(byte)"
            case .invalidUTF8: "invalid UTF-8"
            case .invalidEscape: "invalid escape in a string"
            case .loneSurrogate: "half of a surrogate pair in a string"
            case .controlCharacter: "a control character in a string must be escaped"
            case .invalidNumber: "invalid number"
            case .nestingTooDeep(let limit): "nested deeper than \(limit)"
            case .trailingBytes: "text after the end of the value"
            case .repeatedKey(let key): "the key \(JSONValue.quoted(String(key.prefix(80)))) comes a second time"
            }
        return "invalid JSON at byte \(offset): \(what)"
    }
}
