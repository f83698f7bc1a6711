/// `format.format(values)`: replacement fields in braces, with Python's format specifications.
struct BraceFormat {
    private let arguments: CallArguments
    private let renderer: Renderer
    private var nextIndex = 0
    private var usesNumbers = false
    private var usesOrder = false

    static func format(
        _ format: TrackedText, _ arguments: CallArguments, _ renderer: Renderer
    ) throws(JinjaError) -> TrackedText {
        var formatter = BraceFormat(arguments: arguments, renderer: renderer)
        return try formatter.run(Array(format.scalars)[...], depth: 0)
    }

    private init(arguments: CallArguments, renderer: Renderer) {
        self.arguments = arguments
        self.renderer = renderer
    }

    private mutating func run(_ format: ArraySlice<TrackedScalar>, depth: Int) throws(JinjaError) -> TrackedText {
        guard depth < 2 else { throw JinjaError(.value("Max string recursion exceeded")) }
        var result = TrackedText()
        var index = format.startIndex
        while index < format.endIndex {
            let scalar = format[index]
            index += 1
            if scalar.scalar == "{" || scalar.scalar == "}" {
                if index < format.endIndex, format[index].scalar == scalar.scalar {
                    result.append(scalar)
                    index += 1
                    continue
                }
                guard scalar.scalar == "{" else {
                    throw JinjaError(.value("Single '}' encountered in format string"))
                }
                guard index < format.endIndex else {
                    throw JinjaError(.value("Single '{' encountered in format string"))
                }
                let field = try takeField(format, &index)
                let text = try self.field(field, depth: depth)
                // What a field in the content says is content, whatever it fetches.
                result += text.marked(field.contains(where: \.isContent))
                try renderer.charge(bytes: result.byteCount)
            } else {
                result.append(scalar)
            }
        }
        return result
    }

    /// The inside of the braces, in which braces nest.
    private func takeField(
        _ format: ArraySlice<TrackedScalar>, _ index: inout Int
    ) throws(JinjaError) -> ArraySlice<TrackedScalar> {
        let start = index
        var open = 1
        while index < format.endIndex {
            if format[index].scalar == "{" { open += 1 }
            if format[index].scalar == "}" { open -= 1 }
            index += 1
            if open == 0 { return format[start..<index - 1] }
        }
        throw JinjaError(.value("expected '}' before end of string"))
    }

    private mutating func field(_ tracked: ArraySlice<TrackedScalar>, depth: Int) throws(JinjaError) -> TrackedText {
        let field = tracked.map(\.scalar)
        var nameEnd = 0
        var brackets = 0
        while nameEnd < field.count {
            if field[nameEnd] == "[" { brackets += 1 }
            if field[nameEnd] == "]" { brackets -= 1 }
            if brackets <= 0, field[nameEnd] == ":" || field[nameEnd] == "!" { break }
            nameEnd += 1
        }
        var value = try lookUp(Array(field[..<nameEnd]))
        var rest = field[nameEnd...]
        if rest.first == "!" {
            guard rest.count >= 2 else {
                throw JinjaError(.value("end of string while looking for conversion specifier"))
            }
            let conversion = rest[rest.startIndex + 1]
            rest = rest.dropFirst(2)
            guard rest.isEmpty || rest.first == ":" else {
                throw JinjaError(.value("expected ':' after conversion specifier"))
            }
            switch conversion {
            case "s": value = .string(try renderer.text(value))
            case "r": value = .string(try renderer.repr(value))
            case "a":
                value = .string(JSONText.escapingNonASCII(try renderer.repr(value)))
            default: throw JinjaError(.value("Unknown conversion specifier '\(conversion)'"))
            }
        }
        let specification = try run(
            rest.isEmpty ? [] : tracked[(tracked.startIndex + rest.startIndex + 1)...], depth: depth + 1)
        return try FormatSpecification(specification.string).format(value, renderer)
            .marked(specification.hasContent)
    }

