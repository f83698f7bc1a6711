/// Sets of scalars by their Unicode properties, read once from Swift's own tables.
enum UnicodeProperty {
    /// The set of `\p{name}`: a general category by its short or long name, or one of the common binary properties. Case, spaces,
    /// hyphens and underscores in names do not matter (UTS #18). Scripts are not known to the tables.
    static func set(named name: String) -> ScalarSet? {
        var key = String(name.lowercased().filter { $0 != " " && $0 != "-" && $0 != "_" })
        for prefix in ["generalcategory=", "gc="] where key.hasPrefix(prefix) { key.removeFirst(prefix.count) }
        if let categories = categoryNames[key] {
            return categories.reduce(ScalarSet.empty) { $0.union(tables.categories[$1] ?? .empty) }
        }
        switch key {
        case "any": return .all
        case "assigned": return set(named: "Cn").map(\.complement)
        case "ascii": return ScalarSet(0, 0x7f)
        case "alphabetic", "alpha": return tables.alphabetic
        case "lowercase", "lower": return tables.lowercase
        case "uppercase", "upper": return tables.uppercase
        case "whitespace", "space": return tables.whitespace
        case "digit", "alnum", "punct", "xdigit", "cntrl": return posixClass(named: key)
        default: return nil
        }
    }

    /// The set of `[:name:]`.
    static func posixClass(named name: String) -> ScalarSet? {
        switch name {
        case "alpha": tables.alphabetic.subtracting(joining)
        case "digit": ScalarSet(0x30, 0x39)
        case "alnum": tables.alphabetic.subtracting(joining).union(ScalarSet(0x30, 0x39))
        case "upper": tables.uppercase
        case "lower": tables.lowercase
        case "space": tables.whitespace
        case "blank": ScalarSet(" \t")
        case "cntrl": ScalarSet([(0, 0x1f), (0x7f, 0x9f)])
        case "xdigit": ScalarSet([(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)])
        case "punct": set(named: "P")?.subtracting(joining)
        case "word": set(named: "L")?.union(set(named: "Nd") ?? .empty).union(ScalarSet(UInt32(0x5f)))
        case "ascii": ScalarSet(0, 0x7f)
        default: nil
        }
    }

    /// What joins the character before or after it: marks, joiners, regional indicators, Hangul letters, and the carriage return.
    static var joining: ScalarSet { tables.joining }

    private static let categoryNames: [String: [Unicode.GeneralCategory]] = {
        typealias Category = Unicode.GeneralCategory
        let leaves: [(String, String, Category)] = [
            ("lu", "uppercaseletter", .uppercaseLetter), ("ll", "lowercaseletter", .lowercaseLetter),
            ("lt", "titlecaseletter", .titlecaseLetter), ("lm", "modifierletter", .modifierLetter),
            ("lo", "otherletter", .otherLetter), ("mn", "nonspacingmark", .nonspacingMark),
            ("mc", "spacingmark", .spacingMark), ("me", "enclosingmark", .enclosingMark),
            ("nd", "decimalnumber", .decimalNumber), ("nl", "letternumber", .letterNumber),
            ("no", "othernumber", .otherNumber), ("pc", "connectorpunctuation", .connectorPunctuation),
            ("pd", "dashpunctuation", .dashPunctuation), ("ps", "openpunctuation", .openPunctuation),
            ("pe", "closepunctuation", .closePunctuation), ("pi", "initialpunctuation", .initialPunctuation),
            ("pf", "finalpunctuation", .finalPunctuation), ("po", "otherpunctuation", .otherPunctuation),
            ("sm", "mathsymbol", .mathSymbol), ("sc", "currencysymbol", .currencySymbol),
            ("sk", "modifiersymbol", .modifierSymbol), ("so", "othersymbol", .otherSymbol),
            ("zs", "spaceseparator", .spaceSeparator), ("zl", "lineseparator", .lineSeparator),
            ("zp", "paragraphseparator", .paragraphSeparator), ("cc", "control", .control), ("cf", "format", .format),
            ("cs", "surrogate", .surrogate), ("co", "privateuse", .privateUse), ("cn", "unassigned", .unassigned),
        ]
        var names: [String: [Category]] = [:]
        for (short, long, category) in leaves {
            names[short] = [category]
            names[long] = [category]
            names[String(short.prefix(1)), default: []].append(category)
        }
        for (long, short) in [
            ("letter", "l"), ("mark", "m"), ("number", "n"), ("punctuation", "p"), ("symbol", "s"), ("separator", "z"),
            ("other", "c"),
        ] { names[long] = names[short] }
        names["lc"] = [.uppercaseLetter, .lowercaseLetter, .titlecaseLetter]
        names["casedletter"] = names["lc"]
        return names
    }()

