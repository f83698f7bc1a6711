/// The methods of texts.
enum StringMethods {
    private typealias Method = @Sendable (String, CallArguments, Renderer) throws(JinjaError) -> Value

    /// The bound method; nil when texts have none of that name.
    static func method(_ name: String, of value: Value) -> Value? {
        guard let text = value.text else { return nil }
        if case .markup = value, let method = methods[name] {
            // What is put into a safe text is escaped, and what comes out is safe.
            return .object(
                Function(name) { (arguments, renderer) throws(JinjaError) in
                    var escaped = arguments
                    escaped.positional = arguments.positional.map { argument in
                        if case .string(let text) = argument { .string(HTML.escape(text)) } else { argument }
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
        if case .undefined(let undefined)? = value, undefined.isForbidden { throw undefined.error }
        guard let text = value?.text else {
            throw JinjaError(.type("\(function)() argument must be str, not \(value?.typeName ?? "nothing")"))
        }
        return text
    }

    private static func optionalText(_ value: Value?, _ function: String) throws(JinjaError) -> String? {
        guard let value, !value.isNone else { return nil }
        return try text(value, function)
    }

    private static func simple(_ name: String, _ body: @escaping @Sendable (String) -> Value) -> Method {
        { (text, arguments, renderer) throws(JinjaError) in
            _ = try arguments.bind(name, [])
            try renderer.charge(bytes: text.utf8.count)
            return body(text)
        }
    }

    private static func strip(_ name: String, _ edges: Text.Edges) -> Method {
        { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind(name, ["chars"], allowsNames: false)
            try renderer.charge(bytes: text.utf8.count)
            return .string(Text.strip(text, try optionalText(bound[0], name), edges))
        }
    }

    private static func split(_ name: String, fromEnd: Bool) -> Method {
        { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind(name, ["sep", "maxsplit"])
            try renderer.charge(bytes: text.utf8.count)
            let maximum = try bound[1]?.index() ?? -1
            guard let separator = try optionalText(bound[0], name) else {
                return try list(Text.splitAtSpace(text, maximum: maximum, fromEnd: fromEnd), renderer)
            }
            guard !separator.isEmpty else { throw JinjaError(.value("empty separator")) }
            return try list(Text.split(text, separator, maximum: maximum, fromEnd: fromEnd), renderer)
        }
    }

    private static func list(_ texts: [String], _ renderer: Renderer) throws(JinjaError) -> Value {
        try renderer.charge(elements: texts.count)
        return try .list(texts.map(Value.string))
    }

    /// `startswith` and `endswith`.
    private static func affix(_ name: String, _ matches: @escaping @Sendable (String, String) -> Bool) -> Method {
        { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind(
                name, [name == "startswith" ? "prefix" : "suffix", "start", "end"], required: 1, allowsNames: false)
            var part = text
            if bound[1] != nil || bound[2] != nil {
                guard let range = try window(text, bound[1], bound[2]) else { return .bool(false) }
                part = Text.slice(text, range)
            }
            try renderer.charge(1 + text.utf8.count / 64)
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
    private static func window(_ text: String, _ start: Value?, _ end: Value?) throws(JinjaError) -> Range<Int>? {
        let count = text.unicodeScalars.count
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
            let part = Array(try self.text(bound[0], name).utf8)
            try renderer.charge(bytes: text.utf8.count)
            if let window = try window(text, bound[1], bound[2]) {
                let bytes = Array(Text.slice(text, window).utf8)
                let found =
                    fromEnd
                    ? Text.lastRange(of: part, in: bytes, before: bytes.count)
                    : Text.firstRange(of: part, in: bytes, from: 0)
                if let found { return .int(window.lowerBound + Text.count(bytes[..<found.lowerBound])) }
            }
            guard !throwing else { throw JinjaError(.value("substring not found")) }
            return .int(-1)
        }
    }

    private static func partition(_ name: String, fromEnd: Bool) -> Method {
        { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind(name, ["sep"], required: 1, allowsNames: false)
            let separator = Array(try self.text(bound[0], name).utf8)
            guard !separator.isEmpty else { throw JinjaError(.value("empty separator")) }
            try renderer.charge(bytes: text.utf8.count)
            let bytes = Array(text.utf8)
            let found =
                fromEnd
                ? Text.lastRange(of: separator, in: bytes, before: bytes.count)
                : Text.firstRange(of: separator, in: bytes, from: 0)
            guard let found else {
                let parts = fromEnd ? ["", "", text] : [text, "", ""]
                return try .tuple(parts.map(Value.string))
            }
            return try .tuple([
                .string(Text.decode(bytes[..<found.lowerBound])), .string(Text.decode(separator)),
                .string(Text.decode(bytes[found.upperBound...])),
            ])
        }
    }

    private static func pad(_ name: String) -> Method {
        { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind(name, ["width", "fillchar"], required: 1, allowsNames: false)
            let width = try bound[0]?.index() ?? 0
            let fill = try bound[1].map { value throws(JinjaError) in try self.text(value, name) } ?? " "
            guard fill.unicodeScalars.count == 1 else {
                throw JinjaError(.type("The fill character must be exactly one character long"))
            }
            let count = text.unicodeScalars.count
            let missing = max(0, width - count)
            try renderer.charge(bytes: text.utf8.count + missing)
            let left =
                switch name {
                case "ljust": 0
                case "rjust": missing
                default: missing / 2 + (missing & width & 1)
                }
            return .string(
                String(repeating: fill, count: left) + text + String(repeating: fill, count: missing - left))
        }
    }

    /// Whether there are characters, and all are of a kind.
    private static func all(_ name: String, _ matches: @escaping @Sendable (Unicode.Scalar) -> Bool) -> Method {
        simple(name) { text in .bool(!text.isEmpty && text.unicodeScalars.allSatisfy(matches)) }
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
        "upper": simple("upper") { .string(Text.upper($0)) },
        "lower": simple("lower") { .string(Text.lower($0)) },
        "casefold": simple("casefold") { .string(Text.lower($0.replacing("ß", with: "ss"))) },
        "capitalize": simple("capitalize") { .string(Text.capitalize($0)) },
        "title": simple("title") { .string(Text.title($0)) },
        "swapcase": simple("swapcase") { .string(Text.swapCase($0)) },
        "strip": strip("strip", .both),
        "lstrip": strip("lstrip", .leading),
        "rstrip": strip("rstrip", .trailing),
        "split": split("split", fromEnd: false),
        "rsplit": split("rsplit", fromEnd: true),
        "splitlines": { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind("splitlines", ["keepends"])
            try renderer.charge(bytes: text.utf8.count)
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
            let missing = max(0, width - text.unicodeScalars.count)
            try renderer.charge(bytes: text.utf8.count + missing)
            let zeros = String(repeating: "0", count: missing)
            guard let sign = text.unicodeScalars.first, sign == "-" || sign == "+" else { return .string(zeros + text) }
            return .string(String(Character(sign)) + zeros + String(text.unicodeScalars.dropFirst()))
        },
        "count": { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind("count", ["sub", "start", "end"], required: 1, allowsNames: false)
            let part = Array(try Self.text(bound[0], "count").utf8)
            try renderer.charge(bytes: text.utf8.count)
            guard let window = try window(text, bound[1], bound[2]) else { return .int(0) }
            if part.isEmpty { return .int(window.count + 1) }
            let bytes = Array(Text.slice(text, window).utf8)
            var (count, position) = (0, 0)
            while let found = Text.firstRange(of: part, in: bytes, from: position) {
                count += 1
                position = found.upperBound
            }
            return .int(count)
        },
        "replace": { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind("replace", ["old", "new", "count"], required: 2, allowsNames: false)
            return .string(
                try renderer.replace(
                    text, try Self.text(bound[0], "replace"), try Self.text(bound[1], "replace"),
                    count: try bound[2]?.index() ?? -1))
        },
        "join": { (text, arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind("join", ["iterable"], required: 1, allowsNames: false)
            guard let iterable = bound[0], iterable.isIterable else {
                throw JinjaError(.type("can only join an iterable"))
            }
            var texts: [String] = []
            for (index, element) in try renderer.elements(of: iterable).enumerated() {
                guard let part = element.text else {
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
            guard text.utf8.starts(with: prefix.utf8) else { return .string(text) }
            return .string(Text.decode(text.utf8.dropFirst(prefix.utf8.count)))
        },
        "removesuffix": { (text, arguments, _) throws(JinjaError) in
            let bound = try arguments.bind("removesuffix", ["suffix"], required: 1, allowsNames: false)
            let suffix = try Self.text(bound[0], "removesuffix")
            guard text.utf8.reversed().starts(with: suffix.utf8.reversed()) else { return .string(text) }
            return .string(Text.decode(text.utf8.dropLast(suffix.utf8.count)))
        },
        "expandtabs": { (text, arguments, renderer) throws(JinjaError) in
            let size = try arguments.bind("expandtabs", ["tabsize"])[0]?.index() ?? 8
            var result = ""
            var column = 0
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\t":
                    guard size > 0 else { continue }
                    let width = size - column % size
                    try renderer.charge(bytes: result.utf8.count + width)
                    result += String(repeating: " ", count: width)
                    column += width
                case "\n", "\r":
                    result.unicodeScalars.append(scalar)
                    column = 0
                default:
                    result.unicodeScalars.append(scalar)
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
            var named: [(name: String, value: Value)] = []
            for (key, value) in zip(dict.keys, dict.values) { if let name = key.text { named.append((name, value)) } }
            return .string(try BraceFormat.format(text, CallArguments(named: named), renderer))
        },
        "isspace": all("isspace", Python.isSpace),
        "isalpha": all("isalpha", isAlpha),
        "isdigit": all("isdigit") { hasNumericType($0, [.decimal, .digit]) },
        "isdecimal": all("isdecimal") { hasNumericType($0, [.decimal]) },
        "isnumeric": all("isnumeric") { $0.properties.numericType != nil },
        "isalnum": all("isalnum") { isAlpha($0) || $0.properties.numericType != nil },
        "isascii": simple("isascii") { text in .bool(text.utf8.allSatisfy { $0 < 0x80 }) },
        "isprintable": simple("isprintable") { text in .bool(text.unicodeScalars.allSatisfy(Python.isPrintable)) },
        "isidentifier": simple("isidentifier") { text in
            .bool(
                text.unicodeScalars.first.map(Python.isIdentifierStart) ?? false
                    && text.unicodeScalars.allSatisfy(Python.isIdentifierPart))
        },
        "islower": simple("islower") { .bool(isLower($0)) },
        "isupper": simple("isupper") { .bool(isUpper($0)) },
        "istitle": simple("istitle") { .bool(isTitle($0)) },
    ]
}

extension Renderer {
    func join(_ texts: [String], separator: String) throws(JinjaError) -> String {
        var bytes = 0
        for text in texts { bytes += text.utf8.count + separator.utf8.count }
        try charge(bytes: bytes)
        return texts.joined(separator: separator)
    }

    /// `str.replace`, within the limits: the result can be much longer than the text.
    func replace(_ text: String, _ old: String, _ new: String, count: Int) throws(JinjaError) -> String {
        let places = text.utf8.count / max(1, old.utf8.count) + 1
        let (bytes, overflow) = places.multipliedReportingOverflow(by: new.utf8.count)
        if overflow || bytes > limits.outputBytes {
            // The bound is reached only if the old text is nearly everywhere: count before making anything.
            let found =
                old.isEmpty ? places : Text.split(text, old, maximum: count, fromEnd: false).count - 1
            let (made, overflow) = found.multipliedReportingOverflow(by: new.utf8.count)
            try charge(bytes: overflow ? Int.max : made)
        }
        try charge(bytes: text.utf8.count)
        let result = Text.replace(text, old, new, count: count)
        try charge(bytes: result.utf8.count)
        return result
    }
}
