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

    /// The schema as it stands: its properties are generated in the order of the text, or of `x-order` where there is one.
    ///
    /// - Parameter source: Where the schema stands, for errors.
    package static func schema(_ value: JSONValue, source path: String) throws -> GenerationSchema {
        guard let document = value.objectValue else {
            throw Failure(.schema, "\(path): a schema is a JSON object, not \(value.kind)")
        }
        return GenerationSchema(document: document)
    }
}
