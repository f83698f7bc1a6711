internal import Foundation

/// The filters of jinja2, and the `tojson` of `transformers`.
enum Filters {
    typealias Filter = @Sendable (Value, CallArguments, Renderer) throws(JinjaError) -> Value

    /// A filter with the arguments bound to its parameters.
    private static func bound(
        _ name: String, _ parameters: [String] = [], required: Int = 0,
        _ body: @escaping @Sendable (Value, [Value?], Renderer) throws(JinjaError) -> Value
    ) -> (String, Filter) {
        (
            name,
            { (value, arguments, renderer) throws(JinjaError) in
                try body(value, try arguments.bind(name, parameters, required: required), renderer)
            }
        )
    }

    static let table: [String: Filter] = {
        var table = Dictionary(uniqueKeysWithValues: texts + numbers + sequences + selections)
        for (alias, name) in ["d": "default", "e": "escape", "count": "length"] { table[alias] = table[name] }
        return table
    }()

    // MARK: - Texts

    /// The text of a value, marked as safe if the value is.
    private static func like(_ value: Value, _ text: TrackedText) -> Value {
        if case .markup = value { .markup(text) } else { .string(text) }
    }

    private static func mapping(_ name: String, _ body: @escaping @Sendable (String) -> String) -> (String, Filter) {
        bound(name) { (value, _, renderer) throws(JinjaError) in
            let text = try renderer.text(value)
            try renderer.charge(bytes: text.byteCount)
            return like(value, try text.map(body))
        }
    }

