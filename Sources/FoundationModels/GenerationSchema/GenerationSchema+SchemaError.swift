import Foundation

extension GenerationSchema {
    /// Why a schema cannot be put together from its parts.
    public enum SchemaError: Error, LocalizedError {
        /// Two different types have one name.
        case duplicateType(schema: String?, type: String, context: GenerationSchema.SchemaError.Context)
        /// Two properties of one type have one name.
        case duplicateProperty(schema: String, property: String, context: GenerationSchema.SchemaError.Context)
        /// A type is to be one of some choices, and there are none.
        case emptyTypeChoices(schema: String, context: GenerationSchema.SchemaError.Context)
        /// Types are referred to that are not there.
        case undefinedReferences(
            schema: String?, references: [String], context: GenerationSchema.SchemaError.Context)
    }
}

extension GenerationSchema.SchemaError {
    /// What was found, where.
    public struct Context: Sendable {
        /// What is wrong, in a sentence.
        public let debugDescription: String

        public init(debugDescription: String) { self.debugDescription = debugDescription }
    }
}

extension GenerationSchema.SchemaError {
    public var errorDescription: String? {
        switch self {
        case .duplicateType(_, _, let context), .duplicateProperty(_, _, let context),
            .emptyTypeChoices(_, let context), .undefinedReferences(_, _, let context):
            context.debugDescription
        }
    }

    public var recoverySuggestion: String? {
        switch self {
        case .duplicateType(_, let type, _):
            "Give the types different names, or define '\(type)' once and refer to it with DynamicGenerationSchema(referenceTo:)."
        case .duplicateProperty(_, let property, _):
            "Rename or remove one of the properties named '\(property)'."
        case .emptyTypeChoices(let schema, _):
            "Give '\(schema)' at least one choice."
        case .undefinedReferences(_, let references, _):
            "Pass schemas named \(references.map { "'\($0)'" }.joined(separator: ", ")) among the dependencies."
        }
    }
}
