import JSON

extension JSONValue {
    /// A schema as requests bring it, in the form in which it is enforced: its objects have the named properties alone, where they
    /// name some and are silent about others.
    ///
    /// JSON Schema lets such objects have any further properties. Nobody who writes down properties wants a model to invent others,
    /// and what is generated follows the original schema too: only what cannot turn a value that is refused into one that is allowed,
    /// or leave none, is closed.
    package var enforcedSchema: JSONValue {
        guard !["allOf", "unevaluatedProperties", "$dynamicRef"].contains(where: contains(keyword:)) else {
            return self
        }
        return ObjectClosing(of: self).map { $0.close(self) } ?? self
    }

    /// Whether a keyword stands anywhere in the schema.
    private func contains(keyword: String) -> Bool {
        switch self {
        case .object(let object): object.contains { $0.key == keyword || $0.value.contains(keyword: keyword) }
        case .array(let array): array.contains { $0.contains(keyword: keyword) }
        default: false
        }
    }
}

/// Closes the objects of one schema.
private struct ObjectClosing {
    private let root: JSONValue
    /// References to definitions that must stay as they are.
    private var kept: Set<String> = []
    /// Whether something must stay as it is that cannot be found.
    private var isLost = false

    /// What a smaller schema makes larger (`not`), or may (`if`, `contains`).
    private static let contrary = ["not", "if", "then", "else", "contains", "dependentSchemas", "propertyNames"]
    /// What describes the same object in another place, so that closing one place would contradict the other.
    private static let describing: Set<String> = [
        "properties", "required", "patternProperties", "additionalProperties", "minProperties", "dependentRequired",
        "$ref",
        "anyOf", "oneOf", "not", "if", "dependentSchemas",
    ]

    /// - Returns: Nil when nothing may be closed.
    init?(of root: JSONValue) {
        self.root = root
        look(at: root)
        if isLost { return nil }
    }

    // MARK: What stays as it is

    private mutating func look(at schema: JSONValue) {
        guard case .object(let object) = schema else { return }
        for (key, value) in object {
            if isKept(key, in: object) {
                keep(key == "$ref" ? .object(["$ref": value]) : value)
            } else {
                for child in Self.children(key, value) { look(at: child) }
            }
        }
    }

    /// Whether what stands under a keyword of an object must not be closed.
    private func isKept(_ key: String, in object: JSONObject) -> Bool {
        if Self.contrary.contains(key) { return true }
        let isAlone = !object.contains { $0.key != key && Self.describing.contains($0.key) }
        switch key {
        case "$ref", "anyOf": return !isAlone
        case "oneOf": return !isAlone || !areTold(apart: object[key]?.arrayValue ?? [])
        default: return false
        }
    }

    /// Whether a required property has another value in each of some schemas, so that no value fits two of them, closed or not.
    private func areTold(apart schemas: [JSONValue]) -> Bool {
        let objects = schemas.map { $0["$ref"]?.stringValue.flatMap(definition) ?? $0 }
        func tag(_ name: String, _ schema: JSONValue) -> JSONValue? {
            guard schema["required"]?.arrayValue?.contains(.string(name)) == true else { return nil }
            let property = schema["properties"]?[name]
            if let constant = property?["const"] { return constant }
            guard let choices = property?["enum"]?.arrayValue, choices.count == 1 else { return nil }
            return choices[0]
        }
        return (objects.first?["properties"]?.objectValue?.keys ?? []).contains { name in
            let tags = objects.compactMap { tag(name, $0) }
            return tags.count == objects.count
                && tags.indices.allSatisfy { index in !tags[..<index].contains(tags[index]) }
        }
    }

    /// Notes all definitions that something refers to.
    private mutating func keep(_ schema: JSONValue) {
        switch schema {
        case .array(let schemas): for schema in schemas { keep(schema) }
        case .object(let object):
            for (key, value) in object {
                guard key == "$ref", case .string(let reference) = value else {
                    keep(value)
                    continue
                }
                guard kept.insert(reference).inserted else { continue }
                if let definition = definition(reference) { keep(definition) } else { isLost = true }
            }
        default: return
        }
    }

    private func definition(_ reference: String) -> JSONValue? {
        for place in ["$defs", "definitions"] where reference.hasPrefix("#/\(place)/") {
            return root[place]?[String(reference.dropFirst(place.count + 3))]
        }
        return nil
    }

    // MARK: What is closed

    /// The schemas under a keyword.
    private static func children(_ key: String, _ value: JSONValue) -> [JSONValue] {
        switch (key, value) {
        case ("properties", .object(let members)), ("$defs", .object(let members)),
            ("definitions", .object(let members)):
            members.map(\.value)
        case ("items", _): [value]
        case ("anyOf", .array(let schemas)), ("oneOf", .array(let schemas)), ("prefixItems", .array(let schemas)):
            schemas
        default: []
        }
    }

    func close(_ schema: JSONValue) -> JSONValue {
        guard case .object(var object) = schema else { return schema }
        let original = object
        for (key, value) in original where !isKept(key, in: original) {
            switch (key, value) {
            case ("properties", .object(let members)):
                object[key] = .object(JSONObject(members.map { ($0.key, close($0.value)) }))
            case ("$defs", .object(let members)), ("definitions", .object(let members)):
                object[key] = .object(
                    JSONObject(
                        members.map { ($0.key, kept.contains("#/\(key)/\($0.key)") ? $0.value : close($0.value)) }))
            case ("items", _): object[key] = close(value)
            case ("anyOf", .array(let schemas)), ("oneOf", .array(let schemas)), ("prefixItems", .array(let schemas)):
                object[key] = .array(schemas.map(close))
            default: continue
            }
        }
        if let properties = object["properties"]?.objectValue, isSilent(object),
            (object["required"]?.arrayValue ?? []).allSatisfy({ properties[$0.stringValue ?? ""] != nil })
        {
            if object["type"] == nil { object["type"] = "object" }
            if object["type"] == "object" { object["additionalProperties"] = false }
        }
        return .object(object)
    }

    /// Whether an object is described in this place alone, and nothing is said about properties that are not named.
    private func isSilent(_ object: JSONObject) -> Bool {
        !["additionalProperties", "patternProperties", "$ref", "anyOf", "oneOf", "not", "if", "dependentSchemas"]
            .contains { object[$0] != nil }
    }
}
