/// The methods of texts.
enum StringMethods {
    private typealias Method = @Sendable (TrackedText, CallArguments, Renderer) throws(JinjaError) -> Value

    /// The bound method; nil when texts have none of that name.
    static func method(_ name: String, of value: Value) -> Value? {
        guard let text = value.tracked else { return nil }
        if case .markup = value, let method = methods[name] {
            // What is put into a safe text is escaped, and what comes out is safe.
            return .object(
                Function(name) { (arguments, renderer) throws(JinjaError) in
                    var escaped = arguments
                    escaped.positional = try arguments.positional.map { argument throws(JinjaError) -> Value in
                        guard case .string(let text) = argument else { return argument }
                        return .string(try HTML.escape(text, renderer))
                    }
                    return safe(try method(text, escaped, renderer))
                })
        }
        return methods[name].map { method in
            .object(
                Function(name) { (arguments, renderer) throws(JinjaError) in try method(text, arguments, renderer) })
        }
    }

    private static func safe(_ value: Value) -> Value {
        switch value {
        case .string(let text): .markup(text)
        case .list(let list): (try? .list(list.elements.map(safe))) ?? value
        default: value
        }
    }

    private static func text(_ value: Value?, _ function: String) throws(JinjaError) -> String {
        try tracked(value, function).string
    }

    private static func tracked(_ value: Value?, _ function: String) throws(JinjaError) -> TrackedText {
        if case .undefined(let undefined)? = value, undefined.isForbidden { throw undefined.error }
        guard let text = value?.tracked else {
            throw JinjaError(.type("\(function)() argument must be str, not \(value?.typeName ?? "nothing")"))
        }
        return text
    }

    private static func optionalText(_ value: Value?, _ function: String) throws(JinjaError) -> String? {
        guard let value, !value.isNone else { return nil }
        return try text(value, function)
    }

    private static func test(_ name: String, _ body: @escaping @Sendable (String) -> Bool) -> Method {
        { (text, arguments, renderer) throws(JinjaError) in
            _ = try arguments.bind(name, [])
            try renderer.charge(bytes: text.byteCount)
            return .bool(body(text.string))
        }
    }

    /// A method that maps characters.
    private static func mapping(_ name: String, _ body: @escaping @Sendable (String) -> String) -> Method {
        { (text, arguments, renderer) throws(JinjaError) in
            _ = try arguments.bind(name, [])
            try renderer.charge(bytes: text.byteCount)
            return .string(try text.map(body))
        }
    }

    private static func strip(_ name: String, _ edges: Text.Edges) -> Method {
        { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind(name, ["chars"], allowsNames: false)
            try renderer.charge(bytes: text.byteCount)
            return .string(Text.strip(text, try optionalText(bound[0], name), edges))
        }
    }

    private static func split(_ name: String, fromEnd: Bool) -> Method {
        { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind(name, ["sep", "maxsplit"])
            try renderer.charge(bytes: text.byteCount)
            let maximum = try bound[1]?.index() ?? -1
            guard let separator = try optionalText(bound[0], name) else {
                return try list(Text.splitAtSpace(text, maximum: maximum, fromEnd: fromEnd), renderer)
            }
            guard !separator.isEmpty else { throw JinjaError(.value("empty separator")) }
            return try list(Text.split(text, separator, maximum: maximum, fromEnd: fromEnd), renderer)
        }
    }

    private static func list(_ texts: [TrackedText], _ renderer: Renderer) throws(JinjaError) -> Value {
        try renderer.charge(elements: texts.count)
        return try .list(texts.map(Value.string))
    }

    /// `startswith` and `endswith`.
    private static func affix(_ name: String, _ matches: @escaping @Sendable (String, String) -> Bool) -> Method {
        { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind(
                name, [name == "startswith" ? "prefix" : "suffix", "start", "end"], required: 1, allowsNames: false)
            var part = text.string
            if bound[1] != nil || bound[2] != nil {
                guard let range = try window(text, bound[1], bound[2]) else { return .bool(false) }
                part = Text.slice(text, range).string
            }
            try renderer.charge(1 + text.byteCount / 64)
            if case .tuple(let list)? = bound[0] {
                for element in list.elements where matches(part, try self.text(element, name)) { return .bool(true) }
                return .bool(false)
            }
            guard let affix = bound[0]?.text else {
                throw JinjaError(
                    .type("\(name) first arg must be str or a tuple of str, not \(bound[0]?.typeName ?? "nothing")"))
            }
            return .bool(matches(part, affix))
        }
    }

