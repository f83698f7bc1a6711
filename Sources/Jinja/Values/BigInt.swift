/// An integer of any size, for the numbers that `Int` does not hold. Digits in base 2³², least significant first.
///
/// The methods are the schoolbook ones (Knuth, The Art of Computer Programming, 4.3.1): a template's numbers are short,
/// and `maximumDigits` keeps them so.
struct BigInt: Hashable, Sendable, Comparable, CustomStringConvertible {
    private var magnitude: [UInt32]
    private(set) var isNegative: Bool

    /// Decimal digits that Python turns into text or back at most.
    static let maximumDigits = 4300
    /// Bits of the largest number that an operation may make.
    static let maximumBits = 1 << 17

    private init(magnitude: [UInt32], isNegative: Bool) {
        var magnitude = magnitude
        while magnitude.last == 0 { magnitude.removeLast() }
        self.magnitude = magnitude
        self.isNegative = isNegative && !magnitude.isEmpty
    }

    init(_ value: Int) {
        let bits = value.magnitude
        self.init(
            magnitude: [UInt32(truncatingIfNeeded: bits), UInt32(truncatingIfNeeded: bits >> 32)],
            isNegative: value < 0)
    }

    /// The whole part of a finite number.
    init?(_ value: Double) {
        guard value.isFinite else { return nil }
        let whole = value.rounded(.towardZero)
        guard whole != 0 else {
            self.init(0)
            return
        }
        let significand = BigInt(Int((whole.magnitude.significand * 0x1p52).rounded()))
        let shift = Int(whole.exponent) - 52
        let result =
            shift >= 0
            ? significand.shiftedLeft(shift) : significand.floorDivided(by: BigInt(1).shiftedLeft(-shift)).quotient
        self = whole < 0 ? -result : result
    }

    /// Digits of `radix` with an optional sign and nothing else.
    init?(_ text: some StringProtocol, radix: Int = 10) {
        var digits = Substring(text)
        var negative = false
        if let sign = digits.unicodeScalars.first, sign == "-" || sign == "+" {
            negative = sign == "-"
            digits = Substring(digits.unicodeScalars.dropFirst())
        }
        guard !digits.isEmpty else { return nil }
        var magnitude: [UInt32] = []
        for scalar in digits.unicodeScalars {
            guard let digit = Python.asciiDigitValue(scalar), digit < radix else { return nil }
            Self.multiplyAdd(&magnitude, by: UInt32(radix), adding: UInt32(digit))
        }
        self.init(magnitude: magnitude, isNegative: negative)
    }

    // MARK: - Conversions

    var intValue: Int? {
        guard magnitude.count <= 2 else { return nil }
        var bits: UInt = 0
        for (index, digit) in magnitude.enumerated() { bits |= UInt(digit) << (32 * index) }
        if isNegative { return bits <= UInt(Int.max) + 1 ? Int(truncatingIfNeeded: 0 &- bits) : nil }
        return Int(exactly: bits)
    }

    /// The nearest `Double`; infinite when there is none.
    var doubleValue: Double {
        if let value = intValue { return Double(value) }
        return Double(rawDescription) ?? .infinity
    }

    var bitWidth: Int {
        guard let last = magnitude.last else { return 0 }
        return magnitude.count * 32 - last.leadingZeroBitCount
    }

    var isOdd: Bool { (magnitude.first ?? 0) & 1 == 1 }

    var description: String { rawDescription }

    private var rawDescription: String { text(radix: 10) }

    /// The digits in a radix up to 36, lower case, after a sign if negative.
    func text(radix: Int) -> String {
        if magnitude.isEmpty { return "0" }
        // Groups of as many digits as one 32-bit number holds.
        var group = UInt32(radix)
        var groupLength = 1
        while true {
            let (next, overflow) = group.multipliedReportingOverflow(by: UInt32(radix))
            if overflow { break }
            group = next
            groupLength += 1
        }
        var groups: [UInt32] = []
        var rest = magnitude
        while !rest.isEmpty { groups.append(Self.divide(&rest, by: group)) }
        var text = isNegative ? "-" : ""
        for (index, value) in groups.reversed().enumerated() {
            let digits = String(value, radix: radix)
            if index > 0 { text += String(repeating: "0", count: groupLength - digits.utf8.count) }
            text += digits
        }
        return text
    }

    // MARK: - Arithmetic

