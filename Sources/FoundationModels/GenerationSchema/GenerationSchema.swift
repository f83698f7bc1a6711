import JSON
import Synchronization

/// The shape of values that a model generates.
///
/// A schema is written and read as JSON Schema, in the dialect that Apple's framework writes. Decoding takes any JSON Schema
/// document and keeps all of it.
public struct GenerationSchema: Sendable {
    /// Where the schema comes from. Types are followed to their own schemas only when the document is asked for, so that
    /// types can refer to themselves.
    package enum Source: Sendable {
        /// A whole document, read from outside or resolved.
        case document(JSONObject, faults: [SchemaFault])
        /// A schema short enough to stand wherever it is used.
        case inline(JSONObject)
        case array(any Generable.Type)
        case definition(SchemaDefinition)
    }

    package let source: Source
    /// The name of the type that the schema describes.
    public let name: String
    private let resolution = Resolution()

    private init(source: Source, name: String) {
        self.source = source
        self.name = name
    }

    package init(inline schema: JSONObject, name: String) {
        self.init(source: .inline(schema), name: name)
    }

    package init<Element: Generable>(arrayOf element: Element.Type) {
        self.init(source: .array(element), name: String(describing: [Element].self))
    }

    /// A whole JSON Schema document. Its keywords are kept as they are, the order of its properties is that of the text unless
    /// `x-order` says otherwise.
    package init(document: JSONObject, faults: [SchemaFault] = []) {
        self.init(
            source: .document(document, faults: faults), name: document["title"]?.stringValue ?? "Schema")
    }

    init(definition: SchemaDefinition) {
        self.init(source: .definition(definition), name: definition.name)
    }
}

extension GenerationSchema {
    /// The schema as a JSON Schema document that stands on its own, for those who enforce it.
    package var enforcedSchema: JSONValue { .object(SchemaDocument.enforced(resolution.value(for: self).document)) }

    /// The schema as a JSON Schema document that stands on its own, for everyone else: models, files, servers.
    package var publishedSchema: JSONValue { .object(SchemaDocument.published(resolution.value(for: self).document)) }

    /// What in the schema cannot be enforced or contradicts itself, found while it was put together. A request for such a schema
    /// is refused.
    package var faults: [SchemaFault] { resolution.value(for: self).faults }
}

/// Something in a schema that cannot be enforced.
package struct SchemaFault: Sendable, Hashable, CustomStringConvertible {
    /// The property or type at fault, like `Person.age`.
    package let path: String
    package let reason: String

    package init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    package var description: String { "\(path): \(reason)" }
}

/// Keeps what a schema resolves to once it has been asked for.
private final class Resolution: Sendable {
    struct Value: Sendable {
        let document: JSONObject
        let faults: [SchemaFault]
    }

    private let cached = Mutex<Value?>(nil)

    func value(for schema: GenerationSchema) -> Value {
        if let value = cached.withLock({ $0 }) { return value }
        // Outside of the lock: the types' own code runs here.
        var resolver = SchemaResolver()
        let document = resolver.document(of: schema)
        let value = Value(document: document, faults: resolver.faults)
        cached.withLock { $0 = value }
        return value
    }
}