    /// `0`, `name`, `name.attribute`, `name[key]` and nothing at all.
    private mutating func lookUp(_ path: [Unicode.Scalar]) throws(JinjaError) -> Value {
        var index = 0
        while index < path.count, path[index] != ".", path[index] != "[" { index += 1 }
        let first = Text.string(path[..<index])
        var value: Value
        if first.isEmpty || first.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            if first.isEmpty { usesOrder = true } else { usesNumbers = true }
            guard !(usesOrder && usesNumbers) else {
                throw JinjaError(
                    .value("cannot switch between automatic field numbering and manual field specification"))
            }
            let position = first.isEmpty ? nextIndex : Int(first) ?? Int.max
            if first.isEmpty { nextIndex += 1 }
            guard position < arguments.positional.count else {
                throw JinjaError(
                    .value("Replacement index \(position) out of range for positional args tuple"))
            }
            value = arguments.positional[position]
        } else {
            guard let found = arguments.named.first(where: { $0.name.string.isSameText(as: first) }) else {
                throw JinjaError(.value(Python.repr(first)))
            }
            value = found.value
        }
        while index < path.count {
            let isAttribute = path[index] == "."
            let start = index + 1
            index += 1
            if isAttribute {
                while index < path.count, path[index] != ".", path[index] != "[" { index += 1 }
                value = try renderer.attribute(Text.string(path[start..<index]), of: value)
            } else {
                while index < path.count, path[index] != "]" { index += 1 }
                guard index < path.count else { throw JinjaError(.value("Missing ']' in format string")) }
                let key = Text.string(path[start..<index])
                index += 1
                value = try renderer.item(Int(key).map(Value.int) ?? .plain(key), of: value)
            }
        }
        return value
    }
}

/// `[[fill]align][sign][#][0][width][grouping][.precision][type]`.
private struct FormatSpecification {
    private var fill = " "
    private var align: Unicode.Scalar?
    private var sign: Unicode.Scalar = "-"
    private var isAlternate = false
    private var width = 0
    private var grouping: Character?
    private var precision: Int?
    private var type: Unicode.Scalar?
    private let isEmpty: Bool
    private var hasSign = false
    /// Whether the alignment comes from a zero before the width.
    private var hasZeroFlag = false

    init(_ text: String) throws(JinjaError) {
        let scalars = Array(text.unicodeScalars)
        isEmpty = scalars.isEmpty
        var index = 0
        func peek(_ offset: Int = 0) -> Unicode.Scalar? {
            index + offset < scalars.count ? scalars[index + offset] : nil
        }
        func isAlignment(_ scalar: Unicode.Scalar?) -> Bool {
            scalar.map { "<>=^".unicodeScalars.contains($0) } ?? false
        }
        if isAlignment(peek(1)) {
            fill = String(Character(scalars[index]))
            align = scalars[index + 1]
            index += 2
        } else if isAlignment(peek()) {
            align = scalars[index]
            index += 1
        }
        if let scalar = peek(), scalar == "+" || scalar == "-" || scalar == " " {
            sign = scalar
            hasSign = true
            index += 1
        }
        if peek() == "#" {
            isAlternate = true
            index += 1
        }
        if peek() == "0" {
            if align == nil {
                fill = "0"
                align = "="
                hasZeroFlag = true
            }
            index += 1
        }
        func number() throws(JinjaError) -> Int? {
            var value: Int?
            while let scalar = peek(), let digit = Python.asciiDigitValue(scalar), digit < 10 {
                value = (value ?? 0) * 10 + digit
                guard value ?? 0 < 1 << 30 else {
                    throw JinjaError(.value("Too many decimal digits in format string"))
                }
                index += 1
            }
            return value
        }
        width = try number() ?? 0
        if let scalar = peek(), scalar == "," || scalar == "_" {
            grouping = Character(scalar)
            index += 1
        }
        if peek() == "." {
            index += 1
            guard let digits = try number() else { throw JinjaError(.value("Format specifier missing precision")) }
            precision = digits
        }
        if let scalar = peek() {
            type = scalar
            index += 1
        }
        guard index == scalars.count else { throw JinjaError(.value("Invalid format specifier")) }
    }

    func format(_ value: Value, _ renderer: Renderer) throws(JinjaError) -> TrackedText {
        if isEmpty { return try renderer.text(value) }
        try renderer.charge(bytes: width)
        switch value {
        case .string(let text), .markup(let text):
            guard type == nil || type == "s" else { throw unknown(value) }
            guard !isAlternate, grouping == nil, !hasSign else {
                throw JinjaError(.value("a sign, '#' or grouping is not allowed in string format specifier"))
            }
            guard align != "=" || hasZeroFlag else {
                throw JinjaError(.value("'=' alignment not allowed in string format specifier"))
            }
            let shown = precision.map { text.slice(text.string.unicodeScalars.prefix($0)) } ?? text
            return padded("", shown, align: align == "=" ? "<" : align ?? "<")
        default: break
        }
        guard let number = value.number else {
            throw JinjaError(.type("unsupported format string passed to \(value.typeName).__format__"))
        }
        if let integer = number.bigValue, type == nil || "bcdoxXn".unicodeScalars.contains(type ?? "d") {
            // A character by its number may be one of many that make a text.
            return TrackedText(try format(integer), isContent: type == "c")
        }
        guard type == nil || "eEfFgGn%".unicodeScalars.contains(type ?? "g") else { throw unknown(value) }
        return TrackedText(try format(number.doubleValue, renderer))
    }

