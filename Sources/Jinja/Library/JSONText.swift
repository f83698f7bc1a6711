/// Python's `json.dumps`.
struct JSONText {
    private let ensuresASCII: Bool
    private let indent: TrackedText?
    private let itemSeparator: TrackedText
    private let keySeparator: TrackedText
    private let sortsKeys: Bool
    private let renderer: Renderer
    private var output = TrackedText()
    private var charged = 0

    /// - Parameters:
    ///   - indent: What a level is indented by; nil for one line.
    ///   - separators: What stands between items, and between key and value.
    init(
        ensuresASCII: Bool, indent: TrackedText?, separators: (item: TrackedText, key: TrackedText)?, sortsKeys: Bool,
        _ renderer: Renderer
    ) {
        self.ensuresASCII = ensuresASCII
        self.indent = indent
        itemSeparator = separators?.item ?? (indent == nil ? ", " : ",")
        keySeparator = separators?.key ?? ": "
        self.sortsKeys = sortsKeys
        self.renderer = renderer
    }

    mutating func text(of value: Value) throws(JinjaError) -> TrackedText {
        try write(value, level: 0)
        return output
    }

    private mutating func write(_ value: Value, level: Int) throws(JinjaError) {
        if output.byteCount - charged > 4096 {
            try renderer.charge(bytes: output.byteCount - charged)
            charged = output.byteCount
            guard charged <= renderer.limits.outputBytes else {
                throw JinjaError(.limit("a text of more than \(renderer.limits.outputBytes) bytes"))
            }
        }
        try renderer.charge()
        switch value {
        case .string(let text), .markup(let text): write(text)
        case .none: output.append("null")
        case .bool(let value): output.append(value ? "true" : "false")
        case .int, .big: output += try value.repr(limit: renderer.limits.outputBytes)
        case .double(let value): output.append(Self.text(value))
        case .list(let list), .tuple(let list): try write(list.elements, level: level)
        case .object(let group as Group): try write(group.elements, level: level)
        case .dict(let dict): try write(dict, level: level)
        case .object, .undefined:
            throw JinjaError(.type("Object of type \(value.typeName) is not JSON serializable"))
        }
    }

    private static func text(_ value: Double) -> String {
        value.isNaN ? "NaN" : value.isInfinite ? (value < 0 ? "-Infinity" : "Infinity") : Python.repr(value)
    }

    private mutating func write(_ elements: [Value], level: Int) throws(JinjaError) {
        guard !elements.isEmpty else {
            output.append("[]")
            return
        }
        output.append("[")
        for (index, element) in elements.enumerated() {
            if index > 0 { output += itemSeparator }
            breakLine(level: level + 1)
            try write(element, level: level + 1)
        }
        breakLine(level: level)
        output.append("]")
    }

    private mutating func write(_ dict: Dict, level: Int) throws(JinjaError) {
        guard dict.count > 0 else {
            output.append("{}")
            return
        }
        var order = Array(0..<dict.count)
        if sortsKeys { order = try renderer.sorted(order, by: dict.keys) }
        output.append("{")
        for (position, index) in order.enumerated() {
            if position > 0 { output += itemSeparator }
            breakLine(level: level + 1)
            switch dict.keys[index] {
            case .string(let key), .markup(let key): write(key)
            case .none: write("null")
            case .bool(let key): write(key ? "true" : "false")
            case .double(let key): write(TrackedText(Self.text(key)))
            case .int(let key): write(TrackedText(String(key)))
            case .big(let key): write(TrackedText(key.description))
            case let key:
                throw JinjaError(.type("keys must be str, int, float, bool or None, not \(key.typeName)"))
            }
            output += keySeparator
            try write(dict.values[index], level: level + 1)
        }
        breakLine(level: level)
        output.append("}")
    }

    private mutating func breakLine(level: Int) {
        guard let indent else { return }
        output.append("\n")
        for _ in 0..<level { output += indent }
    }

    private mutating func write(_ text: TrackedText) {
        output += TrackedText(quoted(text.string), isContent: text.hasContent)
    }

    private func quoted(_ text: String) -> String {
        var output = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": output += "\\\""
            case "\\": output += "\\\\"
            case "\n": output += "\\n"
            case "\r": output += "\\r"
            case "\t": output += "\\t"
            case "\u{8}": output += "\\b"
            case "\u{c}": output += "\\f"
            case "\u{0}"..<" ": output += "\\u" + Python.hex(scalar.value, width: 4)
            default:
                if ensuresASCII, scalar.value >= 0x7f {
                    for unit in UTF16.encode(scalar)! { output += "\\u" + Python.hex(UInt32(unit), width: 4) }
                } else {
                    output.unicodeScalars.append(scalar)
                }
            }
        }
        output += "\""
        return output
    }

    /// `ascii(value)` of what is already a `repr`.
    static func escapingNonASCII(_ text: TrackedText) -> TrackedText {
        TrackedText(escapingNonASCII(text.string), isContent: text.hasContent)
    }

    private static func escapingNonASCII(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            let value = scalar.value
            result +=
                value < 0x80
                ? String(Character(scalar))
                : value <= 0xff
                    ? "\\x" + Python.hex(value, width: 2)
                    : value <= 0xffff ? "\\u" + Python.hex(value, width: 4) : "\\U" + Python.hex(value, width: 8)
        }
        return result
    }
}
