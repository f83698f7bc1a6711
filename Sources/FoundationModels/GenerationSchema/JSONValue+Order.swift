import JSON

extension JSONValue {
    /// The value with the keys of its objects in the order in which a schema has its properties.
    func ordered(by schema: JSONValue) -> JSONValue { ordered(by: schema, root: schema, depth: 0) }

    private func ordered(by schema: JSONValue?, root: JSONValue, depth: Int) -> JSONValue {
        guard depth < Self.defaultDepthLimit, let schema = schema.map({ $0.resolved(in: root, steps: 0) }) else {
            return self
        }
        switch self {
        case .object(let object):
            // Of a choice, the branch whose properties the object has.
            let branches = schema["anyOf"]?.arrayValue?.map { $0.resolved(in: root, steps: 0) } ?? [schema]
            let keys = Set(object.keys)
            let branch = branches.first { branch in
                guard let properties = branch["properties"]?.objectValue else { return false }
                return keys.isSubset(of: properties.keys)
            }
            guard let properties = branch?["properties"]?.objectValue else { return self }
            var result = JSONObject()
            for (key, property) in properties {
                if let value = object[key] { result[key] = value.ordered(by: property, root: root, depth: depth + 1) }
            }
            for (key, value) in object where result[key] == nil { result[key] = value }
            return .object(result)
        case .array(let elements):
            return .array(elements.map { $0.ordered(by: schema["items"], root: root, depth: depth + 1) })
        default: return self
        }
    }

    private func resolved(in root: JSONValue, steps: Int) -> JSONValue {
        guard let reference = self["$ref"]?.stringValue, steps < 16 else { return self }
        if reference == "#" { return root.resolved(in: root, steps: steps + 1) }
        let name = reference.split(separator: "/").last.map(String.init) ?? ""
        return (root["$defs"]?[name] ?? root["definitions"]?[name] ?? .null).resolved(in: root, steps: steps + 1)
    }
}
