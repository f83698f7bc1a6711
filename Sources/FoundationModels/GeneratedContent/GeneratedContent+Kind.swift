import JSON

extension GeneratedContent {
    /// What a content can be.
    public enum Kind: Equatable, Sendable {
        case null
        case bool(Bool)
        /// The nearest `Double`. Reading the content as an `Int` or a `Decimal` keeps digits that a `Double` has no place for.
        case number(Double)
        case string(String)
        case array([GeneratedContent])
        /// - Parameters:
        ///   - properties: The values by their keys.
        ///   - orderedKeys: The keys in the order in which they were generated.
        case structure(properties: [String: GeneratedContent], orderedKeys: [String])

        /// Kinds are equal when they hold equal values, in whatever order a structure has its keys.
        public static func == (a: GeneratedContent.Kind, b: GeneratedContent.Kind) -> Bool {
            GeneratedContent(kind: a) == GeneratedContent(kind: b)
        }
    }

    /// Makes content of a kind. Keys of a structure that `orderedKeys` leaves out come last, sorted; keys without a value are
    /// left out.
    public init(kind: GeneratedContent.Kind, id: GenerationID? = nil) {
        switch kind {
        case .null: self.init(node: .null, id: id)
        case .bool(let value): self.init(node: .bool(value), id: id)
        case .number(let value): self.init(node: Node(value), id: id)
        case .string(let value): self.init(node: .string(value), id: id)
        case .array(let elements):
            self.init(node: .array(elements), id: id, isComplete: elements.allSatisfy(\.isComplete))
        case .structure(let properties, let orderedKeys):
            var seen: Set<String> = []
            var keys = orderedKeys.filter { properties[$0] != nil && seen.insert($0).inserted }
            if keys.count < properties.count {
                keys += properties.keys.filter { !seen.contains($0) }.sorted()
            }
            self.init(
                node: .structure(properties: properties, orderedKeys: keys), id: id,
                isComplete: properties.values.allSatisfy(\.isComplete))
        }
    }

    /// The content as one of a few kinds, to be looked at without a type.
    public var kind: GeneratedContent.Kind {
        switch node {
        case .null: .null
        case .bool(let value): .bool(value)
        case .number(let number): .number(number.doubleValue)
        case .nonFiniteNumber(let value): .number(value)
        case .string(let value): .string(value)
        case .array(let elements): .array(elements)
        case .structure(let properties, let orderedKeys): .structure(properties: properties, orderedKeys: orderedKeys)
        }
    }
}

extension GeneratedContent.Node {
    package init(_ value: Double) {
        self = JSONNumber(value).map(Self.number) ?? .nonFiniteNumber(value)
    }

    /// What the node is, for error texts.
    package var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number, .nonFiniteNumber: "a number"
        case .string: "a string"
        case .array: "an array"
        case .structure: "a structure"
        }
    }
}
