import JSON

/// A decimal number of any size, exact: 0.d₁d₂d₃… × 10^`point`.
struct DecimalNumber: Hashable, Sendable, Comparable {
    private(set) var isNegative: Bool
    /// The significant digits as values 0...9, without zeros at either end; none for zero.
    private(set) var digits: [UInt8]
    private(set) var point: Int

    static let zero = DecimalNumber(isNegative: false, digits: [], point: 0)
    static let one = DecimalNumber(isNegative: false, digits: [1], point: 1)

    /// Digits before or behind the point that a number may have, so that no bound makes an automaton of endless states.
    static let sizeLimit = 1_100

    private init(isNegative: Bool, digits: [UInt8], point: Int) {
        self.isNegative = isNegative
        self.digits = digits
        self.point = point
    }

    /// Nil for a number of more than `sizeLimit` digits.
    init?(_ number: JSONNumber) {
        let text = number.canonicalText
        guard text != "0" else {
            self = .zero
            return
        }
        guard let mark = text.firstIndex(where: { $0 == "e" || $0 == "E" }),
            let exponent = Int(text[text.index(after: mark)...])
        else { return nil }
        var digits = text[..<mark].utf8.map { $0 }
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative { digits.removeFirst() }
        guard digits.count <= Self.sizeLimit, abs(exponent) <= Self.sizeLimit else { return nil }
        self.init(
            isNegative: isNegative, digits: digits.map { $0 - UInt8(ascii: "0") }, point: digits.count + exponent)
    }

    var isZero: Bool { digits.isEmpty }

    var isInteger: Bool { digits.count <= point || isZero }

    var magnitude: DecimalNumber { DecimalNumber(isNegative: false, digits: digits, point: point) }

    var negated: DecimalNumber {
        isZero ? self : DecimalNumber(isNegative: !isNegative, digits: digits, point: point)
    }

    static func < (left: DecimalNumber, right: DecimalNumber) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        if left.isNegative { return magnitudeIsLess(right, left) }
        return magnitudeIsLess(left, right)
    }

    private static func magnitudeIsLess(_ left: DecimalNumber, _ right: DecimalNumber) -> Bool {
        if left.isZero || right.isZero { return left.isZero && !right.isZero }
        if left.point != right.point { return left.point < right.point }
        return left.digits.lexicographicallyPrecedes(right.digits)
    }

    /// The digits before the point, `[0]` when there are none.
    var integerDigits: [UInt8] {
        guard point > 0 else { return [0] }
        return Array(digits.prefix(point)) + [UInt8](repeating: 0, count: max(0, point - digits.count))
    }

    /// The digits behind the point, without zeros at the end.
    var fractionDigits: [UInt8] {
        guard point < digits.count else { return [] }
        return [UInt8](repeating: 0, count: max(0, -point)) + digits.dropFirst(max(point, 0))
    }

    /// The number as text without an exponent.
    var text: String {
        func string(_ digits: [UInt8]) -> String {
            String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
        }
        let fraction = fractionDigits
        return (isNegative ? "-" : "") + string(integerDigits) + (fraction.isEmpty ? "" : "." + string(fraction))
    }

    /// The digits as an integer and the power of ten of the last of them; nil when the integer does not fit.
    var scaled: (value: Int, exponent: Int)? {
        var value = 0
        for digit in digits {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflow2) = product.addingReportingOverflow(Int(digit))
            guard !overflow, !overflow2 else { return nil }
            value = sum
        }
        return (value, point - digits.count)
    }
}
