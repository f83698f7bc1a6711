import JSON

extension ChatTool {
    /// The most calls of a tool that one answer may have. A model that repeats itself ends somewhere.
    package static let largestRound = 16

    /// The schema of a list with the arguments of several calls; nil when the tool's schema cannot be moved into another.
    package var listSchema: JSONValue? { Self.listSchema(of: parameters) }

    /// The schema of a list whose elements follow a schema; nil when that cannot be moved into another.
    package static func listSchema(of parameters: JSONValue) -> JSONValue? {
        guard var items = parameters.objectValue else { return nil }
        var list: JSONObject = [
            "type": "array", "minItems": 1, "maxItems": .number(JSONNumber(largestRound)),
        ]
        // What stands for a whole document, or is referred to from its root, stays at the root.
        for key in ["$schema", "title", "$defs", "definitions"] {
            list[key] = items[key]
            items[key] = nil
        }
        for key in ["$defs", "definitions"] {
            guard let definitions = list[key] else { continue }
            guard let moved = definitions.valuesMovedIntoItems else { return nil }
            list[key] = moved
        }
        guard let moved = JSONValue.object(items).movedIntoItems else { return nil }
        list["items"] = moved
        return .object(list)
    }
}

extension JSONValue {
    /// A part of a schema whose root moves under `items` while its definitions stay; nil when it names its place in a way that does
    /// not survive that.
    fileprivate var movedIntoItems: JSONValue? {
        switch self {
        case .object(let object):
            var moved = JSONObject()
            for (key, value) in object {
                switch (key, value) {
                case ("$ref", .string(let reference)):
                    guard let reference = Self.referenceMovedIntoItems(reference) else { return nil }
                    moved[key] = .string(reference)
                case ("$id", .string), ("id", .string), ("$anchor", _), ("$dynamicRef", _), ("$recursiveRef", _):
                    return nil
                // Names of the schema's own.
                case ("properties", _), ("patternProperties", _), ("$defs", _), ("definitions", _),
                    ("dependentSchemas", _):
                    guard let value = value.valuesMovedIntoItems else { return nil }
                    moved[key] = value
                // Values and not schemas.
                case ("const", _), ("enum", _), ("default", _), ("examples", _): moved[key] = value
                default:
                    guard let value = value.movedIntoItems else { return nil }
                    moved[key] = value
                }
            }
            return .object(moved)
        case .array(let elements):
            let moved = elements.compactMap(\.movedIntoItems)
            return moved.count == elements.count ? .array(moved) : nil
        default: return self
        }
    }

    fileprivate var valuesMovedIntoItems: JSONValue? {
        guard case .object(let named) = self else { return self }
        var moved = JSONObject()
        for (name, schema) in named {
            guard let schema = schema.movedIntoItems else { return nil }
            moved[name] = schema
        }
        return .object(moved)
    }

    private static func referenceMovedIntoItems(_ reference: String) -> String? {
        if reference.hasPrefix("#/$defs/") || reference.hasPrefix("#/definitions/") { return reference }
        if reference == "#" || reference.hasPrefix("#/") { return "#/items" + reference.dropFirst() }
        return nil
    }
}
