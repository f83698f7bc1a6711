/// The filters that apply another filter or a test to each element.
extension Filters {
    static let selections: [(String, Filter)] = [
        ("map", map),
        ("select", selection(looksUpAttribute: false, keeps: true)),
        ("reject", selection(looksUpAttribute: false, keeps: false)),
        ("selectattr", selection(looksUpAttribute: true, keeps: true)),
        ("rejectattr", selection(looksUpAttribute: true, keeps: false)),
        (
            "attr",
            { (value, arguments, renderer) throws(JinjaError) in
                guard let name = try arguments.bind("attr", ["name"], required: 1)[0]?.text else {
                    throw JinjaError(.type("attribute name must be string"))
                }
                if case .undefined(let undefined) = value { throw undefined.error }
                return try Attributes.attribute(name, of: value, renderer)
                    ?? .undefined(Undefined(.plain(name), of: value))
            }
        ),
        (
            "xmlattr",
            { (value, arguments, renderer) throws(JinjaError) in
                let hasSpace = try arguments.bind("xmlattr", ["autospace"])[0]?.isTrue ?? true
                guard case .dict(let dict) = value else {
                    throw JinjaError(.type("'\(value.typeName)' object has no attribute 'items'"))
                }
                var parts: [TrackedText] = []
                for (key, value) in zip(dict.keys, dict.values) where !value.isNone && !value.isUndefined {
                    guard let name = key.text,
                        !name.utf8.contains(where: { [0x20, 0x9, 0xa, 0xb, 0xc, 0xd, 0x2f, 0x3e, 0x3d].contains($0) })
                    else { throw JinjaError(.value("Invalid character in attribute name")) }
                    let shown = value.text == nil ? Value.string(try renderer.text(value)) : value
                    parts.append(try HTML.escape(key, renderer) + "=\"" + HTML.escape(shown, renderer) + "\"")
                }
                let text = try renderer.join(parts, separator: " ")
                return .string(hasSpace && !text.isEmpty ? " " + text : text)
            }
        ),
    ]

    private static let map: Filter = { (value, arguments, renderer) throws(JinjaError) in
        try generator(over: value) { () throws(JinjaError) in
            let apply: (Value) throws(JinjaError) -> Value
            if arguments.positional.isEmpty,
                let attribute = arguments.named.first(where: { $0.name.string == "attribute" })
            {
                if let extra = arguments.named.map(\.name.string).first(where: { $0 != "attribute" && $0 != "default" })
                {
                    throw JinjaError(.type("Unexpected keyword argument '\(extra)'"))
                }
                let path = AttributePath(
                    attribute.value, default: arguments.named.first { $0.name.string == "default" }?.value)
                apply = { element throws(JinjaError) in try path.value(in: element, renderer) }
            } else {
                guard let first = arguments.positional.first else {
                    throw JinjaError(.type("map requires a filter argument"))
                }
                let name = try renderer.text(first).string
                guard let filter = table[name] else { throw JinjaError(.unknownFilter(name: name)) }
                let rest = CallArguments(Array(arguments.positional.dropFirst()), named: arguments.named)
                apply = { element throws(JinjaError) in try filter(element, rest, renderer) }
            }
            let source = try value.iterator()
            return ValueIterator { () throws(JinjaError) -> Value? in
                guard let element = try source.next() else { return nil }
                try renderer.charge()
                return try apply(element)
            }
        }
    }

    private static func selection(looksUpAttribute: Bool, keeps: Bool) -> Filter {
        { (value, arguments, renderer) throws(JinjaError) in
            try generator(over: value) { () throws(JinjaError) in
                var positional = arguments.positional
                var path = AttributePath(nil)
                if looksUpAttribute {
                    guard let attribute = positional.first else {
                        throw JinjaError(.type("Missing parameter for attribute name"))
                    }
                    path = AttributePath(attribute)
                    positional.removeFirst()
                }
                var test: Tests.Test?
                if let first = positional.first {
                    let name = try renderer.text(first).string
                    guard let found = Tests.table[name] else { throw JinjaError(.unknownTest(name: name)) }
                    test = found
                    positional.removeFirst()
                }
                let rest = CallArguments(positional, named: arguments.named)
                let source = try value.iterator()
                return ValueIterator { () throws(JinjaError) -> Value? in
                    while let element = try source.next() {
                        try renderer.charge()
                        let subject = try path.value(in: element, renderer)
                        let answer = try test.map { test throws(JinjaError) in try test(subject, rest, renderer) }
                        if (answer ?? subject.isTrue) == keeps { return element }
                    }
                    return nil
                }
            }
        }
    }

    /// Values that are looked for when the first of them is asked for, as Python's generators do; none when `value` is
    /// empty.
    private static func generator(
        over value: Value, _ start: @escaping () throws(JinjaError) -> ValueIterator
    ) throws(JinjaError) -> Value {
        var source: ValueIterator?
        return .object(
            try Generator(over: value) { () throws(JinjaError) -> Value? in
                if let source { return try source.next() }
                guard value.isTrue else { return nil }
                let iterator = try start()
                source = iterator
                return try iterator.next()
            })
    }
}

extension Renderer {
    /// The elements in the order of their keys; equal keys keep theirs.
    func sorted<Element>(
        _ elements: [Element], by keys: [Value], reverse: Bool = false
    ) throws(JinjaError) -> [Element] {
        try charge(elements: elements.count * 8)
        var order = Array(elements.indices)
        var buffer = order
        // Merge sort: Swift's own may not throw a typed error, and promises no order for equal keys.
        var width = 1
        while width < order.count {
            try charge(elements: order.count)
            for start in stride(from: 0, to: order.count, by: 2 * width) {
                var (left, right, target) = (start, min(start + width, order.count), start)
                let (leftEnd, rightEnd) = (right, min(start + 2 * width, order.count))
                while left < leftEnd || right < rightEnd {
                    let takesRight: Bool
                    if left < leftEnd, right < rightEnd {
                        let (a, b) = (keys[order[left]], keys[order[right]])
                        takesRight = try self.order(reverse ? a : b, reverse ? b : a, symbol: "<") == .less
                    } else {
                        takesRight = left >= leftEnd
                    }
                    buffer[target] = takesRight ? order[right] : order[left]
                    if takesRight { right += 1 } else { left += 1 }
                    target += 1
                }
            }
            swap(&order, &buffer)
            width *= 2
        }
        return order.map { elements[$0] }
    }
}
