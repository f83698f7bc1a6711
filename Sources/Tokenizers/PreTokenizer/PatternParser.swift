/// Reads the source of a `SplitPattern`.
struct PatternParser {
    enum Item {
        case set(CharacterSet, minimum: Int, maximum: Int)
        case notFollowedBy(CharacterSet)
        case group([[Item]], isOptional: Bool)
    }

    private let source: [Unicode.Scalar]
    private var position = 0
    private var ignoresCase = false

    init(_ source: String) { self.source = Array(source.unicodeScalars) }

    /// The alternatives of the pattern.
    mutating func parse() -> [[Item]] {
        let alternatives = parseAlternatives()
        check(position == source.count, "an unexpected ')'")
        return alternatives
    }

    private func check(_ condition: Bool, _ what: String) {
        precondition(condition, "\(what) at \(position) of pattern \(String(String.UnicodeScalarView(source)))")
    }

    private var current: Unicode.Scalar? { position < source.count ? source[position] : nil }

    private mutating func take(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        guard source[position...].starts(with: scalars) else { return false }
        position += scalars.count
        return true
    }

    private mutating func next() -> Unicode.Scalar {
        check(position < source.count, "the end")
        defer { position += 1 }
        return source[position]
    }

    private mutating func parseAlternatives() -> [[Item]] {
        var alternatives: [[Item]] = [[]]
        while let scalar = current, scalar != ")" {
            if take("|") {
                alternatives.append([])
            } else {
                alternatives[alternatives.count - 1].append(parseItem())
            }
        }
        return alternatives
    }

    private mutating func parseItem() -> Item {
        if take("(?!") {
            let set = parseSet()
            check(take(")"), "a look-ahead for more than one character")
            return .notFollowedBy(set)
        }
        if current == "(" {
            let outer = ignoresCase
            if take("(?i:") { ignoresCase = true } else { check(take("(?:"), "an unknown group") }
            let alternatives = parseAlternatives()
            check(take(")"), "a group without end")
            ignoresCase = outer
            let (minimum, maximum) = parseQuantifier()
            check(maximum == 1, "a repeated group")
            return .group(alternatives, isOptional: minimum == 0)
        }
        let set = parseSet()
        let (minimum, maximum) = parseQuantifier()
        return .set(set, minimum: minimum, maximum: maximum)
    }

    private mutating func parseQuantifier() -> (minimum: Int, maximum: Int) {
        if take("?") { return (0, 1) }
        if take("*") { return (0, .max) }
        if take("+") { return (1, .max) }
        guard take("{") else { return (1, 1) }
        let minimum = parseNumber()
        let maximum = take(",") ? parseNumber() : minimum
        check(take("}"), "a quantifier without end")
        return (minimum, maximum)
    }

    private mutating func parseNumber() -> Int {
        var digits = ""
        while let scalar = current, ("0"..."9").contains(scalar) { digits.unicodeScalars.append(next()) }
        check(!digits.isEmpty, "no number")
        return Int(digits)!
    }

    private mutating func parseSet() -> CharacterSet {
        var set = CharacterSet()
        guard take("[") else {
            if current == "\\" {
                insertEscape(into: &set)
            } else {
                insert(next(), into: &set)
            }
            return set
        }
        let isNegated = take("^")
        while !take("]") {
            if current == "\\", let scalar = escapedLiteral() {
                insertRange(from: scalar, into: &set)
            } else if current == "\\" {
                insertEscape(into: &set)
            } else {
                insertRange(from: next(), into: &set)
            }
        }
        if isNegated { set.invert() }
        return set
    }

    private mutating func insertRange(from first: Unicode.Scalar, into set: inout CharacterSet) {
        guard position + 1 < source.count, source[position] == "-", source[position + 1] != "]" else {
            return insert(first, into: &set)
        }
        position += 1
        let last = current == "\\" ? escapedLiteral() ?? "\\" : next()
        check(first <= last, "an empty range")
        set.insert(first.value...last.value)
    }

    private func insert(_ scalar: Unicode.Scalar, into set: inout CharacterSet) {
        set.insert(scalar.value...scalar.value)
        guard ignoresCase, scalar.properties.isAlphabetic, scalar.isASCII else { return }
        let other = scalar.value ^ 0x20
        set.insert(other...other)
        // U+017F, the long s, is an s without case.
        if scalar == "s" { set.insert(0x17f...0x17f) }
    }

    /// A scalar behind a backslash that stands for itself or for a control character; `nil`, and nothing taken, for a class.
    private mutating func escapedLiteral() -> Unicode.Scalar? {
        check(position + 1 < source.count, "a lone backslash")
        let scalar = source[position + 1]
        if ["p", "s", "S"].contains(scalar) { return nil }
        position += 2
        switch scalar {
        case "r": return "\r"
        case "n": return "\n"
        case "t": return "\t"
        default:
            check(!scalar.properties.isAlphabetic, "an unknown escape")
            return scalar
        }
    }

    private mutating func insertEscape(into set: inout CharacterSet) {
        if let scalar = escapedLiteral() { return insert(scalar, into: &set) }
        if take("\\s") { return set.insert(classes: ScalarClass.spaces) }
        if take("\\S") { return set.insert(classes: ~ScalarClass.spaces) }
        check(take("\\p{"), "an unknown class")
        var name = ""
        while !take("}") { name.unicodeScalars.append(next()) }
        let mask: ScalarClass.Mask? =
            switch name {
            case "L": ScalarClass.letters
            case "M": ScalarClass.marks
            case "N": ScalarClass.numbers
            case "P": ScalarClass.punctuation
            case "S": ScalarClass.symbols
            case "Lu": ScalarClass.bits([.uppercaseLetter])
            case "Ll": ScalarClass.bits([.lowercaseLetter])
            case "Lt": ScalarClass.bits([.titlecaseLetter])
            case "Lm": ScalarClass.bits([.modifierLetter])
            case "Lo": ScalarClass.bits([.otherLetter])
            default: nil
            }
        check(mask != nil, "an unknown category")
        set.insert(classes: mask ?? 0)
    }
}
