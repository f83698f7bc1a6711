import JSON

extension JSONValue {
    /// Keywords under which one object is described in several places, so that closing one place would contradict another.
    private static let composing: Set<String> = [
        "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "$dynamicRef", "unevaluatedProperties",
    ]

    /// The schema with objects that have the named properties alone, where it names some and is silent about others.
    ///
    /// JSON Schema lets such objects have any further properties. Nobody who writes down properties wants a model to
    /// invent others, and what is generated follows the original schema too.
    func closingObjects() -> JSONValue {
        switch self {
        case .object(var object):
            let isComposed = object.keys.contains { Self.composing.contains($0) }
            for (key, value) in object {
                switch (key, value) {
                case ("properties", .object(let members)), ("$defs", .object(let members)),
                    ("definitions", .object(let members)):
                    object[key] = .object(JSONObject(members.map { ($0.key, $0.value.closingObjects()) }))
                case ("items", _): object[key] = value.closingObjects()
                case ("anyOf", .array(let schemas)), ("oneOf", .array(let schemas)),
                    ("prefixItems", .array(let schemas)):
                    object[key] = .array(schemas.map { $0.closingObjects() })
                default: continue
                }
            }
            if let properties = object["properties"]?.objectValue, !isComposed, object["additionalProperties"] == nil,
                object["patternProperties"] == nil,
                (object["required"]?.arrayValue ?? []).allSatisfy({ properties[$0.stringValue ?? ""] != nil })
            {
                if object["type"] == nil, object["$ref"] == nil { object["type"] = "object" }
                if object["type"] == "object" { object["additionalProperties"] = false }
            }
            return .object(object)
        default: return self
        }
    }

    /// Whether a keyword stands anywhere in the schema.
    private func contains(keyword: String) -> Bool {
        switch self {
        case .object(let object): object.contains { $0.key == keyword || $0.value.contains(keyword: keyword) }
        case .array(let array): array.contains { $0.contains(keyword: keyword) }
        default: false
        }
    }

    /// A schema as requests bring it, in the form in which it is enforced.
    package var enforcedSchema: JSONValue {
        ["allOf", "unevaluatedProperties", "$dynamicRef"].contains(where: contains(keyword:)) ? self : closingObjects()
    }
}