    private static let texts: [(String, Filter)] = [
        mapping("upper", Text.upper),
        mapping("lower", Text.lower),
        mapping("capitalize", Text.capitalize),
        mapping("title", title),
        bound("string") { (value, _, renderer) throws(JinjaError) in like(value, try renderer.text(value)) },
        bound("safe") { (value, _, renderer) throws(JinjaError) in .markup(try renderer.text(value)) },
        bound("escape") { (value, _, renderer) throws(JinjaError) in
            if case .markup = value { return value }
            return .markup(try HTML.escape(renderer.text(value), renderer))
        },
        bound("forceescape") { (value, _, renderer) throws(JinjaError) in
            .markup(try HTML.escape(renderer.text(value), renderer))
        },
        bound("striptags") { (value, _, renderer) throws(JinjaError) in
            let text = try renderer.text(value)
            try renderer.charge(bytes: text.byteCount)
            return .string(HTML.stripTags(text))
        },
        bound("trim", ["chars"]) { (value, arguments, renderer) throws(JinjaError) in
            var characters: String?
            if let given = arguments[0], !given.isNone {
                guard let text = given.text else { throw JinjaError(.type("strip arg must be None or str")) }
                characters = text
            }
            let text = try renderer.text(value)
            try renderer.charge(bytes: text.byteCount)
            return like(value, Text.strip(text, characters))
        },
        bound("replace", ["old", "new", "count"], required: 2) { (value, arguments, renderer) throws(JinjaError) in
            var count = -1
            if let given = arguments[2], !given.isNone { count = try given.index() }
            return .string(
                try renderer.replace(
                    try renderer.text(value), try renderer.text(arguments[0] ?? .none).string,
                    try renderer.text(arguments[1] ?? .none), count: count))
        },
        (
            "format",
            { (value, arguments, renderer) throws(JinjaError) in
                guard arguments.positional.isEmpty || arguments.named.isEmpty else {
                    throw JinjaError(.type("can't handle positional and keyword arguments at the same time"))
                }
                let values: Value =
                    arguments.named.isEmpty
                    ? try .tuple(arguments.positional)
                    : .dict(try Dict(arguments.named.map { (.string($0.name), $0.value) }))
                return try renderer.binary(.remainder, like(value, try renderer.text(value)), values)
            }
        ),
        bound("center", ["width"]) { (value, arguments, renderer) throws(JinjaError) in
            try renderer.call(
                try renderer.attribute("center", of: like(value, try renderer.text(value))),
                CallArguments([arguments[0] ?? .int(80)]))
        },
        bound("indent", ["width", "first", "blank"]) { (value, arguments, renderer) throws(JinjaError) in
            guard let text = value.tracked else {
                if case .undefined(let undefined) = value { throw undefined.error }
                throw JinjaError(.type("can only indent a str, not \(value.typeName)"))
            }
            let width = arguments[0] ?? .int(4)
            let margin: TrackedText
            if let text = width.tracked {
                margin = text
            } else {
                let count = max(0, try width.index())
                try renderer.charge(bytes: count)
                margin = TrackedText(String(repeating: " ", count: count))
            }
            let lines = Text.splitLines(text + "\n")
            let (margins, overflow) = lines.count.multipliedReportingOverflow(by: margin.byteCount)
            try renderer.charge(
                bytes: overflow ? Int.max : text.byteCount.addingReportingOverflow(margins).partialValue)
            let blank = arguments[2]?.isTrue ?? false
            var result = arguments[1]?.isTrue ?? false ? margin : ""
            for (index, line) in lines.enumerated() {
                if index > 0 {
                    result.append("\n")
                    if blank || !line.isEmpty { result += margin }
                }
                result += line
            }
            return like(value, result)
        },
        bound("truncate", ["length", "killwords", "end", "leeway"]) { (value, arguments, renderer) throws(JinjaError) in
            guard let text = value.tracked else {
                if let length = value.length, length <= 260 { return value }
                throw JinjaError(.type("object of type '\(value.typeName)' cannot be truncated"))
            }
            let length = try arguments[0]?.index() ?? 255
            let end = try arguments[2].map { argument throws(JinjaError) in try renderer.text(argument) } ?? "..."
            var leeway = 5
            if let given = arguments[3], !given.isNone { leeway = try given.index() }
            let endCount = end.string.unicodeScalars.count
            guard length >= endCount else {
                throw JinjaError(.value("expected length >= \(endCount), got \(length)"))
            }
            guard leeway >= 0 else { throw JinjaError(.value("expected leeway >= 0, got \(leeway)")) }
            try renderer.charge(bytes: text.byteCount)
            let scalars = text.string.unicodeScalars
            guard scalars.count > length + leeway else { return value }
            let cut = text.slice(scalars.prefix(length - endCount))
            if arguments[1]?.isTrue ?? false { return like(value, cut + end) }
            return like(value, (Text.split(cut, " ", maximum: 1, fromEnd: true).first ?? "") + end)
        },
        bound("wordcount") { (value, _, renderer) throws(JinjaError) in
            var (count, isInWord) = (0, false)
            for scalar in try renderer.text(value).string.unicodeScalars {
                let isPart = Python.isWordPart(scalar)
                if isPart, !isInWord { count += 1 }
                isInWord = isPart
            }
            return .int(count)
        },
        bound("urlencode") { (value, _, renderer) throws(JinjaError) in
            if value.text != nil || !value.isIterable {
                return .string(percentEncoded(try renderer.text(value), isQuery: false))
            }
            var pairs = value
            if case .dict(let dict) = value { pairs = .object(DictView(dict, .items)) }
            var parts: [TrackedText] = []
            for pair in try renderer.elements(of: pairs) {
                let both = try renderer.elements(of: pair)
                guard both.count == 2 else { throw JinjaError(.value("urlencode takes pairs")) }
                parts.append(
                    percentEncoded(try renderer.text(both[0]), isQuery: true) + "="
                        + percentEncoded(try renderer.text(both[1]), isQuery: true))
            }
            return .string(try renderer.join(parts, separator: "&"))
        },
        bound("tojson", ["ensure_ascii", "indent", "separators", "sort_keys"]) {
            (value, arguments, renderer) throws(JinjaError) in
            var indent: TrackedText?
            if let given = arguments[1], !given.isNone {
                if let text = given.tracked {
                    indent = text
                } else {
                    let count = max(0, try given.index("indent must be an int or a str"))
                    try renderer.charge(bytes: count)
                    indent = TrackedText(String(repeating: " ", count: count))
                }
            }
            var separators: (item: TrackedText, key: TrackedText)?
            if let given = arguments[2], !given.isNone {
                let pair = try renderer.elements(of: given)
                guard pair.count == 2, let item = pair[0].tracked, let key = pair[1].tracked else {
                    throw JinjaError(.type("separators must be two texts"))
                }
                separators = (item, key)
            }
            var json = JSONText(
                ensuresASCII: arguments[0]?.isTrue ?? false, indent: indent, separators: separators,
                sortsKeys: arguments[3]?.isTrue ?? false, renderer)
            return .string(try json.text(of: value))
        },
    ]

