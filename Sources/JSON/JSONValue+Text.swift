extension JSONValue {
    /// The value as JSON text, members in their order.
    ///
    /// - Parameters:
    ///   - indent: Spaces per level; nil for one line.
    ///   - spaced: Whether a space follows `,` and `:` on one line, as most models write it.
    ///   - sortsKeys: Whether members come sorted by the scalars of their keys.
    package func text(indent: Int? = nil, spaced: Bool = false, sortsKeys: Bool = false) -> String {
        var writer = JSONWriter(indent: indent, spaced: spaced, sortsKeys: sortsKeys)
        writer.write(self, level: 0)
        return writer.output
    }

    /// The value's text between quotation marks, escaped where RFC 8259 requires it and nowhere else.
    package static func quoted(_ string: String) -> String {
        var writer = JSONWriter(indent: nil, spaced: false, sortsKeys: false)
        writer.write(string)
        return writer.output
    }
}

private struct JSONWriter {
    let indent: Int?
    let spaced: Bool
    let sortsKeys: Bool
    var output = ""

    mutating func write(_ value: JSONValue, level: Int) {
        switch value {
        case .null: output += "null"
        case .bool(let value): output += value ? "true" : "false"
        case .number(let number): output += number.text
        case .string(let string): write(string)
        case .array(let array):
            writeList(array, "[", "]", level: level) { writer, element in writer.write(element, level: level + 1) }
        case .object(let object):
            let members = Array(object)
            let ordered = sortsKeys ? members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) } : members
            writeList(ordered, "{", "}", level: level) { writer, member in
                writer.write(member.key)
                writer.output += writer.indent != nil || writer.spaced ? ": " : ":"
                writer.write(member.value, level: level + 1)
            }
        }
    }

    private mutating func writeList<Element>(
        _ elements: [Element], _ open: String, _ close: String, level: Int,
        _ writeElement: (inout JSONWriter, Element) -> Void
    ) {
        output += open
        for (index, element) in elements.enumerated() {
            if index > 0 { output += spaced && indent == nil ? ", " : "," }
            breakLine(level: level + 1)
            writeElement(&self, element)
        }
        if !elements.isEmpty { breakLine(level: level) }
        output += close
    }

    private mutating func breakLine(level: Int) {
        guard let indent else { return }
        output += "\n" + String(repeating: " ", count: indent * level)
    }

    mutating func write(_ string: String) {
        output += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": output += "\\\""
            case "\\": output += "\\\\"
            case "\n": output += "\\n"
            case "\r": output += "\\r"
            case "\t": output += "\\t"
            case "\u{8}": output += "\\b"
            case "\u{c}": output += "\\f"
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: output.unicodeScalars.append(scalar)
            }
        }
        output += "\""
    }
}
