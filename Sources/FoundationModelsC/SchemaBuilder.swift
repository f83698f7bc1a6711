import CFoundationModels
import FoundationModels
import Synchronization

/// A schema that C puts together property by property.
final class SchemaBuilder: HandledObject {
    static let kind = "schema"

    private struct Parts {
        var properties: [SchemaProperty] = []
        var references: [SchemaBuilder] = []
    }

    private let names: Result<(name: String, description: String?), InvalidArgument>
    private let parts = Mutex(Parts())

    init(_ names: Result<(name: String, description: String?), InvalidArgument>) { self.names = names }

    func add(_ property: SchemaProperty) { parts.withLock { $0.properties.append(property) } }

    /// Adds a schema that properties may refer to. A schema knows itself by its name.
    func add(reference: SchemaBuilder) {
        guard reference !== self else { return }
        parts.withLock { $0.references.append(reference) }
    }

    /// The schema as it stands.
    ///
    /// - Throws: ``InvalidArgument`` for what was wrong with a name, ``LanguageModelError`` for a guide that does not fit the type,
    ///   and what ``GenerationSchema`` throws.
    func schema() throws -> GenerationSchema {
        let references = parts.withLock(\.references)
        return try GenerationSchema(
            root: try dynamicSchema(), dependencies: try references.map { try $0.dynamicSchema() })
    }

    private func dynamicSchema() throws -> DynamicGenerationSchema {
        let (name, description) = try names.get()
        let properties = parts.withLock(\.properties)
        return DynamicGenerationSchema(
            name: name, description: description, properties: try properties.map { try $0.property(of: name) })
    }
}

@_cdecl("FMGenerationSchemaCreate")
public func createSchema(_ name: UnsafePointer<CChar>?, _ description: UnsafePointer<CChar>?) -> UnsafeRawPointer? {
    let names = Result { () throws(InvalidArgument) in
        (
            name: try text(name, "name of the schema"),
            description: try optionalText(description, "description of the schema")
        )
    }
    return HandleTable.shared.add(SchemaBuilder(names))
}

@_cdecl("FMGenerationSchemaAddProperty")
public func addProperty(_ schema: UnsafeRawPointer?, _ property: UnsafeRawPointer?) {
    do {
        try HandleTable.shared.object(schema, as: SchemaBuilder.self)
            .add(try HandleTable.shared.object(property, as: SchemaProperty.self))
    } catch {
        warn("FMGenerationSchemaAddProperty: \(description(of: error))")
    }
}

@_cdecl("FMGenerationSchemaAddReferenceSchema")
public func addReference(_ schema: UnsafeRawPointer?, _ reference: UnsafeRawPointer?) {
    do {
        try HandleTable.shared.object(schema, as: SchemaBuilder.self)
            .add(reference: try HandleTable.shared.object(reference, as: SchemaBuilder.self))
    } catch {
        warn("FMGenerationSchemaAddReferenceSchema: \(description(of: error))")
    }
}

@_cdecl("FMGenerationSchemaGetJSONString")
public func schemaJSON(
    _ schema: UnsafeRawPointer?, _ errorCode: UnsafeMutablePointer<Int32>?,
    _ errorDescription: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> UnsafeMutablePointer<CChar>? {
    ErrorReport(code: errorCode, description: errorDescription).value {
        // The JSON with the properties in the order in which they were added, which an encoder does not keep.
        allocated(try HandleTable.shared.object(schema, as: SchemaBuilder.self).schema().debugDescription)
    }
}
