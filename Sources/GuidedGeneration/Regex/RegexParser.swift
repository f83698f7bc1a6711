/// Reads the text of a regular expression.
struct RegexParser {
    private let scalars: [Unicode.Scalar]
    private let dialect: RegexDialect
    private var position = 0
    private var ignoresCase = false
    private var dotMatchesNewline = false
    private var isExtended = false
    private var depth = 0

    /// Nested groups beyond this are refused, so that no pattern overflows the stack.
    private static let depthLimit = 100
    /// The largest count of a repetition that is unrolled into states.
    private static let countLimit = 1_000_000_000

    static func parse(_ pattern: String, dialect: RegexDialect) throws(RegexError) -> RegexSyntax {
        var parser = RegexParser(scalars: Array(pattern.unicodeScalars), dialect: dialect)
        let syntax = try parser.parseAlternatives()
        guard parser.position == parser.scalars.count else {
            throw RegexError(reason: .invalid, message: "unmatched ')' at \(parser.position)")
        }
        return syntax
    }

    private init(scalars: [Unicode.Scalar], dialect: RegexDialect) {
        self.scalars = scalars
        self.dialect = dialect
    }

    private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    private func peek(_ offset: Int) -> Unicode.Scalar? {
        position + offset < scalars.count ? scalars[position + offset] : nil
    }

    private mutating func take(_ text: String) -> Bool {
        let wanted = Array(text.unicodeScalars)
        guard position + wanted.count <= scalars.count,
            scalars[position..<position + wanted.count].elementsEqual(wanted)
        else { return false }
        position += wanted.count
        return true
    }

    private func invalid(_ message: String) -> RegexError {
        RegexError(reason: .invalid, message: "\(message) at \(position) of the pattern")
    }

    private func unsupported(_ what: String) -> RegexError {
        RegexError(
            reason: .unsupported, message: "\(what) cannot be enforced (at \(position) of the pattern)")
    }

    // MARK: Structure

    private mutating func parseAlternatives() throws(RegexError) -> RegexSyntax {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else {
            throw RegexError(reason: .tooComplex, message: "groups nested deeper than \(Self.depthLimit)")
        }
        // Flags that a group sets hold to its end.
        let flags = (ignoresCase, dotMatchesNewline, isExtended)
        defer { (ignoresCase, dotMatchesNewline, isExtended) = flags }
        var alternatives: [RegexSyntax] = []
        var sequence: [RegexSyntax] = []
        while let scalar = next {
            if scalar == ")" { break }
            if scalar == "|" {
                position += 1
                alternatives.append(Self.sequence(sequence))
                sequence = []
                continue
            }
            if isExtended, scalar.properties.isWhitespace {
                position += 1
                continue
            }
            if isExtended, scalar == "#" {
                while let scalar = next, scalar != "\n" { position += 1 }
                continue
            }
            for atom in try parseAtom() { sequence.append(atom) }
            if let last = sequence.popLast() { sequence.append(try parseQuantifiers(of: last)) }
        }
        alternatives.append(Self.sequence(sequence))
        return alternatives.count == 1 ? alternatives[0] : .alternatives(alternatives)
    }

    private static func sequence(_ parts: [RegexSyntax]) -> RegexSyntax {
        let parts = parts.filter { $0 != .empty }
        return parts.isEmpty ? .empty : parts.count == 1 ? parts[0] : .sequence(parts)
    }

    private mutating func parseQuantifiers(of atom: RegexSyntax) throws(RegexError) -> RegexSyntax {
        var result = atom
        var isQuantified = false
        while let scalar = next {
            var minimum = 0
            var maximum: Int?
            switch scalar {
            case "*": position += 1
            case "+":
                position += 1
                minimum = 1
            case "?":
                position += 1
                maximum = 1
            case "{":
                guard let counts = try parseCounts() else { return result }
                (minimum, maximum) = counts
            default: return result
            }
            guard !isQuantified else { throw invalid("a quantifier behind a quantifier") }
            if atom == .start || atom == .end { throw invalid("a quantifier behind an anchor") }
            isQuantified = true
            if next == "?" {
                // A lazy repetition has the same language.
                position += 1
            } else if next == "+" {
                throw unsupported("a possessive quantifier")
            }
            result = .repetition(result, minimum: minimum, maximum: maximum)
        }
        return result
    }