    private struct Tables: Sendable {
        var categories: [Unicode.GeneralCategory: ScalarSet]
        var alphabetic: ScalarSet
        var lowercase: ScalarSet
        var uppercase: ScalarSet
        var whitespace: ScalarSet
        var joining: ScalarSet
    }

    private static let tables: Tables = {
        var categories: [Unicode.GeneralCategory: [(UInt32, UInt32)]] = [:]
        var runStart: UInt32 = 0
        var runCategory: Unicode.GeneralCategory?
        var alphabetic: [(UInt32, UInt32)] = []
        var lowercase: [(UInt32, UInt32)] = []
        var uppercase: [(UInt32, UInt32)] = []
        var whitespace: [(UInt32, UInt32)] = []
        var joining: [(UInt32, UInt32)] = [(0x0d, 0x0d)]
        func extend(_ list: inout [(UInt32, UInt32)], _ value: UInt32) {
            if let last = list.last, last.1 + 1 == value {
                list[list.count - 1].1 = value
            } else {
                list.append((value, value))
            }
        }
        func endRun(at end: UInt32) {
            if let runCategory, end > runStart { categories[runCategory, default: []].append((runStart, end - 1)) }
            runStart = end
        }
        // Nothing is assigned from U+323B0 to U+E0000, or behind U+E01EF but private use.
        for (low, high) in [(UInt32(0), UInt32(0x323af)), (0xe0000, 0xe01ef)] {
            runStart = low
            runCategory = nil
            for value in low...high {
                guard let scalar = Unicode.Scalar(value) else { continue }
                let properties = scalar.properties
                let category = properties.generalCategory
                if category != runCategory {
                    endRun(at: value)
                    runCategory = category
                }
                if properties.isAlphabetic { extend(&alphabetic, value) }
                if properties.isLowercase { extend(&lowercase, value) }
                if properties.isUppercase { extend(&uppercase, value) }
                if properties.isWhitespace { extend(&whitespace, value) }
                if properties.isGraphemeExtend || category == .spacingMark || category == .format
                    || category == .unassigned || properties.isEmojiModifier
                    || (0x1100...0x11ff).contains(value) || (0xa960...0xa97f).contains(value)
                    || (0xd7b0...0xd7ff).contains(value) || (0x1f1e6...0x1f1ff).contains(value)
                {
                    extend(&joining, value)
                }
            }
            endRun(at: high + 1)
        }
        categories[.unassigned, default: []] += [
            (0x323b0, 0xdffff), (0xe01f0, 0xeffff), (0xffffe, 0xfffff), (0x10fffe, 0x10ffff),
        ]
        categories[.privateUse, default: []] += [(0xf0000, 0xffffd), (0x100000, 0x10fffd)]
        joining += [(0x323b0, 0xeffff)]
        return Tables(
            categories: categories.mapValues { ScalarSet($0) }, alphabetic: ScalarSet(alphabetic),
            lowercase: ScalarSet(lowercase), uppercase: ScalarSet(uppercase), whitespace: ScalarSet(whitespace),
            joining: ScalarSet(joining))
    }()
}