    /// The words of a text begin with capitals; they begin after blanks, hyphens and opening brackets.
    private static func title(_ text: String) -> String {
        var result = ""
        var word = String.UnicodeScalarView()
        func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
            Python.isSpace(scalar) || "-({[<".unicodeScalars.contains(scalar)
        }
        func finish() {
            guard let first = word.first else { return }
            result += Text.upper(String(Character(first))) + Text.lower(String(Substring(word.dropFirst())))
            word.removeAll()
        }
        for scalar in text.unicodeScalars {
            if isSeparator(scalar) {
                finish()
                result.unicodeScalars.append(scalar)
            } else {
                word.append(scalar)
            }
        }
        finish()
        return result
    }

    private static func percentEncoded(_ text: TrackedText, isQuery: Bool) -> TrackedText {
        TrackedText(percentEncoded(text.string, isQuery: isQuery), isContent: text.hasContent)
    }

    private static func percentEncoded(_ text: String, isQuery: Bool) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e:
                result.unicodeScalars.append(Unicode.Scalar(byte))
            case 0x2f where !isQuery: result += "/"
            case 0x20 where isQuery: result += "+"
            default: result += "%" + Python.hex(UInt32(byte), width: 2).uppercased()
            }
        }
        return result
    }

    // MARK: - Numbers

    private static let numbers: [(String, Filter)] = [
        bound("abs") { (value, _, _) throws(JinjaError) in
            guard let number = value.number else {
                throw JinjaError(.type("bad operand type for abs(): '\(value.typeName)'"))
            }
            switch number {
            case .int(let number): return number < 0 ? try Value.int(number).signed(negative: true) : .int(number)
            case .big(let number): return .integer(number.isNegative ? -number : number)
            case .double(let number): return .double(number.magnitude)
            }
        },
        bound("int", ["default", "base"]) { (value, arguments, _) throws(JinjaError) in
            let fallback = arguments[0] ?? .int(0)
            if case .undefined(let undefined) = value { throw undefined.error }
            if let text = value.text {
                if let result = NumberText.integer(text, base: try arguments[1]?.index() ?? 10) { return result }
                guard let double = NumberText.double(text), let whole = BigInt(double) else { return fallback }
                return .integer(whole)
            }
            switch value.number {
            case .int(let number): return .int(number)
            case .big(let number): return .big(number)
            case .double(let number):
                guard let whole = BigInt(number) else {
                    if number.isNaN { return fallback }
                    throw JinjaError(.value("cannot convert float infinity to integer"))
                }
                return .integer(whole)
            case nil: return fallback
            }
        },
        bound("float", ["default"]) { (value, arguments, _) throws(JinjaError) in
            if case .undefined(let undefined) = value { throw undefined.error }
            let result = value.number?.doubleValue ?? value.text.flatMap(NumberText.double)
            return result.map(Value.double) ?? arguments[0] ?? .double(0)
        },
        bound("round", ["precision", "method"]) { (value, arguments, _) throws(JinjaError) in
            let precision = try arguments[0]?.index() ?? 0
            let method = arguments[1]?.text ?? (arguments[1] == nil ? "common" : "")
            guard ["common", "ceil", "floor"].contains(method) else {
                throw JinjaError(.value("method must be common, ceil or floor"))
            }
            guard let number = value.number else {
                throw JinjaError(.type("type \(value.typeName) doesn't define __round__ method"))
            }
            if method == "common" { return try rounded(number, precision) }
            let factor = try Value.arithmetic(.power, .int(10), .int(precision))
            let scaled = try Value.arithmetic(.multiply, value, factor)
            var whole = scaled
            if case .double(let double) = scaled {
                guard let integer = BigInt(double.rounded(method == "ceil" ? .up : .down)) else {
                    throw JinjaError(.value("cannot convert float to integer"))
                }
                whole = .integer(integer)
            }
            return try Value.arithmetic(.divide, whole, factor)
        },
        bound("filesizeformat", ["binary"]) { (value, arguments, _) throws(JinjaError) in
            guard let bytes = value.number?.doubleValue ?? value.text.flatMap(NumberText.double) else {
                throw JinjaError(.type("could not convert to float"))
            }
            let isBinary = arguments[0]?.isTrue ?? false
            let base: Double = isBinary ? 1024 : 1000
            if bytes == 1 { return .plain("1 Byte") }
            if bytes < base {
                guard let whole = BigInt(bytes) else {
                    throw JinjaError(.value("cannot convert float infinity to integer"))
                }
                return .plain("\(whole.text(radix: 10)) Bytes")
            }
            var unit = base
            for (index, letter) in ["k", "M", "G", "T", "P", "E", "Z", "Y"].enumerated() {
                unit *= base
                guard bytes < unit || index == 7 else { continue }
                let amount = NumberFormat.text(base * bytes / unit, style: "f", precision: 1)
                return .plain("\(amount) \(isBinary ? letter.uppercased() + "iB" : letter + "B")")
            }
            return value
        },
    ]

    /// Python's `round`: half to even, decided on the exact value.
    private static func rounded(_ number: Value.Number, _ precision: Int) throws(JinjaError) -> Value {
        if let integer = number.bigValue {
            guard precision < 0 else { return .integer(integer) }
            guard precision > -BigInt.maximumDigits else { return .int(0) }
            let unit = BigInt(10).power(-precision)
            let (quotient, rest) = integer.floorDivided(by: unit)
            let double = rest + rest
            let isUp = double > unit || double == unit && quotient.isOdd
            return .integer((isUp ? quotient + BigInt(1) : quotient) * unit)
        }
        let value = number.doubleValue
        guard value.isFinite, precision <= 322 else { return .double(value) }
        if precision == 0 { return .double(value.rounded(.toNearestOrEven)) }
        if precision > 0 {
            return .double(Double(NumberFormat.text(value, style: "f", precision: precision)) ?? value)
        }
        guard precision > -309 else { return .double(Double(signOf: value, magnitudeOf: 0)) }
        let unit = pow(10, Double(-precision))
        return .double((value / unit).rounded(.toNearestOrEven) * unit)
    }

    // MARK: - Sequences

    private static let sequences: [(String, Filter)] = [
        bound("length") { (value, _, renderer) throws(JinjaError) in
            if let text = value.text { try renderer.charge(1 + text.utf8.count / 64) }
            guard let length = value.length else {
                throw JinjaError(.type("object of type '\(value.typeName)' has no len()"))
            }
            return .int(length)
        },
        bound("default", ["default_value", "boolean"]) { (value, arguments, _) throws(JinjaError) in
            value.isUndefined || (arguments[1]?.isTrue ?? false && !value.isTrue)
                ? arguments[0] ?? .emptyText : value
        },
        bound("list") { (value, _, renderer) throws(JinjaError) in try .list(try renderer.elements(of: value)) },
        bound("first") { (value, _, _) throws(JinjaError) in
            try value.iterator().next() ?? .undefined(Undefined("No first item, sequence was empty."))
        },
        bound("last") { (value, _, renderer) throws(JinjaError) in
            guard let elements = try reversible(value, renderer) else {
                throw JinjaError(.type("'\(value.typeName)' object is not reversible"))
            }
            return elements.last ?? .undefined(Undefined("No last item, sequence was empty."))
        },
        bound("reverse") { (value, _, renderer) throws(JinjaError) in
            if let text = value.tracked {
                try renderer.charge(bytes: text.byteCount)
                return like(value, TrackedText(Array(text.scalars).reversed()))
            }
            if let elements = try reversible(value, renderer) {
                let iterator = ValueIterator(elements.reversed())
                return .object(try Generator(over: value) { () throws(JinjaError) in try iterator.next() })
            }
            guard value.isIterable else { throw JinjaError(.type("argument must be iterable")) }
            return try .list(try renderer.elements(of: value).reversed())
        },
        bound("join", ["d", "attribute"]) { (value, arguments, renderer) throws(JinjaError) in
            let separator = try arguments[0].map { value throws(JinjaError) in try renderer.text(value) } ?? ""
            var texts: [TrackedText] = []
            let key = AttributePath(arguments[1])
            for element in try renderer.elements(of: value) {
                texts.append(try renderer.text(try key.value(in: element, renderer)))
            }
            return .string(try renderer.join(texts, separator: separator))
        },
        bound("items") { (value, _, renderer) throws(JinjaError) in
            let source: ValueIterator
            switch value {
            case .undefined: source = ValueIterator([])
            case .dict(let dict): source = ValueIterator(try DictView(dict, .items).elements())
            default:
                source = ValueIterator { () throws(JinjaError) in
                    throw JinjaError(.type("Can only get item pairs from a mapping."))
                }
            }
            return .object(try Generator(over: value) { () throws(JinjaError) in try source.next() })
        },
        bound("dictsort", ["case_sensitive", "by", "reverse"]) { (value, arguments, renderer) throws(JinjaError) in
            let by = arguments[1]?.text ?? (arguments[1] == nil ? "key" : "")
            guard by == "key" || by == "value" else {
                throw JinjaError(.value("You can only sort by either \"key\" or \"value\""))
            }
            guard case .dict(let dict) = value else {
                if case .undefined(let undefined) = value { throw undefined.error }
                throw JinjaError(.type("'\(value.typeName)' object has no attribute 'items'"))
            }
            let isExact = arguments[0]?.isTrue ?? false
            let keys = (by == "key" ? dict.keys : dict.values).map { isExact ? $0 : ignoringCase($0) }
            return try .list(
                try renderer.sorted(
                    try DictView(dict, .items).elements(), by: keys, reverse: arguments[2]?.isTrue ?? false))
        },
        bound("sort", ["reverse", "case_sensitive", "attribute"]) { (value, arguments, renderer) throws(JinjaError) in
            let elements = try renderer.elements(of: value)
            let isExact = arguments[1]?.isTrue ?? false
            // Several attributes in one text are sorted by one after the other.
            let paths: [AttributePath] =
                arguments[2]?.tracked.map { text in
                    Text.split(text, ",", maximum: -1, fromEnd: false).map { AttributePath(.string($0)) }
                } ?? [AttributePath(arguments[2])]
            var keys: [Value] = []
            for element in elements {
                var key: [Value] = []
                for path in paths {
                    let part = try path.value(in: element, renderer)
                    key.append(isExact ? part : ignoringCase(part))
                }
                keys.append(try .list(key))
            }
            return try .list(try renderer.sorted(elements, by: keys, reverse: arguments[0]?.isTrue ?? false))
        },
        bound("unique", ["case_sensitive", "attribute"]) { (value, arguments, renderer) throws(JinjaError) in
            let isExact = arguments[0]?.isTrue ?? false
            let path = AttributePath(arguments[1])
            let source = try value.iterator()
            var seen: Set<Key> = []
            return .object(
                try Generator(over: value) { () throws(JinjaError) -> Value? in
                    while let element = try source.next() {
                        try renderer.charge()
                        let key = try path.value(in: element, renderer)
                        try renderer.charge(key.size)
                        if seen.insert(try Key(isExact ? key : ignoringCase(key))).inserted { return element }
                    }
                    return nil
                })
        },
        extremum("min", isMaximum: false),
        extremum("max", isMaximum: true),
        bound("sum", ["attribute", "start"]) { (value, arguments, renderer) throws(JinjaError) in
            var total = arguments[1] ?? .int(0)
            if total.text != nil { throw JinjaError(.type("sum() can't sum strings [use ''.join(seq) instead]")) }
            let path = AttributePath(arguments[0])
            for element in try renderer.elements(of: value) {
                total = try renderer.binary(.add, total, try path.value(in: element, renderer))
            }
            return total
        },
        bound("groupby", ["attribute", "default", "case_sensitive"], required: 1) {
            (value, arguments, renderer) throws(JinjaError) in
            let path = AttributePath(arguments[0], default: arguments[1])
            let isExact = arguments[2]?.isTrue ?? false
            let elements = try renderer.elements(of: value)
            var keys: [Value] = []
            for element in elements {
                let key = try path.value(in: element, renderer)
                keys.append(isExact ? key : ignoringCase(key))
            }
            var groups: [Value] = []
            var (group, groupKey): ([Value], Value?) = ([], nil)
            func finish() throws(JinjaError) {
                guard let first = group.first else { return }
                groups.append(.object(try Group(try path.value(in: first, renderer), group)))
            }
            for index in try renderer.sorted(Array(elements.indices), by: keys) {
                if let current = groupKey, try renderer.isIdenticalOrEqual(current, to: keys[index]) {
                    group.append(elements[index])
                } else {
                    try finish()
                    (group, groupKey) = ([elements[index]], keys[index])
                }
            }
            try finish()
            return try .list(groups)
        },
        bound("batch", ["linecount", "fill_with"], required: 1) { (value, arguments, renderer) throws(JinjaError) in
            let size = arguments[0] ?? .none
            let source = try value.iterator()
            var pending: Value?
            return .object(
                try Generator(over: value) { () throws(JinjaError) -> Value? in
                    var batch: [Value] = []
                    if let first = pending { batch = [first] }
                    pending = nil
                    while let element = try source.next() {
                        try renderer.charge()
                        if Value.int(batch.count).isEqual(to: size), !batch.isEmpty || size.isEqual(to: .int(0)) {
                            pending = element
                            return try .list(batch)
                        }
                        batch.append(element)
                    }
                    guard !batch.isEmpty else { return nil }
                    if let fill = arguments[1], !fill.isNone {
                        let missing = max(0, try size.index() - batch.count)
                        try renderer.charge(elements: missing)
                        batch += Array(repeating: fill, count: missing)
                    }
                    return try .list(batch)
                })
        },
        bound("slice", ["slices", "fill_with"], required: 1) { (value, arguments, renderer) throws(JinjaError) in
            let elements = try renderer.elements(of: value)
            let slices = try arguments[0]?.index() ?? 0
            guard slices != 0 else { throw JinjaError(.value("integer division or modulo by zero")) }
            guard slices > 0 else { return .object(try Generator(over: value) { () throws(JinjaError) in nil }) }
            let (size, extra) = elements.count.quotientAndRemainder(dividingBy: slices)
            var (number, start) = (0, 0)
            return .object(
                try Generator(over: value) { () throws(JinjaError) -> Value? in
                    guard number < slices else { return nil }
                    try renderer.charge()
                    let end = start + size + (number < extra ? 1 : 0)
                    var part = Array(elements[start..<end])
                    if let fill = arguments[1], !fill.isNone, number >= extra { part.append(fill) }
                    (number, start) = (number + 1, end)
                    return try .list(part)
                })
        },
    ]

    static func ignoringCase(_ value: Value) -> Value {
        // Only compared, never written.
        value.text.map { .plain(Text.lower($0)) } ?? value
    }

    /// The elements of what Python can walk backwards; nil for what it cannot.
    private static func reversible(_ value: Value, _ renderer: Renderer) throws(JinjaError) -> [Value]? {
        switch value {
        case .object(let object) where !(object is RangeObject || object is DictView || object is Group): nil
        case .none, .bool, .int, .big, .double: nil
        default: try renderer.elements(of: value)
        }
    }

    private static func extremum(_ name: String, isMaximum: Bool) -> (String, Filter) {
        bound(name, ["case_sensitive", "attribute"]) { (value, arguments, renderer) throws(JinjaError) in
            let path = AttributePath(arguments[1])
            let isExact = arguments[0]?.isTrue ?? false
            var best: (element: Value, key: Value)?
            for element in try renderer.elements(of: value) {
                let found = try path.value(in: element, renderer)
                let key = isExact ? found : ignoringCase(found)
                guard let current = best else {
                    best = (element, key)
                    continue
                }
                let order = try renderer.order(key, current.key, symbol: isMaximum ? ">" : "<")
                if order == (isMaximum ? .greater : .less) { best = (element, key) }
            }
            return best?.element ?? .undefined(Undefined("No aggregated item, sequence was empty."))
        }
    }
}