    private func unknown(_ value: Value) -> JinjaError {
        JinjaError(
            .value(
                "Unknown format code '\(type.map { String(Character($0)) } ?? "")' for object of type '\(value.typeName)'"
            ))
    }

    private func format(_ value: BigInt) throws(JinjaError) -> String {
        guard precision == nil else {
            throw JinjaError(.value("Precision not allowed in integer format specifier"))
        }
        if type == "c" {
            guard let code = value.intValue, let scalar = UInt32(exactly: code).flatMap(Unicode.Scalar.init) else {
                throw JinjaError(.value("%c arg not in range(0x110000)"))
            }
            return padded("", String(Character(scalar)), align: align ?? ">")
        }
        let (radix, prefix): (Int, String) =
            switch type {
            case "b": (2, "0b")
            case "o": (8, "0o")
            case "x": (16, "0x")
            case "X": (16, "0X")
            default: (10, "")
            }
        var digits = value.text(radix: radix)
        if value.isNegative { digits.removeFirst() }
        if type == "X" { digits = digits.uppercased() }
        let lead = signText(isNegative: value.isNegative) + (isAlternate ? prefix : "")
        return padded(lead, withGroups(digits, lead: lead, by: radix == 10 ? 3 : 4), align: align ?? ">")
    }

    private func format(_ value: Double, _ renderer: Renderer) throws(JinjaError) -> String {
        var text: String
        switch type {
        case "%": text = try NumberFormat.text(value * 100, style: "f", precision: precision ?? 6, renderer) + "%"
        case nil where precision == nil: text = Python.repr(value)
        case nil:
            text = try NumberFormat.text(value, style: "g", precision: max(1, precision ?? 6), renderer)
            if value.isFinite, !text.contains("."), !text.contains("e") { text += ".0" }
        case let type?:
            text = try NumberFormat.text(
                value, style: type == "n" ? "g" : Character(type), precision: precision ?? 6, alternate: isAlternate,
                renderer)
        }
        let isNegative = text.hasPrefix("-")
        if isNegative { text.removeFirst() }
        let whole = text.prefix { $0.isASCII && $0.isNumber }
        let lead = signText(isNegative: isNegative)
        let rest = text.dropFirst(whole.count)
        return padded(lead, withGroups(String(whole), lead: lead, by: 3, rest: String(rest)), align: align ?? ">")
    }

    private func withGroups(_ digits: String, lead: String, by size: Int, rest: String = "") -> String {
        guard let grouping else { return digits + rest }
        var digits = digits
        // Zeros that fill up are grouped, too.
        if fill == "0", align == "=" {
            let room = width - lead.utf8.count - rest.utf8.count
            // A little fewer digits than fill the room with their separators, then as many as do.
            var count = max(0, room * size / (size + 1) - 1)
            while count + max(0, count - 1) / size < room { count += 1 }
            digits = String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
        }
        return NumberFormat.grouped(digits, by: size, with: grouping) + rest
    }

    private func signText(isNegative: Bool) -> String {
        isNegative ? "-" : sign == "+" ? "+" : sign == " " ? " " : ""
    }

    private func padded(_ lead: String, _ text: String, align: Unicode.Scalar) -> String {
        padded(lead, TrackedText(text), align: align).string
    }

    private func padded(_ first: String, _ text: TrackedText, align: Unicode.Scalar) -> TrackedText {
        let lead = TrackedText(first)
        let missing = max(0, width - lead.byteCount - text.string.unicodeScalars.count)
        func padding(_ count: Int) -> TrackedText { TrackedText(String(repeating: fill, count: count)) }
        switch align {
        case "<": return lead + text + padding(missing)
        case "=": return lead + padding(missing) + text
        case "^": return padding(missing / 2) + lead + text + padding(missing - missing / 2)
        default: return padding(missing) + lead + text
        }
    }
}
