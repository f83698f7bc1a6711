extension JSONNumber: Comparable {
    /// Compares the values exactly, whatever their size and however they are spelled.
    package static func < (left: JSONNumber, right: JSONNumber) -> Bool {
        let left = Magnitude(left)
        let right = Magnitude(right)
        if left.sign != right.sign { return left.sign < right.sign }
        return left.sign < 0 ? right.isLess(than: left) : left.isLess(than: right)
    }

    /// The number as 0.DIGITS × 10^scale with a sign, the first digit not being 0.
    private struct Magnitude {
        /// -1, 0 or 1.
        let sign: Int
        let digits: [UInt8]
        let scale: Int

        init(_ number: JSONNumber) {
            var digits: [UInt8] = []
            var exponent = 0
            var rest = number.text.utf8[...]
            let isNegative = rest.first == UInt8(ascii: "-")
            if isNegative { rest = rest.dropFirst() }
            var afterPoint = false
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: ".") {
                    afterPoint = true
                } else if byte | 0x20 == UInt8(ascii: "e") {
                    // An exponent beyond Int is clamped: no two numbers that fit into memory differ by that.
                    let text = String(decoding: rest, as: UTF8.self)
                    exponent +=
                        Int(text).map { min(max($0, -1 << 60), 1 << 60) } ?? (text.hasPrefix("-") ? -1 << 60 : 1 << 60)
                    break
                } else {
                    digits.append(byte)
                    if afterPoint { exponent -= 1 }
                }
            }
            let leadingZeros = digits.prefix { $0 == UInt8(ascii: "0") }.count
            digits.removeFirst(leadingZeros)
            while digits.last == UInt8(ascii: "0") {
                digits.removeLast()
                exponent += 1
            }
            sign = digits.isEmpty ? 0 : isNegative ? -1 : 1
            scale = digits.isEmpty ? 0 : exponent + digits.count
            self.digits = digits
        }

        func isLess(than other: Magnitude) -> Bool {
            scale != other.scale ? scale < other.scale : digits.lexicographicallyPrecedes(other.digits)
        }
    }
}