/// Where a filter looks in each element: `"a.b"`, a number, or the element itself.
struct AttributePath {
    private let parts: [Value]
    private let fallback: Value?

    /// - Parameter default: What stands in for a value that is not there.
    init(_ attribute: Value?, default fallback: Value? = nil) {
        self.fallback = fallback.flatMap { $0.isNone ? nil : $0 }
        switch attribute {
        case nil, .none?: parts = []
        case .string(let text)?, .markup(let text)?:
            parts = Text.split(text, ".", maximum: -1, fromEnd: false).map { part in
                let isNumber = !part.isEmpty && part.string.utf8.allSatisfy { (0x30...0x39).contains($0) }
                return isNumber ? Int(part.string).map(Value.int) ?? .string(part) : .string(part)
            }
        case let value?: parts = [value]
        }
    }

    func value(in element: Value, _ renderer: Renderer) throws(JinjaError) -> Value {
        var value = element
        for part in parts {
            value = try renderer.item(part, of: value)
            if let fallback, value.isUndefined { value = fallback }
        }
        return value
    }
}

/// Numbers as Python's `int` and `float` read them.
enum NumberText {
    /// - Parameter base: 2 to 36, or 0 to read it from the prefix.
    static func integer(_ text: String, base: Int) -> Value? {
        var digits = Text.strip(TrackedText(text), nil).string
        guard base == 0 || (2...36).contains(base) else { return nil }
        var isNegative = false
        if let sign = digits.unicodeScalars.first, sign == "-" || sign == "+" {
            isNegative = sign == "-"
            digits = String(digits.unicodeScalars.dropFirst())
        }
        var radix = base == 0 ? 10 : base
        for (prefix, value) in ["0x": 16, "0o": 8, "0b": 2]
        where (base == value || base == 0) && digits.lowercased().hasPrefix(prefix) {
            radix = value
            digits = String(digits.dropFirst(2))
            if digits.hasPrefix("_") { digits.removeFirst() }
        }
        guard let plain = withoutUnderscores(digits), plain.utf8.count <= BigInt.maximumDigits,
            plain.utf8.first != 0x2b, plain.utf8.first != 0x2d, let value = BigInt(plain, radix: radix)
        else { return nil }
        return .integer(isNegative ? -value : value)
    }

