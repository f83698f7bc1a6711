import GuidedGeneration
import JSON

/// What is done to JSON Schema documents as a whole.
package enum SchemaDocument {
    /// The keyword in which Apple's framework keeps the order of properties.
    package static let orderKeyword = "x-order"

    /// Puts the properties of every object schema into the order in which they are to be generated: that of `x-order`,
    /// and where it is missing, first the required ones as `required` has them, then the others as they come.
    static func orderingProperties(of document: JSONObject) -> JSONObject {
        guard case .object(let ordered) = ordering(.object(document)) else { return document }
        return ordered
    }

    private static func ordering(_ value: JSONValue) -> JSONValue {
        mapSchemas(value) { object in
            guard case .object(let properties)? = object["properties"] else { return }
            let order = object[orderKeyword]?.arrayValue ?? object["required"]?.arrayValue ?? []
            var sorted = JSONObject()
            for case .string(let name) in order { sorted[name] = properties[name] }
            for (name, schema) in properties where sorted[name] == nil { sorted[name] = schema }
            object["properties"] = .object(sorted)
        }
    }

    /// The keyword beside `pattern` that holds a regular expression in Swift's syntax which whole strings match. It says exactly what
    /// `pattern` says as far as JSON Schema's own syntax can: there `\\w`, say, has ASCII letters alone.
    package static let regexKeyword = Grammar.swiftRegexKeyword

    /// The keywords for strings that match a regular expression as a whole.
    static func wholeMatch(_ regex: String) -> JSONObject {
        ["pattern": .string("^(?:\(regex))$"), regexKeyword: .string(regex)]
    }

    /// A document as it is written for others: without what is said in a keyword of ours.
    static func published(_ document: JSONObject) -> JSONObject {
        guard case .object(let result) = mapSchemas(.object(document), { $0[regexKeyword] = nil }) else {
            return document
        }
        return result
    }

    /// A document as a model reads it: without what repeats what the form says already, or says how the document is made.
    static func described(_ document: JSONValue) -> JSONValue {
        mapSchemas(document) { object in
            object["title"] = nil
            object[orderKeyword] = nil
            object["additionalProperties"] = nil
        }
    }

    /// A document as it is enforced. In documents of Apple's dialect, which `x-order` gives away, a `pattern` is a regular
    /// expression of Swift that whole strings match; in all others it is what JSON Schema makes of it.
    static func enforced(_ document: JSONObject) -> JSONObject {
        var isApples = false
        _ = mapSchemas(.object(document)) { if $0[orderKeyword] != nil { isApples = true } }
        guard isApples else { return document }
        let result = mapSchemas(.object(document)) { object in
            guard case .string(let pattern)? = object["pattern"], object[regexKeyword] == nil else { return }
            let isWhole = pattern.hasPrefix("^(?:") && pattern.hasSuffix(")$")
            let regex = isWhole ? String(pattern.dropFirst(4).dropLast(2)) : pattern
            for (keyword, value) in wholeMatch(regex) { object[keyword] = value }
        }
        guard case .object(let enforced) = result else { return document }
        return enforced
    }

    /// Keywords whose values are data, not schemas.
    private static let dataKeywords: Set<String> = [
        "const", "enum", "default", "examples", "example", orderKeyword, "required",
    ]
    /// Keywords whose values hold schemas under names of the document's own.
    private static let nameKeywords: Set<String> = [
        "properties", "patternProperties", "$defs", "definitions", "dependentSchemas",
    ]

    /// Changes every object that can be a schema, inner ones first.
    private static func mapSchemas(
        _ value: JSONValue, depth: Int = 0, _ change: (inout JSONObject) -> Void
    ) -> JSONValue {
        guard depth < JSONValue.defaultDepthLimit else { return value }
        switch value {
        case .array(let elements):
            return .array(elements.map { mapSchemas($0, depth: depth + 1, change) })
        case .object(let object):
            var result = JSONObject()
            for (key, value) in object {
                if nameKeywords.contains(key), case .object(let named) = value {
                    var schemas = JSONObject()
                    for (name, schema) in named { schemas[name] = mapSchemas(schema, depth: depth + 2, change) }
                    result[key] = .object(schemas)
                } else if dataKeywords.contains(key) {
                    result[key] = value
                } else {
                    result[key] = mapSchemas(value, depth: depth + 1, change)
                }
            }
            change(&result)
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
