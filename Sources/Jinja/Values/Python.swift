/// What Python says about characters and the spelling of values.
enum Python {
    static func isASCIIDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    /// The value of an ASCII letter or digit as a digit of a radix up to 36.
    static func asciiDigitValue(_ scalar: Unicode.Scalar) -> Int? {
        switch scalar {
        case "0"..."9": Int(scalar.value) - 48
        case "a"..."z": Int(scalar.value) - 87
        case "A"..."Z": Int(scalar.value) - 55
        default: nil
        }
    }

    /// `str.isspace` of one character, which is also what `\s` matches.
    static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x9...0xd, 0x1c...0x20, 0x85, 0xa0, 0x1680, 0x2000...0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000: true
        default: false
        }
    }

    /// Where `str.splitlines` splits.
    static func isLineBreak(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xa...0xd, 0x1c...0x1e, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }

    static func isIdentifierStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isXIDStart
    }

    static func isIdentifierPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.properties.isXIDContinue
    }

    /// `\w`: a letter, a digit or an underscore.
    static func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "_" { return true }
        return switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber, .otherNumber:
            true
        default: false
        }
    }

    /// `str.isprintable` of one character.
    static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return (0x20..<0x7f).contains(scalar.value) }
        return switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
            .spaceSeparator:
            false
        default: true
        }
    }

    /// `repr` of a text: in single quotes, or in double ones when it holds single ones and no double ones.
    static func repr(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        let quote: Unicode.Scalar = text.utf8.contains(0x27) && !text.utf8.contains(0x22) ? "\"" : "'"
        result.append(quote)
        for scalar in text.unicodeScalars {
            switch scalar {
            case quote, "\\":
                result.append("\\")
                result.append(scalar)
            case "\n": result.append(contentsOf: "\\n".unicodeScalars)
            case "\r": result.append(contentsOf: "\\r".unicodeScalars)
            case "\t": result.append(contentsOf: "\\t".unicodeScalars)
            default:
                guard !isPrintable(scalar) else {
                    result.append(scalar)
                    continue
                }
                let value = scalar.value
                let (prefix, width) = value <= 0xff ? ("\\x", 2) : value <= 0xffff ? ("\\u", 4) : ("\\U", 8)
                result.append(contentsOf: (prefix + hex(value, width: width)).unicodeScalars)
            }
        }
        result.append(quote)
        return String(result)
    }

    static func hex(_ value: UInt32, width: Int) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// `repr` of a float: the shortest digits that read back the same, with an exponent outside 1e-4 … 1e16.
    static func repr(_ value: Double) -> String {
        if value.isNaN { return "nan" }
        if value.isInfinite { return value < 0 ? "-inf" : "inf" }
        if value == 0 { return value.sign == .minus ? "-0.0" : "0.0" }
        let (digits, exponent) = shortestDigits(value.magnitude)
        let sign = value < 0 ? "-" : ""
        if exponent < -4 || exponent >= 16 {
            let fraction = digits.dropFirst()
            return sign + digits.prefix(1) + (fraction.isEmpty ? "" : "." + fraction) + exponentText(exponent)
        }
        if exponent < 0 { return sign + "0." + String(repeating: "0", count: -exponent - 1) + digits }
        let whole = exponent + 1
        if digits.utf8.count <= whole {
            return sign + digits + String(repeating: "0", count: whole - digits.utf8.count) + ".0"
        }
        return sign + digits.prefix(whole) + "." + digits.dropFirst(whole)
    }

    static func exponentText(_ exponent: Int, marker: String = "e") -> String {
        let digits = String(abs(exponent))
        return marker + (exponent < 0 ? "-" : "+") + (digits.utf8.count < 2 ? "0" + digits : digits)
    }

    /// The shortest decimal digits of a positive number, without trailing zeros, and the power of ten of the first one.
    private static func shortestDigits(_ value: Double) -> (digits: String, exponent: Int) {
        let text = "\(value)"
        var digits = ""
        var point: Int?
        var exponent = 0
        for (index, part) in text.split(separator: "e").enumerated() {
            if index == 1 {
                exponent = Int(part) ?? 0
                continue
            }
            for character in part {
                if character == "." { point = digits.utf8.count } else { digits.append(character) }
            }
        }
        exponent += (point ?? digits.utf8.count) - 1
        let leading = digits.prefix { $0 == "0" }.count
        digits.removeFirst(leading)
        exponent -= leading
        while digits.last == "0" { digits.removeLast() }
        return (digits, exponent)
    }
}
