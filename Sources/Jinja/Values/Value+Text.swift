extension Value {
    /// `str(value)`. `limit` bounds the bytes of the result.
    func str(limit: Int) throws(JinjaError) -> TrackedText {
        switch self {
        case .string(let text), .markup(let text): text
        case .undefined: ""
        default: try repr(limit: limit)
        }
    }

    /// `repr(value)`.
    func repr(limit: Int) throws(JinjaError) -> TrackedText {
        var writer = ReprWriter(limit: limit)
        try writer.write(self)
        return writer.output
    }
}

/// Writes values as Python does in `repr`.
struct ReprWriter {
    private(set) var output = TrackedText()
    private let limit: Int
    /// Namespaces can hold themselves.
    private var depth = 0

    init(limit: Int) { self.limit = limit }

    mutating func write(_ text: String) throws(JinjaError) { try write(TrackedText(text)) }

    private mutating func write(_ text: TrackedText) throws(JinjaError) {
        output += text
        guard output.byteCount <= limit else { throw JinjaError(.limit("a text of more than \(limit) bytes")) }
    }

    mutating func write(_ value: Value) throws(JinjaError) {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Value.maximumDepth else {
            throw JinjaError(.limit("values nested deeper than \(Value.maximumDepth)"))
        }
        switch value {
        case .undefined: try write("Undefined")
        case .none: try write("None")
        case .bool(let value): try write(value ? "True" : "False")
        case .int(let value): try write(String(value))
        case .big(let value):
            guard value.bitWidth < BigInt.maximumDigits * 10 / 3 else {
                throw JinjaError(.value("the number has more than \(BigInt.maximumDigits) digits"))
            }
            try write(value.description)
        case .double(let value): try write(Python.repr(value))
        case .string(let text): try write(TrackedText(Python.repr(text.string), isContent: text.hasContent))
        case .markup(let text):
            try write(TrackedText("Markup(\(Python.repr(text.string)))", isContent: text.hasContent))
        case .list(let list): try write(list.elements, between: "[", "]")
        case .tuple(let list): try write(list.elements, between: "(", list.elements.count == 1 ? ",)" : ")")
        case .dict(let dict): try write(dict)
        case .object(let object): try object.writeRepr(to: &self)
        }
    }

    mutating func write(_ elements: [Value], between open: String, _ close: String) throws(JinjaError) {
        try write(open)
        for (index, element) in elements.enumerated() {
            if index > 0 { try write(", ") }
            try write(element)
        }
        try write(close)
    }

    mutating func write(_ dict: Dict) throws(JinjaError) {
        try write("{")
        for index in 0..<dict.count {
            if index > 0 { try write(", ") }
            try write(dict.keys[index])
            try write(": ")
            try write(dict.values[index])
        }
        try write("}")
    }
}