    /// Reads `{n}`, `{n,}`, `{n,m}` and Swift's `{,m}`; nil, and nothing read, where the brace is a character.
    private mutating func parseCounts() throws(RegexError) -> (Int, Int?)? {
        let start = position
        position += 1
        let minimum = try parseNumber()
        var maximum = minimum
        if next == "," {
            position += 1
            maximum = try parseNumber()
            if minimum == nil, maximum == nil || dialect == .ecmaScript {
                position = start
                return nil
            }
        } else if minimum == nil {
            position = start
            return nil
        }
        guard next == "}" else {
            position = start
            return nil
        }
        position += 1
        if let maximum, (minimum ?? 0) > maximum { throw invalid("a repetition whose bounds are out of order") }
        return (minimum ?? 0, maximum)
    }

    private mutating func parseNumber() throws(RegexError) -> Int? {
        var value: Int?
        while let digit = next?.properties.numericType == .decimal ? next.flatMap({ Int(String($0)) }) : nil {
            value = (value ?? 0) * 10 + digit
            guard value ?? 0 <= Self.countLimit else {
                throw RegexError(reason: .tooComplex, message: "a repetition of more than \(Self.countLimit)")
            }
            position += 1
        }
        return value
    }

    /// Reads one atom; more than one where `\Q…\E` quotes several characters, of which a quantifier takes the last.
    private mutating func parseAtom() throws(RegexError) -> [RegexSyntax] {
        guard let scalar = next else { return [] }
        switch scalar {
        case "(": return [try parseGroup()]
        case "[":
            position += 1
            return [.set(try parseClass())]
        case ".":
            position += 1
            return [.set(dotMatchesNewline ? dialect.anyCharacter : dialect.dot)]
        case "^":
            position += 1
            return [.start]
        case "$":
            position += 1
            return [.end]
        case "*", "+", "?": throw invalid("a quantifier with nothing before it")
        case "{":
            // A brace that is no quantifier is a character, as web browsers have it.
            if try parseCounts() != nil { throw invalid("a quantifier with nothing before it") }
            position += 1
            return [literal(scalar.value)]
        case "\\":
            position += 1
            return try parseEscape()
        default:
            position += 1
            return [literal(scalar.value)]
        }
    }

    private func literal(_ value: UInt32) -> RegexSyntax { .set(folded(ScalarSet(value))) }

    private func folded(_ set: ScalarSet) -> ScalarSet { ignoresCase ? set.closedOverCase() : set }

    private mutating func parseGroup() throws(RegexError) -> RegexSyntax {
        position += 1
        let flags = (ignoresCase, dotMatchesNewline, isExtended)
        if take("?") {
            if take(":") {
                // Groups without capture are as others.
            } else if take("#") {
                while let scalar = next, scalar != ")" { position += 1 }
                guard take(")") else { throw invalid("an unclosed comment") }
                return .empty
            } else if take("=") || take("!") {
                throw unsupported("look-ahead")
            } else if take("<=") || take("<!") {
                throw unsupported("look-behind")
            } else if take(">") {
                throw unsupported("an atomic group")
            } else if take("|") {
                throw unsupported("a branch reset group")
            } else if take("P<") || take("<") || take("'") {
                let close: Unicode.Scalar = scalars[position - 1] == "'" ? "'" : ">"
                let start = position
                while let scalar = next, scalar != close, scalar != ")" { position += 1 }
                guard next == close, position > start else { throw invalid("a group's name without its end") }
                position += 1
            } else if try parseFlags() {
                return .empty
            }
        } else if next == "*" {
            throw unsupported("a backtracking directive")
        }
        let body = try parseAlternatives()
        (ignoresCase, dotMatchesNewline, isExtended) = flags
        guard take(")") else { throw invalid("an unclosed group") }
        return body
    }

    /// Reads the flags behind `(?`: up to `)`, where they hold for the rest of the enclosing group, or up to `:`.
    /// - Returns: Whether that closed the group.
    private mutating func parseFlags() throws(RegexError) -> Bool {
        var value = true
        while let scalar = next {
            position += 1
            switch scalar {
            case "i": ignoresCase = value
            case "s": dotMatchesNewline = value
            case "x": isExtended = value
            case "-": value = false
            case "^": (ignoresCase, dotMatchesNewline, isExtended) = (false, false, false)
            case "n", "u": break
            case ")": return true
            case ":": return false
            default: throw unsupported("the flag '\(scalar)'")
            }
        }
        throw invalid("an unclosed group")
    }

    // MARK: Escapes

