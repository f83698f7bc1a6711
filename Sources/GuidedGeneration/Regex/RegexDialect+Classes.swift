extension RegexDialect {
    /// Everything but the ends of lines.
    var dot: ScalarSet {
        switch self {
        case .ecmaScript: Self.ecmaScriptDot
        case .swift: Self.swiftDot
        }
    }

    /// Everything, as far as one scalar is one character.
    var anyCharacter: ScalarSet {
        switch self {
        case .ecmaScript: .all
        case .swift: Self.swiftAny
        }
    }

    /// Everything outside a set. Swift's `Regex` matches characters, not scalars: a mark that would join the character before it
    /// is left out, so that what is generated matches there too.
    func negate(_ set: ScalarSet) -> ScalarSet {
        switch self {
        case .ecmaScript: set.complement
        case .swift: Self.swiftAny.subtracting(set)
        }
    }

    private static let ecmaScriptDot = ScalarSet("\n\r\u{2028}\u{2029}").complement
    private static let swiftAny = UnicodeProperty.joining.complement
    private static let swiftDot = swiftAny.subtracting(.newlines)

    private static let digit = ScalarSet(0x30, 0x39)
    private static let asciiWord = ScalarSet([(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)])
    private static let unicodeWord = UnicodeProperty.set(named: "L")!
        .union(UnicodeProperty.set(named: "Nd")!).union(ScalarSet(UInt32(0x5f))).subtracting(UnicodeProperty.joining)
    private static let unicodeDigit = UnicodeProperty.set(named: "Nd")!
    private static let ecmaScriptSpace = ScalarSet([
        (0x09, 0x0d), (0x20, 0x20), (0xa0, 0xa0), (0x1680, 0x1680), (0x2000, 0x200a), (0x2028, 0x2029),
        (0x202f, 0x202f),
        (0x205f, 0x205f), (0x3000, 0x3000), (0xfeff, 0xfeff),
    ])
    private static let unicodeSpace = ScalarSet([
        (0x09, 0x0c), (0x20, 0x20), (0x85, 0x85), (0xa0, 0xa0), (0x1680, 0x1680), (0x2000, 0x200a), (0x2028, 0x2029),
        (0x202f, 0x202f), (0x205f, 0x205f), (0x3000, 0x3000),
    ])
    private static let horizontalSpace = ScalarSet([
        (0x09, 0x09), (0x20, 0x20), (0xa0, 0xa0), (0x1680, 0x1680), (0x2000, 0x200a), (0x202f, 0x202f),
        (0x205f, 0x205f),
        (0x3000, 0x3000),
    ])

    /// The class that a letter behind a backslash stands for.
    func shorthand(_ letter: Unicode.Scalar) -> ScalarSet? {
        switch (self, letter) {
        case (.ecmaScript, "d"): Self.digit
        case (.ecmaScript, "D"): Self.digit.complement
        case (.ecmaScript, "w"): Self.asciiWord
        case (.ecmaScript, "W"): Self.asciiWord.complement
        case (.ecmaScript, "s"): Self.ecmaScriptSpace
        case (.ecmaScript, "S"): Self.ecmaScriptSpace.complement
        // What is written is what every reader of the pattern takes for a digit; what is ruled out is every digit.
        case (.swift, "d"): Self.digit
        case (.swift, "D"): negate(Self.unicodeDigit)
        case (.swift, "w"): Self.unicodeWord
        case (.swift, "W"):
            negate(Self.unicodeWord.union(UnicodeProperty.set(named: "N")!).union(UnicodeProperty.set(named: "Pc")!))
        case (.swift, "s"): Self.unicodeSpace
        case (.swift, "S"): negate(Self.unicodeSpace.union(.newlines))
        case (.swift, "h"): Self.horizontalSpace
        case (.swift, "H"): negate(Self.horizontalSpace)
        case (.swift, "v"): ScalarSet.newlines
        case (.swift, "V"), (.swift, "N"): negate(.newlines)
        default: nil
        }
    }
}

extension ScalarSet {
    /// The characters that end a line in Unicode. A carriage return is not among what is written by itself.
    static let newlines = ScalarSet([(0x0a, 0x0d), (0x85, 0x85), (0x2028, 0x2029)])

    /// The set with the other cases of its letters, as far as they are single scalars.
    func closedOverCase() -> ScalarSet {
        var pairs = ranges.map { ($0.low, $0.high) }
        for range in ranges {
            // Cased letters lie below U+1E944; the rest has nothing to add.
            guard range.low <= 0x1e943 else { continue }
            for value in range.low...Swift.min(range.high, 0x1e943) {
                guard let scalar = Unicode.Scalar(value) else { continue }
                let properties = scalar.properties
                guard properties.isCased || properties.changesWhenCaseMapped else { continue }
                for mapping in [properties.lowercaseMapping, properties.uppercaseMapping] {
                    let mapped = mapping.unicodeScalars
                    guard mapped.count == 1, let first = mapped.first else { continue }
                    pairs.append((first.value, first.value))
                    // A third form, such as final sigma, is a letter's other letter's other letter.
                    for second in [first.properties.lowercaseMapping, first.properties.uppercaseMapping] {
                        guard second.unicodeScalars.count == 1, let last = second.unicodeScalars.first else { continue }
                        pairs.append((last.value, last.value))
                    }
                }
            }
        }
        return ScalarSet(pairs)
    }
}
