import JSON

extension Grammar {
    /// A value as the grammar would have it written: members in the order of the schema, numbers in plain digits.
    ///
    /// Where alternatives order members differently, the first that the value fits decides. A value that fits none keeps its order.
    package func canonical(_ value: JSONValue) -> JSONValue {
        let plain = Self.plain(value)
        guard case .value(let node) = program.root else { return plain }
        return program.ordered(plain, node) ?? plain
    }

    /// The same value with every number in plain digits, as far as those are not too many.
    private static func plain(_ value: JSONValue) -> JSONValue {
        switch value {
        case .number(let number):
            guard let decimal = DecimalNumber(number), let plain = try? JSONValue(parsing: decimal.text) else {
                return value
            }
            return plain
        case .array(let elements): return .array(elements.map(plain))
        case .object(let object): return .object(JSONObject(object.map { ($0.key, plain($0.value)) }))
        default: return value
        }
    }
}

extension Program {
    /// The value with its members in the order of the first shapes of a node that it fits; nil when it is seen to fit none.
    fileprivate func ordered(_ value: JSONValue, _ node: Int32) -> JSONValue? {
        let node = nodes[Int(node)]
        switch value {
        case .null, .bool, .number:
            let text = value.text()
            guard node.plain.contains(where: { languages[Int($0)].contains(text) }) else { return nil }
            return value
        case .string(let text):
            let count = text.unicodeScalars.count
            let fits = node.strings.contains {
                count >= $0.minimum && count <= $0.maximum && languages[Int($0.language)].contains(text)
            }
            guard fits else { return nil }
            return value
        case .array(let elements):
            for array in node.arrays {
                if let result = ordered(elements, arrays[Int(array)]) { return .array(result) }
            }
            return nil
        case .object(let object):
            for shape in node.objects {
                if let result = ordered(object, objects[Int(shape)]) { return .object(result) }
            }
            return nil
        }
    }

    private func ordered(_ elements: [JSONValue], _ array: Array) -> [JSONValue]? {
        guard elements.count >= array.minimum, elements.count <= array.maximum else { return nil }
        var result: [JSONValue] = []
        for (index, element) in elements.enumerated() {
            guard let first = ordered(element, among: array.alternatives(at: Int32(index))) else { return nil }
            result.append(first)
        }
        return result
    }

    private func ordered(_ object: JSONObject, _ shape: Object) -> JSONObject? {
        guard object.count >= shape.minimum, object.count <= shape.maximum else { return nil }
        var result = JSONObject()
        for member in shape.members {
            guard let value = object[member.key] else {
                if member.isRequired { return nil }
                continue
            }
            guard let first = ordered(value, among: member.alternatives) else { return nil }
            result[member.key] = first
        }
        for (key, value) in object where result[key] == nil {
            guard let group = shape.groups.first(where: { languages[Int($0.language)].contains(key) }),
                let first = ordered(value, among: group.alternatives)
            else { return nil }
            result[key] = first
        }
        return result
    }

    private func ordered(_ value: JSONValue, among alternatives: [Alternative]) -> JSONValue? {
        for alternative in alternatives {
            if let result = ordered(value, alternative.node) { return result }
        }
        return nil
    }
}
