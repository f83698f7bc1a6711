import JSON

/// What is done to JSON Schema documents as a whole.
package enum SchemaDocument {
    /// The keyword in which Apple's framework keeps the order of properties.
    package static let orderKeyword = "x-order"

    /// Puts the properties of every object schema into the order in which they are to be generated: that of `x-order`,
    /// and where it is missing, first the required ones as `required` has them, then the others as they come.
    package static func orderingProperties(of document: JSONObject) -> JSONObject {
        guard case .object(let ordered) = ordering(.object(document), depth: 0) else { return document }
        return ordered
    }

    private static func ordering(_ value: JSONValue, depth: Int) -> JSONValue {
        guard depth < JSONValue.defaultDepthLimit else { return value }
        switch value {
        case .array(let elements):
            return .array(elements.map { ordering($0, depth: depth + 1) })
        case .object(let object):
            var result = JSONObject(object.lazy.map { ($0.key, ordering($0.value, depth: depth + 1)) })
            if case .object(let properties)? = result["properties"] {
                let order = object[orderKeyword]?.arrayValue ?? object["required"]?.arrayValue ?? []
                var sorted = JSONObject()
                for case .string(let name) in order { sorted[name] = properties[name] }
                for (name, schema) in properties where sorted[name] == nil { sorted[name] = schema }
                result["properties"] = .object(sorted)
            }
            return .object(result)
        default:
            return value
        }
    }

    /// Moves the references of a document that is to stand at a place in another one.
    ///
    /// - Parameter pointer: The place, as a JSON pointer.
    static func rebasing(_ document: JSONObject, to pointer: String) -> JSONObject {
        JSONObject(
            document.lazy.map { key, value in
                switch value {
                case .string(let reference) where key == "$ref" && (reference == "#" || reference.hasPrefix("#/")):
                    (key, .string("#" + pointer + reference.dropFirst()))
                default: (key, rebasing(value, to: pointer))
                }
            })
    }

    private static func rebasing(_ value: JSONValue, to pointer: String) -> JSONValue {
        switch value {
        case .object(let object): .object(rebasing(object, to: pointer))
        case .array(let elements): .array(elements.map { rebasing($0, to: pointer) })
        default: value
        }
    }
}
