/// The text of a regular expression, in Swift's syntax, that says what the expression matches.
///
/// `Regex._literalPattern` gives the text of an expression that was written as a literal or as a string. For one that was
/// put together with RegexBuilder it is not to be trusted: it leaves out groups (`ChoiceOf` inside a sequence, a repetition of a
/// repetition) and so says something else. There the text is written anew from the expression's tree, which reflection shows. What
/// the tree holds beyond the kinds known here makes the expression unsupported, never a guess.
struct RegexPattern {
    let text: String

    init<Output>(_ regex: Regex<Output>) throws(Unsupported) {
        guard let literal = regex._literalPattern else {
            throw Unsupported("it has parts that are code: a transform, a custom component or a predicate")
        }
        guard let program = Mirror(reflecting: regex).descendant("program"),
            let tree = Mirror(reflecting: program).descendant("tree"),
            let root = Mirror(reflecting: tree).descendant("root")
        else { throw Unsupported("this version of Swift does not show its parts") }
        let node = Part(root)
        if node.name == "convertedRegexLiteral" {
            // A property that has no spelling of its own is printed as something that reads as a set of letters.
            if literal.contains("[:"), literal.firstMatch(of: /\[:\w+=/) != nil {
                throw Unsupported("a script or another property by its value cannot be enforced")
            }
            text = literal
        } else {
            var printer = Printer()
            text = try printer.print(node, in: .alternatives)
        }
    }

    /// Why an expression has no text.
    struct Unsupported: Error {
        let reason: String

        init(_ reason: String) { self.reason = reason }
    }

    /// A value of an enumeration that reflection shows: the name of the case and what it holds.
    private struct Part {
        let name: String
        let value: Any

        init(_ value: Any) {
            if let child = Mirror(reflecting: value).children.first, let label = child.label {
                name = label
                self.value = child.value
            } else {
                name = String(describing: value)
                self.value = value
            }
        }

        /// The values that a case holds, or the elements of an array that it holds.
        var values: [Any] { Mirror(reflecting: value).children.map(\.value) }
    }

    /// What a text is to be part of, from loosest to tightest.
    private enum Place: Int {
        case alternatives, sequence, repetition
    }

    private struct Printer {
        private var depth = 0
        private static let depthLimit = 1_000

        private func unsupported(_ what: String) -> Unsupported { Unsupported("\(what) cannot be enforced") }

        mutating func print(_ node: Part, in place: Place) throws(Unsupported) -> String {
            depth += 1
            defer { depth -= 1 }
            guard depth <= Self.depthLimit else { throw Unsupported("it is nested too deep") }
            switch node.name {
            case "concatenation":
                var text = ""
                for child in node.values { text += try print(Part(child), in: .sequence) }
                return place == .repetition ? "(?:\(text))" : text
            case "orderedChoice":
                var branches: [String] = []
                for child in node.values { branches.append(try print(Part(child), in: .alternatives)) }
                let text = branches.joined(separator: "|")
                return place == .alternatives ? text : "(?:\(text))"
            case "ignoreCapturesInTypedOutput", "limitCaptureNesting":
                return try print(Part(node.value), in: place)
            case "convertedRegexLiteral":
                guard let inner = node.values.first else { break }
                return try print(Part(inner), in: place)
            case "capture":
                guard node.values.count > 2 else { break }
                return "(?:\(try print(Part(node.values[2]), in: .alternatives)))"
            case "nonCapturingGroup":
                guard node.values.count > 1 else { break }
                let opening = try groupOpening(node.values[0])
                return "\(opening)\(try print(Part(node.values[1]), in: .alternatives)))"
            case "quantification":
                guard node.values.count > 2 else { break }
                let text = try print(Part(node.values[2]), in: .repetition)
                let repeated = text + (try quantifier(node.values[0]) + greed(node.values[1]))
                // Another quantifier behind this one would be read as its greed.
                return place == .repetition ? "(?:\(repeated))" : repeated
            case "quotedLiteral":
                guard let string = node.value as? String else { break }
                let text = string.map(escaped).joined()
                return place == .repetition && string.count != 1 ? "(?:\(text))" : text
            case "atom": return try atom(Part(node.value), inClass: false)
            case "customCharacterClass": return try characterClass(node.value)
            case "empty": return place == .repetition ? "(?:)" : ""
            case "trivia": return ""
            default: break
            }
            throw unsupported("a part of the kind '\(node.name)'")
        }

        private func groupOpening(_ kind: Any) throws(Unsupported) -> String {
            guard let kind = Mirror(reflecting: kind).descendant("ast").map(Part.init) else {
                throw unsupported("a group of an unknown kind")
            }
            switch kind.name {
            case "capture", "namedCapture", "nonCapture", "nonCaptureReset": return "(?:"
            case "changeMatchingOptions":
                let options = Mirror(reflecting: kind.value)
                let adding = options.descendant("adding").map { Mirror(reflecting: $0).children.map(\.value) } ?? []
                let removing = options.descendant("removing").map { Mirror(reflecting: $0).children.map(\.value) } ?? []
                let names = adding.compactMap { Mirror(reflecting: $0).descendant("kind").map { Part($0).name } }
                guard removing.isEmpty, names == ["caseInsensitive"] else {
                    throw unsupported("the option \(names.joined(separator: ", "))")
                }
                return "(?i:"
            case "lookahead", "negativeLookahead", "lookbehind", "negativeLookbehind":
                throw unsupported("look-around")
            default: throw unsupported("a group of the kind '\(kind.name)'")
            }
        }

        private func quantifier(_ amount: Any) throws(Unsupported) -> String {
            guard let amount = Mirror(reflecting: amount).descendant("ast").map(Part.init) else {
                throw unsupported("a repetition of an unknown kind")
            }
            func number(_ value: Any) -> Int? { Mirror(reflecting: value).descendant("value") as? Int }
            switch amount.name {
            case "zeroOrMore": return "*"
            case "oneOrMore": return "+"
            case "zeroOrOne": return "?"
            case "exactly": if let count = number(amount.value) { return "{\(count)}" }
            case "nOrMore": if let count = number(amount.value) { return "{\(count),}" }
            case "upToN": if let count = number(amount.value) { return "{0,\(count)}" }
            case "range":
                let bounds = amount.values.map(number)
                if bounds.count == 2, let low = bounds[0], let high = bounds[1] { return "{\(low),\(high)}" }
            default: break
            }
            throw unsupported("a repetition of the kind '\(amount.name)'")
        }

        /// Nothing for an eager or a reluctant repetition: as a whole the same texts match.
        private func greed(_ kind: Any) throws(Unsupported) -> String {
            var kind = Part(kind)
            if let ast = Mirror(reflecting: kind.value).descendant("ast") { kind = Part(ast) }
            guard kind.name != "possessive" else { throw unsupported("a possessive repetition") }
            return ""
        }

        private func atom(_ atom: Part, inClass: Bool) throws(Unsupported) -> String {
            switch atom.name {
            case "char": if let character = atom.value as? Character { return escaped(character) }
            case "scalar": if let scalar = atom.value as? Unicode.Scalar { return escaped(Character(scalar)) }
            case "any": return inClass ? #"\s\S"# : "(?s:.)"
            case "anyNonNewline": return inClass ? #"\V"# : "."
            case "dot": return inClass ? #"\."# : "."
            case "characterClass": return try shorthand(Part(atom.value).name, inClass: inClass)
            case "assertion":
                switch Part(atom.value).name {
                case "startOfSubject": return #"\A"#
                case "endOfSubject": return #"\z"#
                case "endOfSubjectBeforeNewline": return #"\Z"#
                case "caretAnchor": return "^"
                case "dollarAnchor": return "$"
                case let name: throw unsupported("the assertion '\(name)'")
                }
            case "unconverted":
                if let ast = Mirror(reflecting: atom.value).descendant("ast"),
                    let kind = Mirror(reflecting: ast).descendant("kind").map(Part.init), kind.name == "property",
                    let property = Mirror(reflecting: kind.value).descendant("kind").map(Part.init),
                    property.name == "generalCategory"
                {
                    let isInverted = Mirror(reflecting: kind.value).descendant("isInverted") as? Bool == true
                    return "\\\(isInverted ? "P" : "p"){\(Part(property.value).name)}"
                }
                throw unsupported("a property that is no general category, outside of a literal,")
            case "backreference", "symbolicReference": throw unsupported("a back-reference")
            default: break
            }
            throw unsupported("an atom of the kind '\(atom.name)'")
        }

        private func shorthand(_ name: String, inClass: Bool) throws(Unsupported) -> String {
            switch name {
            case "any", "anyGrapheme", "anyUnicodeScalar": return inClass ? #"\s\S"# : "(?s:.)"
            case "digit": return #"\d"#
            case "notDigit": return #"\D"#
            case "horizontalWhitespace": return #"\h"#
            case "notHorizontalWhitespace": return #"\H"#
            case "newlineSequence": if !inClass { return #"\R"# }
            case "notNewline": return #"\N"#
            case "verticalWhitespace": return #"\v"#
            case "notVerticalWhitespace": return #"\V"#
            case "whitespace": return #"\s"#
            case "notWhitespace": return #"\S"#
            case "word": return #"\w"#
            case "notWord": return #"\W"#
            default: break
            }
            throw unsupported("the character class '\(name)'")
        }

        private func characterClass(_ value: Any) throws(Unsupported) -> String {
            let mirror = Mirror(reflecting: value)
            guard let members = mirror.descendant("members"), let isInverted = mirror.descendant("isInverted") as? Bool
            else { throw unsupported("a character class of an unknown kind") }
            let parts = Mirror(reflecting: members).children.map { Part($0.value) }
            if parts.count == 1, !isInverted, parts[0].name == "atom" {
                return try atom(Part(parts[0].value), inClass: false)
            }
            var text = ""
            for part in parts {
                let values = part.values
                switch part.name {
                case "atom": text += try atom(Part(part.value), inClass: true)
                case "range" where values.count == 2:
                    text += try atom(Part(values[0]), inClass: true) + "-" + atom(Part(values[1]), inClass: true)
                case "custom": text += try characterClass(part.value)
                case "quotedLiteral": text += ((part.value as? String) ?? "").map(escaped).joined()
                case "intersection" where values.count == 2:
                    text += try "[\(bracketed(values[0]))&&\(bracketed(values[1]))]"
                case "subtraction" where values.count == 2:
                    text += try "[\(bracketed(values[0]))--\(bracketed(values[1]))]"
                case "symmetricDifference" where values.count == 2:
                    text += try "[\(bracketed(values[0]))~~\(bracketed(values[1]))]"
                case "trivia": break
                default: throw unsupported("a member '\(part.name)' of a character class")
                }
            }
            return "[\(isInverted ? "^" : "")\(text)]"
        }

        /// A class between brackets, also where it is a single character or shorthand.
        private func bracketed(_ value: Any) throws(Unsupported) -> String {
            let text = try characterClass(value)
            return text.hasPrefix("[") ? text : "[\(text)]"
        }

        /// A character that stands for itself, wherever it is.
        private func escaped(_ character: Character) -> String {
            character.unicodeScalars.map { scalar in
                switch scalar {
                case "\n": "\\n"
                case "\r": "\\r"
                case "\t": "\\t"
                case "a"..."z", "A"..."Z", "0"..."9", "_": String(scalar)
                case "\0"..<" ", "\u{7f}": "\\x{\(String(scalar.value, radix: 16))}"
                case " "..."~": "\\\(scalar)"
                default: String(scalar)
                }
            }.joined()
        }
    }
}