    /// Reads what follows a backslash outside a class.
    private mutating func parseEscape() throws(RegexError) -> [RegexSyntax] {
        guard let scalar = next else { throw invalid("a backslash at the end") }
        switch scalar {
        case "b", "B":
            throw unsupported("the word boundary '\\\(scalar)'")
        case "1"..."9", "k", "g": throw unsupported("a back-reference")
        case "A" where dialect == .swift:
            position += 1
            return [.start]
        case "z" where dialect == .swift, "Z" where dialect == .swift:
            position += 1
            return [.end]
        case "G", "K", "X", "y", "Y", "C":
            throw unsupported("'\\\(scalar)'")
        case "R" where dialect == .swift:
            position += 1
            let pair = RegexSyntax.sequence([.set(ScalarSet(0x0d)), .set(ScalarSet(0x0a))])
            return [.alternatives([pair, .set(.newlines)])]
        case "Q":
            guard dialect == .swift else { break }
            position += 1
            var quoted: [RegexSyntax] = []
            while position < scalars.count, !take("\\E") {
                quoted.append(literal(scalars[position].value))
                position += 1
            }
            return quoted
        default: break
        }
        return [.set(try parseEscapedSet())]
    }

    /// Reads what follows a backslash and stands for one character or a class of them.
    private mutating func parseEscapedSet() throws(RegexError) -> ScalarSet {
        guard let scalar = next else { throw invalid("a backslash at the end") }
        if let shorthand = dialect.shorthand(scalar) {
            position += 1
            return shorthand
        }
        if scalar == "p" || scalar == "P" {
            position += 1
            let set = try parseProperty()
            return scalar == "P" ? dialect.negate(set) : folded(set)
        }
        return folded(ScalarSet(try parseEscapedScalar()))
    }

