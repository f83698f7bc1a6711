import Foundation

/// A JSON number, kept as its text so that no digit is lost.
package struct JSONNumber: Hashable, Sendable, CustomStringConvertible {
    /// The number as RFC 8259 spells it.
    package let text: String

    /// Takes text that the parser has found to be a number.
    init(validated text: String) { self.text = text }

    package init(_ value: Int) { text = String(value) }
    package init(_ value: Decimal) { text = value.description }

    /// Nil for a value that JSON has no spelling for: infinity and not-a-number.
    package init?(_ value: Double) {
        guard value.isFinite else { return nil }
        // A whole number is written without its fraction as long as every digit of it is exact.
        // Negative zero is the exception: an integer has no sign for it.
        let isInteger = value == value.rounded() && abs(value) < 0x1p53 && !(value == 0 && value.sign == .minus)
        text = isInteger ? String(Int64(value)) : "\(value)"
    }

    package init?(_ value: Float) {
        guard value.isFinite else { return nil }
        let isInteger = value == value.rounded() && abs(value) < 0x1p24 && !(value == 0 && value.sign == .minus)
        text = isInteger ? String(Int64(value)) : "\(value)"
    }

    package var description: String { text }

    /// The value as an `Int`, when it is whole and fits: `3`, `3.0` and `3e0` all do.
    package var intValue: Int? {
        if let value = Int(text) { return value }
        if let value = Double(text), value == value.rounded(), abs(value) < 0x1p53 { return Int(value) }
        guard let decimal = decimalValue, text.utf8.count < 64 else { return nil }
        var source = decimal
        var rounded = Decimal()
        NSDecimalRound(&rounded, &source, 0, .plain)
        return rounded == decimal ? Int(rounded.description) : nil
    }

    /// The nearest `Double`; infinite when the number is too large for one.
    package var doubleValue: Double { Double(text) ?? .nan }

    package var decimalValue: Decimal? { Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) }

    /// Numbers are equal when they spell the same value, however they spell it.
    package static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        left.text == right.text || left.canonicalText == right.canonicalText
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(canonicalText) }

    /// The significant digits and the power of ten, so that `1`, `1.0`, `10e-1` have one spelling.
    package var canonicalText: String {
        var digits: [UInt8] = []
        var exponent = 0
        var negative = false
        var afterPoint = false
        var exponentText: Substring?
        for (index, byte) in zip(text.utf8.indices, text.utf8) {
            switch byte {
            case UInt8(ascii: "-"): negative = true
            case UInt8(ascii: "."): afterPoint = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                exponentText = text[text.utf8.index(after: index)...]
            default:
                digits.append(byte)
                if afterPoint { exponent -= 1 }
            }
            if exponentText != nil { break }
        }
        guard let first = digits.firstIndex(where: { $0 != UInt8(ascii: "0") }) else { return "0" }
        digits.removeFirst(first)
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        if let exponentText {
            // An exponent beyond Int is beyond every number that this can be equal to but its own text.
            guard let value = Int(exponentText), abs(value) < Int.max / 2 else { return text }
            exponent += value
        }
        return "\(negative ? "-" : "")\(String(decoding: digits, as: UTF8.self))e\(exponent)"
    }
}
