/// A schema that a program puts together at run time.
///
/// Schemas with a name can refer to each other, and to themselves, with ``init(referenceTo:)``. ``GenerationSchema/init(root:dependencies:)``
/// makes a whole of them.
public struct DynamicGenerationSchema: Sendable {
    package indirect enum Node: Sendable {
        case structure(name: String, description: String?, explicitNil: Bool, properties: [Property])
        case union(name: String, description: String?, choices: [DynamicGenerationSchema])
        case choices(name: String, description: String?, values: [String])
        case array(DynamicGenerationSchema, minimum: Int?, maximum: Int?)
        case type(any Generable.Type, [GuideConstraint])
        case reference(String)
        case null
    }

    package let node: Node

    private init(_ node: Node) { self.node = node }
}

extension DynamicGenerationSchema {
    /// The schema that only null satisfies.
    public static var null: DynamicGenerationSchema { DynamicGenerationSchema(.null) }

    /// Describes a structure.
    public init(name: String, description: String? = nil, properties: [DynamicGenerationSchema.Property]) {
        self.init(.structure(name: name, description: description, explicitNil: false, properties: properties))
    }

    /// Describes a structure.
    ///
    /// - Parameter explicitNil: Whether a missing value of an optional property is written as null rather than left out.
    public init(
        name: String, description: String? = nil, representNilExplicitlyInGeneratedContent explicitNil: Bool,
        properties: [DynamicGenerationSchema.Property]
    ) {
        self.init(.structure(name: name, description: description, explicitNil: explicitNil, properties: properties))
    }

    /// Describes a value that satisfies one of some schemas.
    public init(name: String, description: String? = nil, anyOf choices: [DynamicGenerationSchema]) {
        self.init(.union(name: name, description: description, choices: choices))
    }

    /// Describes a string that is one of some choices.
    public init(name: String, description: String? = nil, anyOf choices: [String]) {
        self.init(.choices(name: name, description: description, values: choices))
    }

    /// Describes an array.
    public init(
        arrayOf itemSchema: DynamicGenerationSchema, minimumElements: Int? = nil, maximumElements: Int? = nil
    ) {
        self.init(.array(itemSchema, minimum: minimumElements, maximum: maximumElements))
    }

    /// Describes what a type describes.
    public init<Value>(type: Value.Type, guides: [GenerationGuide<Value>] = []) where Value: Generable {
        self.init(.type(type, guides.flatMap(\.constraints)))
    }

    /// Stands for the schema of a name.
    public init(referenceTo name: String) {
        self.init(.reference(name))
    }
}

extension DynamicGenerationSchema {
    /// A property of a structure.
    public struct Property: Sendable {
        let name: String
        let description: String?
        let schema: DynamicGenerationSchema
        let isOptional: Bool

        public init(
            name: String, description: String? = nil, schema: DynamicGenerationSchema, isOptional: Bool = false
        ) {
            self.name = name
            self.description = description
            self.schema = schema
            self.isOptional = isOptional
        }
    }
}
