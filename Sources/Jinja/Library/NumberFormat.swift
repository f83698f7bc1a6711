internal import Foundation

/// How numbers are laid out by `%` and by `format`.
enum NumberFormat {
    /// More digits than any number has behind the point (1074, for the least one) or in all.
    private static let mostDigits = 1100

    /// A finite or infinite number in the style of C: `f`, `e` or `g`, upper case for upper case letters.
    static func text(_ value: Double, style: Character, precision: Int, alternate: Bool = false) -> String {
        if !value.isFinite {
            let text = value.isNaN ? "nan" : value < 0 ? "-inf" : "inf"
            return style.isUppercase ? text.uppercased() : text
        }
        let digits = min(precision, mostDigits)
        let text = String(format: "%\(alternate ? "#" : "").\(digits)\(style)", value)
        // What is wanted beyond them are zeros, which stand before an exponent; `g` leaves them out.
        guard precision > digits, alternate || !"gG".contains(style) else { return text }
        let zeros = String(repeating: "0", count: precision - digits)
        let exponent = "fF".contains(style) ? nil : text.lastIndex { $0 == "e" || $0 == "E" }
        let end = exponent ?? text.endIndex
        return String(text[..<end]) + zeros + String(text[end...])
    }

    /// The same, charged for its digits before they are made.
    static func text(
        _ value: Double, style: Character, precision: Int, alternate: Bool = false, _ renderer: Renderer
    ) throws(JinjaError) -> String {
        try renderer.charge(bytes: precision)
        return text(value, style: style, precision: precision, alternate: alternate)
    }

    /// Digits in groups with a separator between them, counted from the point.
    static func grouped(_ digits: String, by size: Int, with separator: Character) -> String {
        var result: [Character] = []
        for (index, digit) in digits.reversed().enumerated() {
            if index > 0, index % size == 0 { result.append(separator) }
            result.append(digit)
        }
        return String(result.reversed())
    }
}

/// `format % values`.
struct PercentFormat {
    private let tracked: [TrackedScalar]
    /// The same without marks.
    private let format: [Unicode.Scalar]
    private let values: [Value]
    private let mapping: Dict?
    /// Whether values may be left over.
    private let isMapping: Bool
    private let renderer: Renderer
    private let escapes: Bool
    private var used = 0

    static func format(
        _ format: TrackedText, _ values: Value, _ renderer: Renderer, escapes: Bool = false
    ) throws(JinjaError) -> TrackedText {
        var formatter = PercentFormat(format, values, renderer, escapes: escapes)
        return try formatter.run()
    }

    private init(_ format: TrackedText, _ values: Value, _ renderer: Renderer, escapes: Bool) {
        tracked = Array(format.scalars)
        self.format = tracked.map(\.scalar)
        self.renderer = renderer
        self.escapes = escapes
        if case .dict(let dict) = values { mapping = dict } else { mapping = nil }
        switch values {
        case .tuple(let list):
            self.values = list.elements
            isMapping = false
        case .list, .dict, .undefined:
            self.values = [values]
            isMapping = true
        case .object(let object):
            self.values = (object as? Group)?.elements ?? [values]
            isMapping = object is RangeObject
        default:
            self.values = [values]
            isMapping = false
        }
    }

    private mutating func run() throws(JinjaError) -> TrackedText {
        var result = TrackedText()
        var index = 0
        func current() throws(JinjaError) -> Unicode.Scalar {
            guard index < format.count else { throw JinjaError(.value("incomplete format")) }
            return format[index]
        }
        while index < format.count {
            let scalar = tracked[index]
            let start = index
            index += 1
            guard scalar.scalar == "%" else {
                result.append(scalar)
                continue
            }
            var key: String?
            if try current() == "(" {
                var depth = 1
                let start = index + 1
                index += 1
                while depth > 0 {
                    guard index < format.count else { throw JinjaError(.value("incomplete format key")) }
                    if format[index] == "(" { depth += 1 }
                    if format[index] == ")" { depth -= 1 }
                    index += 1
                }
                key = Text.string(format[start..<index - 1])
            }
            var flags: Set<Unicode.Scalar> = []
            while ["-", "+", " ", "#", "0"].contains(try current()) {
                flags.insert(format[index])
                index += 1
            }
            var width = 0
            if try current() == "*" {
                width = try nextValue().index("* wants int")
                index += 1
                if width < 0 {
                    flags.insert("-")
                    width = -width
                }
            } else {
                width = try number(&index) ?? 0
            }
            var precision: Int?
            if try current() == "." {
                index += 1
                if try current() == "*" {
                    precision = max(0, try nextValue().index("* wants int"))
                    index += 1
                } else {
                    precision = try number(&index) ?? 0
                }
            }
            while ["h", "l", "L"].contains(try current()) { index += 1 }
            let type = try current()
            index += 1
            // What a field in the content says is content, whatever it fetches.
            let isContent = tracked[start..<index].contains(where: \.isContent)
            if type == "%" {
                result += TrackedText("%", isContent: isContent)
                continue
            }
            try renderer.charge(bytes: Value.saturatingSum(result.byteCount, width))
            result += try field(type, key: key, flags: flags, width: width, precision: precision).marked(isContent)
        }
        guard used >= values.count || isMapping else {
            throw JinjaError(.type("not all arguments converted during string formatting"))
        }
        return result
    }

