import Foundation

/// What BERT does to a text before it cuts it into words: control characters go, and in models that do not tell upper from
/// lower case accents and case do.
/// Source: the `BertNormalizer` of Hugging Face's `tokenizers`.
struct BERTNormalization: Sendable {
    let lowercases: Bool
    let stripsAccents: Bool

    /// Hands on the characters that are left. Bytes that are no UTF-8 are U+FFFD, which goes too.
    func forEachScalar(of text: UnsafeBufferPointer<UInt8>, _ body: (Unicode.Scalar) -> Void) {
        if text.allSatisfy({ $0 < 0x80 }) {
            for byte in text {
                switch byte {
                case 0x41...0x5a where lowercases: body(Unicode.Scalar(byte | 0x20))
                case 0x09...0x0a, 0x0d, 0x20..<0x7f: body(Unicode.Scalar(byte))
                default: break
                }
            }
            return
        }
        var cleaned = String.UnicodeScalarView()
        for scalar in String(decoding: text, as: UTF8.self).unicodeScalars where !Self.isRemoved(scalar) {
            cleaned.append(scalar)
        }
        guard stripsAccents else {
            for scalar in cleaned { lowercase(scalar, body) }
            return
        }
        for scalar in String(cleaned).decomposedStringWithCanonicalMapping.unicodeScalars
        where scalar.properties.generalCategory != .nonspacingMark {
            lowercase(scalar, body)
        }
    }

    private func lowercase(_ scalar: Unicode.Scalar, _ body: (Unicode.Scalar) -> Void) {
        guard lowercases, scalar.properties.changesWhenLowercased else { return body(scalar) }
        for scalar in scalar.properties.lowercaseMapping.unicodeScalars { body(scalar) }
    }

    private static func isRemoved(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0a, 0x0d: return false
        case 0xfffd: return true
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .privateUse: return true
        default: return false
        }
    }

    /// Chinese characters, each of which is a word: these blocks and no others.
    static func isIdeograph(_ value: UInt32) -> Bool {
        switch value {
        case 0x4e00...0x9fff, 0x3400...0x4dbf, 0x20000...0x2a6df, 0x2a700...0x2b73f, 0x2b740...0x2b81f,
            0x2b920...0x2ceaf,
            0xf900...0xfaff, 0x2f800...0x2fa1f:
            true
        default: false
        }
    }
}