    /// The code points from `start` to `end`; nil when there are none, not even an empty part.
    private static func window(_ text: TrackedText, _ start: Value?, _ end: Value?) throws(JinjaError) -> Range<Int>? {
        let count = text.string.unicodeScalars.count
        func place(_ value: Value?, _ missing: Int) throws(JinjaError) -> Int {
            guard let value, !value.isNone else { return missing }
            let index = try value.index("slice indices must be integers or None")
            return index < 0 ? max(0, index + count) : index
        }
        let low = try place(start, 0)
        let high = min(try place(end, count), count)
        return low <= high ? low..<high : nil
    }

    /// `find`, `index`, `rfind` and `rindex`.
    private static func find(_ name: String, fromEnd: Bool, throwing: Bool) -> Method {
        { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind(name, ["sub", "start", "end"], required: 1, allowsNames: false)
            let part = try self.text(bound[0], name)
            try renderer.charge(bytes: text.byteCount)
            if let window = try window(text, bound[1], bound[2]) {
                if part.isEmpty { return .int(fromEnd ? window.upperBound : window.lowerBound) }
                let searched = Text.slice(text, window).string
                if let found = TextSearch.places(of: part, in: searched, maximum: 1, fromEnd: fromEnd).first {
                    return .int(window.lowerBound + Text.count(searched.utf8.prefix(found.lowerBound)))
                }
            }
            guard !throwing else { throw JinjaError(.value("substring not found")) }
            return .int(-1)
        }
    }

    private static func partition(_ name: String, fromEnd: Bool) -> Method {
        { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind(name, ["sep"], required: 1, allowsNames: false)
            let separator = try tracked(bound[0], name)
            guard !separator.isEmpty else { throw JinjaError(.value("empty separator")) }
            try renderer.charge(bytes: text.byteCount)
            let parts = Text.split(text, separator.string, maximum: 1, fromEnd: fromEnd)
            guard parts.count == 2 else {
                return try .tuple((fromEnd ? ["", "", text] : [text, "", ""]).map { Value.string($0) })
            }
            return try .tuple([.string(parts[0]), .string(separator), .string(parts[1])])
        }
    }

    private static func pad(_ name: String) -> Method {
        { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind(name, ["width", "fillchar"], required: 1, allowsNames: false)
            let width = try bound[0]?.index() ?? 0
            let fill = try bound[1].map { value throws(JinjaError) in try tracked(value, name) } ?? " "
            guard fill.string.unicodeScalars.count == 1 else {
                throw JinjaError(.type("The fill character must be exactly one character long"))
            }
            let count = text.string.unicodeScalars.count
            let missing = max(0, width - count)
            try renderer.charge(bytes: text.byteCount + missing)
            let left =
                switch name {
                case "ljust": 0
                case "rjust": missing
                default: missing / 2 + (missing & width & 1)
                }
            return .string(fill.repeated(left) + text + fill.repeated(missing - left))
        }
    }

    /// Whether there are characters, and all are of a kind.
    private static func all(_ name: String, _ matches: @escaping @Sendable (Unicode.Scalar) -> Bool) -> Method {
        test(name) { text in !text.isEmpty && text.unicodeScalars.allSatisfy(matches) }
    }

    private static func hasNumericType(_ scalar: Unicode.Scalar, _ types: Set<Unicode.NumericType>) -> Bool {
        scalar.properties.numericType.map(types.contains) ?? false
    }

