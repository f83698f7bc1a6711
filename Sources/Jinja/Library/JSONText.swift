/// Python's `json.dumps`.
struct JSONText {
    private let ensuresASCII: Bool
    private let indent: String?
    private let itemSeparator: String
    private let keySeparator: String
    private let sortsKeys: Bool
    private let renderer: Renderer
    private var output = ""
    private var charged = 0

    /// - Parameters:
    ///   - indent: What a level is indented by; nil for one line.
    ///   - separators: What stands between items, and between key and value.
    init(
        ensuresASCII: Bool, indent: String?, separators: (item: String, key: String)?, sortsKeys: Bool,
        _ renderer: Renderer
    ) {
        self.ensuresASCII = ensuresASCII
        self.indent = indent
        itemSeparator = separators?.item ?? (indent == nil ? ", " : ",")
        keySeparator = separators?.key ?? ": "
        self.sortsKeys = sortsKeys
        self.renderer = renderer
    }

    mutating func text(of value: Value) throws(JinjaError) -> String {
        try write(value, level: 0)
        return output
    }

    private mutating func write(_ value: Value, level: Int) throws(JinjaError) {
        if output.utf8.count - charged > 4096 {
            try renderer.charge(bytes: output.utf8.count)
            charged = output.utf8.count
        }
        try renderer.charge()
        switch value {
        case .string(let text), .markup(let text): write(text)
        case .none: output += "null"
        case .bool(let value): output += value ? "true" : "false"
        case .int, .big: output += try value.repr(limit: renderer.limits.outputBytes)
        case .double(let value): output += Self.text(value)
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
            output += "[]"
            return
        }
        output += "["
        for (index, element) in elements.enumerated() {
            if index > 0 { output += itemSeparator }
            breakLine(level: level + 1)
            try write(element, level: level + 1)
        }
        breakLine(level: level)
        output += "]"
    }

    private mutating func write(_ dict: Dict, level: Int) throws(JinjaError) {
        guard dict.count > 0 else {
            output += "{}"
            return
        }
        var order = Array(0..<dict.count)
        if sortsKeys { order = try renderer.sorted(order, by: dict.keys) }
        output += "{"
        for (position, index) in order.enumerated() {
            if position > 0 { output += itemSeparator }
            breakLine(level: level + 1)
            switch dict.keys[index] {
            case .string(let key), .markup(let key): write(key)
            case .none: write("null")
            case .bool(let key): write(key ? "true" : "false")
            case .double(let key): write(Self.text(key))
            case .int(let key): write(String(key))
            case .big(let key): write(key.description)
            case let key:
                throw JinjaError(.type("keys must be str, int, float, bool or None, not \(key.typeName)"))
            }
            output += keySeparator
            try write(dict.values[index], level: level + 1)
        }
        breakLine(level: level)
        output += "}"
    }

    private mutating func breakLine(level: Int) {
        guard let indent else { return }
        output += "\n"
        for _ in 0..<level { output += indent }
    }

    private mutating func write(_ text: String) {
        output += "\""
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
    }

    /// `ascii(value)` of what is already a `repr`.
    static func escapingNonASCII(_ text: String) -> String {
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
