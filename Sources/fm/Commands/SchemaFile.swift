import Foundation
import FoundationModels
import JSON

/// Reads a JSON Schema from a file.
package enum SchemaFile {
    package static func read(_ path: String) throws -> GenerationSchema {
        let text = try PromptInput.text(ofFile: path)
        let value: JSONValue
        do { value = try JSONValue(parsing: text) } catch { throw Failure(.schema, "\(path): \(error)") }
        return try schema(value, source: path)
    }

    /// - Parameter source: Where the schema stands, for errors.
    static func schema(_ value: JSONValue, source path: String) throws -> GenerationSchema {
        do {
            guard let document = ordered(value).objectValue else {
                throw Failure(.schema, "\(path): a schema is a JSON object, not \(value.kind)")
            }
            return GenerationSchema(document: SchemaDocument.orderingProperties(of: document))
        } catch let error as JSONError {
            throw Failure(.schema, "\(path): \(error)")
        }
    }

    /// Notes the order in which the text has the properties of each object, where the schema itself says none.
    package static func ordered(_ schema: JSONValue) -> JSONValue {
        guard case .object(let object) = schema else { return schema }
        var result = JSONObject()
        for (key, value) in object {
            switch (key, value) {
            case ("properties", .object(let members)), ("$defs", .object(let members)),
                ("definitions", .object(let members)), ("patternProperties", .object(let members)):
                result[key] = .object(JSONObject(members.map { ($0.key, ordered($0.value)) }))
            case ("anyOf", .array(let schemas)), ("oneOf", .array(let schemas)), ("allOf", .array(let schemas)),
                ("prefixItems", .array(let schemas)):
                result[key] = .array(schemas.map(ordered))
            case ("items", _), ("additionalProperties", _), ("not", _): result[key] = ordered(value)
            default: result[key] = value
            }
        }
        if result[SchemaDocument.orderKeyword] == nil, case .object(let properties)? = object["properties"] {
            result[SchemaDocument.orderKeyword] = .array(properties.keys.map(JSONValue.string))
        }
        return .object(result)
    }
}
