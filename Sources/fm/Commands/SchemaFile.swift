import Foundation
import FoundationModels
import JSON

/// Reads a JSON Schema from a file.
package enum SchemaFile {
    /// What is longer takes too long to read, and would not fit a prompt.
    private static let mostBytes = 1 << 20

    package static func read(_ path: String) throws -> GenerationSchema {
        let text = try PromptInput.text(ofFile: path, kind: .schema)
        guard text.utf8.count <= mostBytes else {
            throw Failure(
                .schema, "\(path): a schema has at most \(mostBytes) bytes, this one has \(text.utf8.count): shorten it"
            )
        }
        let value: JSONValue
        // A property that is defined twice would otherwise count as its last definition, and the other be lost.
        do { value = try JSONValue(parsing: text, allowsRepeatedKeys: false) } catch {
            throw Failure(.schema, "\(path): \(error)")
        }
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