    private static func isAlpha(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
        default: false
        }
    }

    static func isLower(_ text: String) -> Bool {
        var hasCased = false
        for scalar in text.unicodeScalars {
            if scalar.properties.isUppercase || scalar.properties.generalCategory == .titlecaseLetter { return false }
            if scalar.properties.isLowercase { hasCased = true }
        }
        return hasCased
    }

    static func isUpper(_ text: String) -> Bool {
        var hasCased = false
        for scalar in text.unicodeScalars {
            if scalar.properties.isLowercase || scalar.properties.generalCategory == .titlecaseLetter { return false }
            if scalar.properties.isUppercase { hasCased = true }
        }
        return hasCased
    }

    private static func isTitle(_ text: String) -> Bool {
        var (hasCased, isInWord) = (false, false)
        for scalar in text.unicodeScalars {
            let properties = scalar.properties
            if properties.isUppercase || properties.generalCategory == .titlecaseLetter {
                if isInWord { return false }
                (hasCased, isInWord) = (true, true)
            } else if properties.isLowercase {
                if !isInWord { return false }
            } else {
                isInWord = false
            }
        }
        return hasCased
    }

    private static let methods: [String: Method] = [
        "upper": mapping("upper", Text.upper),
        "lower": mapping("lower", Text.lower),
        "casefold": mapping("casefold") { Text.lower($0.replacing("ß", with: "ss")) },
        "capitalize": mapping("capitalize", Text.capitalize),
        "title": mapping("title", Text.title),
        "swapcase": mapping("swapcase", Text.swapCase),
        "strip": strip("strip", .both),
        "lstrip": strip("lstrip", .leading),
        "rstrip": strip("rstrip", .trailing),
        "split": split("split", fromEnd: false),
        "rsplit": split("rsplit", fromEnd: true),
        "splitlines": { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind("splitlines", ["keepends"])
            try renderer.charge(bytes: text.byteCount)
            return try list(Text.splitLines(text, keepsEnds: bound[0]?.isTrue ?? false), renderer)
        },
        "startswith": affix("startswith") { $0.utf8.starts(with: $1.utf8) },
        "endswith": affix("endswith") { $0.utf8.reversed().starts(with: $1.utf8.reversed()) },
        "find": find("find", fromEnd: false, throwing: false),
        "index": find("index", fromEnd: false, throwing: true),
        "rfind": find("rfind", fromEnd: true, throwing: false),
        "rindex": find("rindex", fromEnd: true, throwing: true),
        "partition": partition("partition", fromEnd: false),
        "rpartition": partition("rpartition", fromEnd: true),
        "ljust": pad("ljust"),
        "rjust": pad("rjust"),
        "center": pad("center"),
        "zfill": { (text, arguments, renderer) throws(JinjaError) in
            let width = try arguments.bind("zfill", ["width"], required: 1, allowsNames: false)[0]?.index() ?? 0
            let missing = max(0, width - text.string.unicodeScalars.count)
            try renderer.charge(bytes: text.byteCount + missing)
            let zeros = TrackedText(String(repeating: "0", count: missing))
            guard let sign = text.string.utf8.first, sign == 0x2d || sign == 0x2b else { return .string(zeros + text) }
            return .string(text.slice(0..<1) + zeros + text.slice(1..<text.byteCount))
        },
        "count": { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind("count", ["sub", "start", "end"], required: 1, allowsNames: false)
            let part = try Self.text(bound[0], "count")
            try renderer.charge(bytes: text.byteCount)
            guard let window = try window(text, bound[1], bound[2]) else { return .int(0) }
            if part.isEmpty { return .int(window.count + 1) }
            return .int(TextSearch.places(of: part, in: Text.slice(text, window).string).count)
        },
        "replace": { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind("replace", ["old", "new", "count"], required: 2, allowsNames: false)
            return .string(
                try renderer.replace(
                    text, try Self.text(bound[0], "replace"), try tracked(bound[1], "replace"),
                    count: try bound[2]?.index() ?? -1))
        },
        "join": { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind("join", ["iterable"], required: 1, allowsNames: false)
            guard let iterable = bound[0], iterable.isIterable else {
                throw JinjaError(.type("can only join an iterable"))
            }
            var texts: [TrackedText] = []
            for (index, element) in try renderer.elements(of: iterable).enumerated() {
                guard let part = element.tracked else {
                    throw JinjaError(
                        .type("sequence item \(index): expected str instance, \(element.typeName) found"))
                }
                texts.append(part)
            }
            return .string(try renderer.join(texts, separator: text))
        },
        "removeprefix": { (text, arguments, _) throws(JinjaError) in
            let bound = try arguments.bind("removeprefix", ["prefix"], required: 1, allowsNames: false)
            let prefix = try Self.text(bound[0], "removeprefix")
            guard text.string.utf8.starts(with: prefix.utf8) else { return .string(text) }
            return .string(text.slice(prefix.utf8.count..<text.byteCount))
        },
        "removesuffix": { (text, arguments, _) throws(JinjaError) in
            let bound = try arguments.bind("removesuffix", ["suffix"], required: 1, allowsNames: false)
            let suffix = try Self.text(bound[0], "removesuffix")
            guard text.string.utf8.reversed().starts(with: suffix.utf8.reversed()) else { return .string(text) }
            return .string(text.slice(0..<text.byteCount - suffix.utf8.count))
        },
        "expandtabs": { (text, arguments, renderer) throws(JinjaError) in
            let size = try arguments.bind("expandtabs", ["tabsize"])[0]?.index() ?? 8
            var result = TrackedText()
            var column = 0
            for scalar in text.scalars {
                switch scalar.scalar {
                case "\t":
                    guard size > 0 else { continue }
                    let width = size - column % size
                    try renderer.charge(bytes: result.byteCount + width)
                    result += TrackedText(String(repeating: " ", count: width), isContent: scalar.isContent)
                    column += width
                case "\n", "\r":
                    result.append(scalar)
                    column = 0
                default:
                    result.append(scalar)
                    column += 1
                }
            }
            return .string(result)
        },
        "format": { (text, arguments, renderer) throws(JinjaError) in
            .string(try BraceFormat.format(text, arguments, renderer))
        },
        "format_map": { (text, arguments, renderer) throws(JinjaError) in
            guard case .dict(let dict)? = try arguments.bind("format_map", ["mapping"], required: 1)[0] else {
                throw JinjaError(.type("format_map() takes a mapping"))
            }
            var named: [(name: TrackedText, value: Value)] = []
            for (key, value) in zip(dict.keys, dict.values) {
                if let name = key.tracked { named.append((name, value)) }
            }
            return .string(try BraceFormat.format(text, CallArguments(named: named), renderer))
        },
        "isspace": all("isspace", Python.isSpace),
        "isalpha": all("isalpha", isAlpha),
        "isdigit": all("isdigit") { hasNumericType($0, [.decimal, .digit]) },
        "isdecimal": all("isdecimal") { hasNumericType($0, [.decimal]) },
        "isnumeric": all("isnumeric") { $0.properties.numericType != nil },
        "isalnum": all("isalnum") { isAlpha($0) || $0.properties.numericType != nil },
        "isascii": test("isascii") { text in text.utf8.allSatisfy { $0 < 0x80 } },
        "isprintable": test("isprintable") { text in text.unicodeScalars.allSatisfy(Python.isPrintable) },
        "isidentifier": test("isidentifier") { text in
            text.unicodeScalars.first.map(Python.isIdentifierStart) ?? false
                && text.unicodeScalars.allSatisfy(Python.isIdentifierPart)
        },
        "islower": test("islower", isLower),
        "isupper": test("isupper", isUpper),
        "istitle": test("istitle", isTitle),
    ]
}

extension Renderer {
    func join(_ texts: [TrackedText], separator: TrackedText) throws(JinjaError) -> TrackedText {
        var bytes = 0
        for text in texts { bytes += text.byteCount + separator.byteCount }
        try charge(bytes: bytes)
        return TrackedText(joining: texts, separator: separator)
    }

    /// `str.replace`, within the limits: the result can be much longer than the text.
    func replace(
        _ text: TrackedText, _ old: String, _ new: TrackedText, count: Int
    ) throws(JinjaError) -> TrackedText {
        let places = text.byteCount / max(1, old.utf8.count) + 1
        let (bytes, overflow) = places.multipliedReportingOverflow(by: new.byteCount)
        if overflow || bytes > limits.outputBytes {
            // The bound is reached only if the old text is nearly everywhere: count before making anything.
            let found =
                old.isEmpty ? places : Text.split(text, old, maximum: count, fromEnd: false).count - 1
            let (made, overflow) = found.multipliedReportingOverflow(by: new.byteCount)
            try charge(bytes: overflow ? Int.max : made)
        }
        try charge(bytes: text.byteCount)
        let result = Text.replace(text, old, new, count: count)
        try charge(bytes: result.byteCount)
        return result
    }
}