    static prefix func - (value: BigInt) -> BigInt {
        BigInt(magnitude: value.magnitude, isNegative: !value.isNegative)
    }

    static func + (left: BigInt, right: BigInt) -> BigInt {
        if left.isNegative == right.isNegative {
            return BigInt(magnitude: sum(left.magnitude, right.magnitude), isNegative: left.isNegative)
        }
        if isLess(left.magnitude, right.magnitude) {
            return BigInt(magnitude: difference(right.magnitude, left.magnitude), isNegative: right.isNegative)
        }
        return BigInt(magnitude: difference(left.magnitude, right.magnitude), isNegative: left.isNegative)
    }

    static func - (left: BigInt, right: BigInt) -> BigInt { left + -right }

    static func * (left: BigInt, right: BigInt) -> BigInt {
        var result = [UInt32](repeating: 0, count: left.magnitude.count + right.magnitude.count)
        for (i, a) in left.magnitude.enumerated() {
            var carry: UInt64 = 0
            for (j, b) in right.magnitude.enumerated() {
                let value = UInt64(a) * UInt64(b) + UInt64(result[i + j]) + carry
                result[i + j] = UInt32(truncatingIfNeeded: value)
                carry = value >> 32
            }
            result[i + right.magnitude.count] = UInt32(carry)
        }
        return BigInt(magnitude: result, isNegative: left.isNegative != right.isNegative)
    }

    /// The quotient rounded down and the rest, which has the divisor's sign. The divisor is not 0.
    func floorDivided(by divisor: BigInt) -> (quotient: BigInt, remainder: BigInt) {
        let (whole, rest) = Self.divide(magnitude, by: divisor.magnitude)
        var quotient = BigInt(magnitude: whole, isNegative: isNegative != divisor.isNegative)
        var remainder = BigInt(magnitude: rest, isNegative: isNegative)
        if !remainder.magnitude.isEmpty, isNegative != divisor.isNegative {
            quotient = quotient - BigInt(1)
            remainder = remainder + divisor
        }
        return (quotient, remainder)
    }

    /// This number to a power of at least 0.
    func power(_ exponent: Int) -> BigInt {
        var result = BigInt(1)
        var base = self
        var rest = exponent
        while rest > 0 {
            if rest & 1 == 1 { result = result * base }
            rest >>= 1
            if rest > 0 { base = base * base }
        }
        return result
    }

    /// The nearest `Double` to the exact quotient. The divisor is not 0.
    func divided(by divisor: BigInt) -> Double {
        // Enough bits that the last ones only decide how to round, and one that says whether more follow.
        let shift = 66 - bitWidth + divisor.bitWidth
        let (left, right) = shift >= 0 ? (shiftedLeft(shift), divisor) : (self, divisor.shiftedLeft(-shift))
        let (whole, rest) = Self.divide(left.magnitude, by: right.magnitude)
        var digits = whole
        if rest.contains(where: { $0 != 0 }), !digits.isEmpty { digits[0] |= 1 }
        let value = BigInt(magnitude: digits, isNegative: isNegative != divisor.isNegative)
        return Double(sign: .plus, exponent: -shift, significand: value.doubleValue)
    }

    private func shiftedLeft(_ bits: Int) -> BigInt {
        var result = [UInt32](repeating: 0, count: bits / 32)
        let small = UInt64(bits % 32)
        var carry: UInt64 = 0
        for digit in magnitude {
            let value = UInt64(digit) << small | carry
            result.append(UInt32(truncatingIfNeeded: value))
            carry = value >> 32
        }
        result.append(UInt32(carry))
        return BigInt(magnitude: result, isNegative: isNegative)
    }

