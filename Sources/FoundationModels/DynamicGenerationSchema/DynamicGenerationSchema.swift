/// A schema that a program puts together at run time.
///
/// Schemas with a name can refer to each other, and to themselves, with ``init(referenceTo:)``. ``GenerationSchema/init(root:dependencies:)``
/// makes a whole of them.
public struct DynamicGenerationSchema: Sendable {
    package enum Node: Sendable {
        case structure(name: String, description: String?, explicitNil: Bool, properties: [Property])
        case union(name: String, description: String?, choices: [DynamicGenerationSchema])
        case choices(name: String, description: String?, values: [String])
        case array(DynamicGenerationSchema, minimum: Int?, maximum: Int?)
        case type(any Generable.Type, [GuideConstraint])
        case reference(String)
        case null
    }

    /// Shared by copies, so that a schema that is used in many places is compared and kept as one.
    private final class Storage: Sendable {
        let node: Node

        init(_ node: Node) { self.node = node }
    }

    private let storage: Storage

    package var node: Node { storage.node }

    private init(_ node: Node) { storage = Storage(node) }
}

extension DynamicGenerationSchema {
    /// Whether two schemas are the same or written alike.
    static func == (left: DynamicGenerationSchema, right: DynamicGenerationSchema) -> Bool {
        if left.storage === right.storage { return true }
        return switch (left.node, right.node) {
        case (.structure(let a, let aboutA, let nilA, let these), .structure(let b, let aboutB, let nilB, let those)):
            a == b && aboutA == aboutB && nilA == nilB
                && these.elementsEqual(those) {
                    $0.name == $1.name && $0.description == $1.description && $0.isOptional == $1.isOptional
                        && $0.schema == $1.schema
                }
        case (.union(let a, let aboutA, let these), .union(let b, let aboutB, let those)):
            a == b && aboutA == aboutB && these.elementsEqual(those, by: ==)
        case (.choices(let a, let aboutA, let these), .choices(let b, let aboutB, let those)):
            a == b && aboutA == aboutB && these == those
        case (.array(let a, let minimumA, let maximumA), .array(let b, let minimumB, let maximumB)):
            minimumA == minimumB && maximumA == maximumB && a == b
        case (.type(let type, let constraints), .type(let otherType, let otherConstraints)):
            type == otherType && constraints == otherConstraints
        case (.reference(let name), .reference(let other)): name == other
        case (.null, .null): true
        default: false
        }
    }
}

extension DynamicGenerationSchema.Node {
    /// The name by which other schemas can refer to this one.
    var name: String? {
        switch self {
        case .structure(let name, _, _, _), .union(let name, _, _), .choices(let name, _, _): name
        case .array, .type, .reference, .null: nil
        }
    }
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