    static func double(_ text: String) -> Double? {
        let stripped = Text.strip(TrackedText(text), nil).string
        let unsigned = stripped.drop { $0 == "-" || $0 == "+" }.lowercased()
        guard stripped.utf8.count - unsigned.utf8.count <= 1 else { return nil }
        let isNegative = stripped.hasPrefix("-")
        switch unsigned {
        case "inf", "infinity": return isNegative ? -.infinity : .infinity
        case "nan": return .nan
        default: break
        }
        guard let plain = withoutUnderscores(unsigned), plain.utf8.count < 10_000,
            plain.utf8.allSatisfy({ (0x30...0x39).contains($0) || [0x2e, 0x65, 0x2b, 0x2d].contains($0) })
        else { return nil }
        // Swift wants digits on both sides of the point.
        var padded = plain.hasPrefix(".") ? "0" + plain : plain
        if padded.hasSuffix(".") { padded += "0" }
        padded = padded.replacing(".e", with: ".0e")
        guard plain.contains(where: \.isNumber), plain != ".", !plain.hasPrefix("e"), !plain.hasPrefix(".e") else {
            return nil
        }
        return Double(padded).map { isNegative ? -$0 : $0 }
    }

    /// Underscores may stand between two digits, and nowhere else.
    private static func withoutUnderscores(_ text: String) -> String? {
        guard text.utf8.contains(0x5f) else { return text }
        guard !text.hasPrefix("_"), !text.hasSuffix("_"), !text.contains("__") else { return nil }
        return text.filter { $0 != "_" }
    }
}