    static func < (left: BigInt, right: BigInt) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        return left.isNegative
            ? isLess(right.magnitude, left.magnitude) : isLess(left.magnitude, right.magnitude)
    }

    // MARK: - Magnitudes

    private static func isLess(_ left: [UInt32], _ right: [UInt32]) -> Bool {
        if left.count != right.count { return left.count < right.count }
        for index in left.indices.reversed() where left[index] != right[index] { return left[index] < right[index] }
        return false
    }

    private static func sum(_ left: [UInt32], _ right: [UInt32]) -> [UInt32] {
        var result: [UInt32] = []
        var carry: UInt64 = 0
        for index in 0..<max(left.count, right.count) {
            let value =
                UInt64(index < left.count ? left[index] : 0) + UInt64(index < right.count ? right[index] : 0) + carry
            result.append(UInt32(truncatingIfNeeded: value))
            carry = value >> 32
        }
        result.append(UInt32(carry))
        return result
    }

    /// `left` is at least `right`.
    private static func difference(_ left: [UInt32], _ right: [UInt32]) -> [UInt32] {
        var result: [UInt32] = []
        var borrow: Int64 = 0
        for index in left.indices {
            var value = Int64(left[index]) - Int64(index < right.count ? right[index] : 0) - borrow
            borrow = value < 0 ? 1 : 0
            if value < 0 { value += 1 << 32 }
            result.append(UInt32(value))
        }
        return result
    }

    private static func multiplyAdd(_ magnitude: inout [UInt32], by factor: UInt32, adding addend: UInt32) {
        var carry = UInt64(addend)
        for index in magnitude.indices {
            let value = UInt64(magnitude[index]) * UInt64(factor) + carry
            magnitude[index] = UInt32(truncatingIfNeeded: value)
            carry = value >> 32
        }
        if carry > 0 { magnitude.append(UInt32(carry)) }
    }

    /// Divides in place and returns the rest.
    private static func divide(_ magnitude: inout [UInt32], by divisor: UInt32) -> UInt32 {
        var rest: UInt64 = 0
        for index in magnitude.indices.reversed() {
            let value = rest << 32 | UInt64(magnitude[index])
            magnitude[index] = UInt32(value / UInt64(divisor))
            rest = value % UInt64(divisor)
        }
        while magnitude.last == 0 { magnitude.removeLast() }
        return UInt32(rest)
    }

    /// Knuth's algorithm D.
    private static func divide(
        _ dividend: [UInt32], by divisor: [UInt32]
    ) -> (quotient: [UInt32], remainder: [UInt32]) {
        if isLess(dividend, divisor) { return ([], dividend) }
        if divisor.count == 1 {
            var quotient = dividend
            let rest = divide(&quotient, by: divisor[0])
            return (quotient, [rest])
        }
        // Scaled so that the divisor's first digit is at least half of the base.
        let scale = divisor[divisor.count - 1].leadingZeroBitCount
        let v = BigInt(magnitude: divisor, isNegative: false).shiftedLeft(scale).magnitude
        var u = BigInt(magnitude: dividend, isNegative: false).shiftedLeft(scale).magnitude
        while u.count <= dividend.count { u.append(0) }
        let n = v.count
        var quotient = [UInt32](repeating: 0, count: u.count - n)
        for j in (0..<u.count - n).reversed() {
            let top = UInt64(u[j + n]) << 32 | UInt64(u[j + n - 1])
            var estimate = top / UInt64(v[n - 1])
            var rest = top % UInt64(v[n - 1])
            while estimate >= 1 << 32 || estimate * UInt64(v[n - 2]) > rest << 32 | UInt64(u[j + n - 2]) {
                estimate -= 1
                rest += UInt64(v[n - 1])
                if rest >= 1 << 32 { break }
            }
            var borrow: Int64 = 0
            var carry: UInt64 = 0
            for i in 0..<n {
                let product = estimate * UInt64(v[i]) + carry
                carry = product >> 32
                let value = Int64(u[i + j]) - borrow - Int64(product & 0xffff_ffff)
                u[i + j] = UInt32(truncatingIfNeeded: value)
                borrow = value < 0 ? 1 : 0
            }
            let value = Int64(u[j + n]) - borrow - Int64(carry)
            u[j + n] = UInt32(truncatingIfNeeded: value)
            if value < 0 {
                // The estimate was one too many: add the divisor back.
                estimate -= 1
                var carry: UInt64 = 0
                for i in 0..<n {
                    let sum = UInt64(u[i + j]) + UInt64(v[i]) + carry
                    u[i + j] = UInt32(truncatingIfNeeded: sum)
                    carry = sum >> 32
                }
                u[j + n] = u[j + n] &+ UInt32(carry)
            }
            quotient[j] = UInt32(estimate)
        }
        // Undo the scaling of the rest.
        var remainder = Array(u[0..<n])
        if scale > 0 {
            for index in 0..<n {
                let high = index + 1 < n ? u[index + 1] : 0
                remainder[index] = u[index] >> UInt32(scale) | high << UInt32(32 - scale)
            }
        }
        return (quotient, remainder)
    }
}