    private func number(_ index: inout Int) throws(JinjaError) -> Int? {
        var value: Int?
        while index < format.count, let digit = Python.asciiDigitValue(format[index]), digit < 10 {
            value = (value ?? 0) * 10 + digit
            guard value ?? 0 <= 1 << 30 else { throw JinjaError(.value("width too big")) }
            index += 1
        }
        return value
    }

    private mutating func nextValue() throws(JinjaError) -> Value {
        guard used < values.count else { throw JinjaError(.type("not enough arguments for format string")) }
        defer { used += 1 }
        return values[used]
    }

    private mutating func field(
        _ type: Unicode.Scalar, key: String?, flags: Set<Unicode.Scalar>, width: Int, precision: Int?
    ) throws(JinjaError) -> TrackedText {
        let value: Value
        if let key {
            guard let mapping else { throw JinjaError(.type("format requires a mapping")) }
            guard let found = mapping.value(of: key) else { throw JinjaError(.value(Python.repr(key))) }
            value = found
            used = values.count
        } else {
            value = try nextValue()
        }
        if ["s", "r", "a", "c"].contains(type) {
            let text = try self.text(of: value, type, precision: precision)
            let blanks = TrackedText(
                String(repeating: " ", count: max(0, width - text.string.unicodeScalars.count)))
            return flags.contains("-") ? text + blanks : blanks + text
        }
        return TrackedText(try number(value, type, flags: flags, width: width, precision: precision))
    }

    private func text(of value: Value, _ type: Unicode.Scalar, precision: Int?) throws(JinjaError) -> TrackedText {
        var text: TrackedText
        switch type {
        case "c":
            if let character = value.tracked {
                guard character.string.unicodeScalars.count == 1 else {
                    throw JinjaError(.type("%c requires int or char"))
                }
                return character
            }
            guard let code = UInt32(exactly: try value.index("%c requires int or char")),
                let scalar = Unicode.Scalar(code)
            else { throw JinjaError(.value("%c arg not in range(0x110000)")) }
            // It may be one of many that make a text.
            return TrackedText(String(Character(scalar)), isContent: true)
        default:
            text = type == "s" ? try renderer.text(value) : try renderer.repr(value)
            if escapes, type == "s" {
                text = try HTML.escape(
                    text.isEmpty ? .string("") : value.text.map { _ in value } ?? .string(text), renderer)
            }
            if type == "a" { text = JSONText.escapingNonASCII(text) }
            if let precision { text = text.slice(text.string.unicodeScalars.prefix(precision)) }
            return text
        }
    }

    private func number(
        _ value: Value, _ type: Unicode.Scalar, flags: Set<Unicode.Scalar>, width: Int, precision: Int?
    ) throws(JinjaError) -> String {
        var text: String
        var sign = ""
        switch type {
        case "d", "i", "u", "x", "X", "o":
            let integer = try wholeNumber(value, type)
            let radix = type == "o" ? 8 : type == "x" || type == "X" ? 16 : 10
            text = integer.text(radix: radix)
            if integer.isNegative {
                sign = "-"
                text.removeFirst()
            }
            if let precision {
                try renderer.charge(bytes: precision)
                text = String(repeating: "0", count: max(0, precision - text.utf8.count)) + text
            }
            if type == "X" { text = text.uppercased() }
            if flags.contains("#"), radix != 10 { sign += "0\(type)" }
        case "e", "E", "f", "F", "g", "G":
            guard let number = value.number else {
                if case .undefined(let undefined) = value { throw undefined.error }
                throw JinjaError(.type("must be real number, not \(value.typeName)"))
            }
            text = try NumberFormat.text(
                number.doubleValue, style: Character(type), precision: precision ?? 6, alternate: flags.contains("#"),
                renderer)
            if text.hasPrefix("-") {
                sign = "-"
                text.removeFirst()
            }
        default:
            throw JinjaError(.value("unsupported format character '\(type)' (0x\(String(type.value, radix: 16)))"))
        }
        if !sign.hasPrefix("-") {
            if flags.contains("+") { sign = "+" + sign } else if flags.contains(" ") { sign = " " + sign }
        }
        let missing = max(0, width - sign.utf8.count - text.unicodeScalars.count)
        if flags.contains("-") { return sign + text + String(repeating: " ", count: missing) }
        if flags.contains("0") { return sign + String(repeating: "0", count: missing) + text }
        return String(repeating: " ", count: missing) + sign + text
    }

    private func wholeNumber(_ value: Value, _ type: Unicode.Scalar) throws(JinjaError) -> BigInt {
        switch value.number {
        case .int(let value): return BigInt(value)
        case .big(let value): return value
        case .double(let double) where ["d", "i", "u"].contains(type):
            guard let integer = BigInt(double) else {
                throw JinjaError(.value("cannot convert float \(Python.repr(double)) to integer"))
            }
            return integer
        default:
            if case .undefined(let undefined) = value { throw undefined.error }
            throw JinjaError(.type("%\(type) format: a number is required, not \(value.typeName)"))
        }
    }
}
