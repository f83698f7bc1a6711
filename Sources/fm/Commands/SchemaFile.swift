import Foundation
import FoundationModels
import GuidedGeneration
import JSON

/// Reads a JSON Schema from a file.
package enum SchemaFile {
    /// What is longer takes too long to read, and would not fit a prompt.
    private static let mostBytes = 1 << 20

    package static func read(_ path: String) throws -> GenerationSchema { try schema(json(path), source: path) }

    /// The JSON of a file that has a schema in it.
    static func json(_ path: String) throws -> JSONValue {
        let text = try PromptInput.text(ofFile: path, kind: .schema)
        guard text.utf8.count <= mostBytes else {
            throw Failure(
                .schema, "\(path): a schema has at most \(mostBytes) bytes, this one has \(text.utf8.count): shorten it"
            )
        }
        // A property that is defined twice would otherwise count as its last definition, and the other be lost.
        do { return try JSONValue(parsing: text, allowsRepeatedKeys: false) } catch {
            throw Failure(.schema, "\(path): \(error)")
        }
    }

    /// The schema as it stands: its properties are generated in the order of the text, or of `x-order` where there is one.
    ///
    /// - Parameter source: Where the schema stands, for errors.
    /// - Throws: A failure when it cannot be enforced, before a model is loaded for it.
    package static func schema(_ value: JSONValue, source path: String) throws -> GenerationSchema {
        guard let document = value.objectValue else {
            throw Failure(.schema, "\(path): a schema is a JSON object, not \(value.kind)")
        }
        let schema = GenerationSchema(document: document)
        do { _ = try Grammar.jsonSchema(schema.enforcedSchema) } catch { throw Failure(.schema, "\(path): \(error)") }
        return schema
    }
}