    private mutating func parseEscapedScalar() throws(RegexError) -> UInt32 {
        guard let scalar = next else { throw invalid("a backslash at the end") }
        position += 1
        switch scalar {
        case "n": return 0x0a
        case "r": return 0x0d
        case "t": return 0x09
        case "f": return 0x0c
        case "v": return 0x0b
        case "a" where dialect == .swift: return 0x07
        case "e" where dialect == .swift: return 0x1b
        case "0":
            guard let following = next, ("0"..."9").contains(following) else { return 0 }
            throw unsupported("an octal escape")
        case "c":
            guard let letter = next, letter.isASCII, letter.properties.isAlphabetic else {
                throw invalid("an unfinished control escape")
            }
            position += 1
            return letter.value & 0x1f
        case "x":
            if next == "{" { return try parseBracedHex() }
            return try parseHex(digits: 2)
        case "u":
            if next == "{" { return try parseBracedHex() }
            let unit = try parseHex(digits: 4)
            guard (0xd800..<0xdc00).contains(unit) else {
                guard !(0xdc00..<0xe000).contains(unit) else { throw unsupported("half of a surrogate pair") }
                return unit
            }
            guard take("\\u") else { throw unsupported("half of a surrogate pair") }
            let low = try parseHex(digits: 4)
            guard (0xdc00..<0xe000).contains(low) else { throw unsupported("half of a surrogate pair") }
            return 0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00)
        case "U" where dialect == .swift: return try parseHex(digits: 8)
        case "N" where next == "{": throw unsupported("a character by its name")
        default:
            // Any other character stands for itself, but a letter or digit that means nothing is a mistake.
            guard !(scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)) else {
                position -= 1
                throw unsupported("the escape '\\\(scalar)'")
            }
            return scalar.value
        }
    }

    private mutating func parseHex(digits: Int) throws(RegexError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<digits {
            guard let scalar = next, scalar.isASCII, let digit = hexadecimalValue(UInt8(scalar.value)) else {
                throw invalid("an unfinished hexadecimal escape")
            }
            value = value << 4 | digit
            position += 1
        }
        guard value <= ScalarSet.last else { throw invalid("a character above U+10FFFF") }
        return value
    }

    private mutating func parseBracedHex() throws(RegexError) -> UInt32 {
        position += 1
        var value: UInt32 = 0
        var count = 0
        while let scalar = next, scalar != "}" {
            guard scalar.isASCII, let digit = hexadecimalValue(UInt8(scalar.value)), value <= ScalarSet.last else {
                throw invalid("an unfinished hexadecimal escape")
            }
            value = value << 4 | digit
            count += 1
            position += 1
        }
        guard next == "}", count > 0, value <= ScalarSet.last else { throw invalid("an unfinished hexadecimal escape") }
        position += 1
        return value
    }

    /// Reads `{L}`, `{Lu}`, `{Script=Greek}`, `{^L}` or a single letter behind `\p`.
    private mutating func parseProperty() throws(RegexError) -> ScalarSet {
        guard let scalar = next else { throw invalid("an unfinished property") }
        var name = ""
        if scalar == "{" {
            position += 1
            while let scalar = next, scalar != "}" {
                name.unicodeScalars.append(scalar)
                position += 1
            }
            guard take("}") else { throw invalid("an unfinished property") }
        } else {
            name.unicodeScalars.append(scalar)
            position += 1
        }
        let isNegated = name.hasPrefix("^")
        if isNegated { name.removeFirst() }
        guard let set = UnicodeProperty.set(named: name) else { throw unsupported("the property '\(name)'") }
        return isNegated ? dialect.negate(set) : set
    }

    // MARK: Classes

    /// Reads a class from behind its opening bracket to behind the closing one.
    private mutating func parseClass() throws(RegexError) -> ScalarSet {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else {
            throw RegexError(reason: .tooComplex, message: "classes nested deeper than \(Self.depthLimit)")
        }
        var isNegated = false
        if next == "^" {
            position += 1
            isNegated = true
        }
        var set = ScalarSet.empty
        /// The left side of a set operation, and which.
        var pending: (ScalarSet, Unicode.Scalar)?
        func settle() -> ScalarSet {
            guard let (left, operation) = pending else { return set }
            switch operation {
            case "&": return left.intersection(set)
            case "-": return left.subtracting(set)
            default: return left.union(set).subtracting(left.intersection(set))
            }
        }
        var isFirst = true
        while true {
            guard let scalar = next else { throw invalid("an unclosed class") }
            if scalar == "]", !(isFirst && dialect == .swift) {
                position += 1
                break
            }
            isFirst = false
            if dialect == .swift {
                if scalar == "[", peek(1) == ":" {
                    set = set.union(try parsePOSIXClass())
                    continue
                }
                if scalar == "[" {
                    position += 1
                    set = set.union(try parseClass())
                    continue
                }
                if scalar == peek(1), scalar == "&" || scalar == "-" || scalar == "~" {
                    position += 2
                    pending = (settle(), scalar)
                    set = .empty
                    continue
                }
            }
            let (member, isSingle) = try parseClassMember()
            guard next == "-", let following = peek(1), following != "]",
                !(dialect == .swift && (following == "-" || following == "["))
            else {
                set = set.union(member)
                continue
            }
            // A range needs one character on both sides; beside a shorthand the hyphen is itself, as web browsers have it.
            let saved = position
            position += 1
            let (last, isLastSingle) = try parseClassMember()
            guard isSingle, isLastSingle else {
                guard dialect == .ecmaScript || !isSingle else { throw invalid("a range that ends in a class") }
                position = saved
                set = set.union(member).union(ScalarSet(UInt32(0x2d)))
                position += 1
                continue
            }
            guard let low = member.ranges.first?.low, let high = last.ranges.first?.low, low <= high else {
                throw invalid("a range whose ends are out of order")
            }
            set = set.union(ScalarSet(low, high))
        }
        let result = folded(settle())
        return isNegated ? dialect.negate(result) : result
    }

    private mutating func parseClassMember() throws(RegexError) -> (set: ScalarSet, isSingle: Bool) {
        guard let scalar = next else { throw invalid("an unclosed class") }
        position += 1
        guard scalar == "\\" else { return (ScalarSet(scalar.value), true) }
        guard let escaped = next else { throw invalid("a backslash at the end") }
        if let shorthand = dialect.shorthand(escaped) {
            position += 1
            return (shorthand, false)
        }
        if escaped == "p" || escaped == "P" {
            position += 1
            let set = try parseProperty()
            return (escaped == "P" ? dialect.negate(set) : set, false)
        }
        if escaped == "b" {
            position += 1
            return (ScalarSet(UInt32(8)), true)
        }
        if ("1"..."9").contains(escaped) { throw unsupported("an octal escape") }
        return (ScalarSet(try parseEscapedScalar()), true)
    }

    /// Reads `[:alpha:]`, which stands inside a class.
    private mutating func parsePOSIXClass() throws(RegexError) -> ScalarSet {
        position += 2
        let isNegated = next == "^"
        if isNegated { position += 1 }
        var name = ""
        while let scalar = next, scalar != ":", scalar != "]" {
            name.unicodeScalars.append(scalar)
            position += 1
        }
        guard take(":]") else { throw invalid("an unclosed POSIX class") }
        guard let set = UnicodeProperty.posixClass(named: name) else { throw unsupported("the class '[:\(name):]'") }
        return isNegated ? dialect.negate(set) : set
    }
}
