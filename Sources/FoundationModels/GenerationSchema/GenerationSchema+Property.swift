extension GenerationSchema {
    /// A property of a structure.
    public struct Property: Sendable {
        let name: String
        let description: String?
        let type: any Generable.Type
        let isOptional: Bool
        let constraints: [GuideConstraint]
    }
}

extension GenerationSchema.Property {
    /// A property that every value has.
    public init<Value>(
        name: String, description: String? = nil, type: Value.Type, guides: [GenerationGuide<Value>] = []
    ) where Value: Generable {
        self.init(
            name: name, description: description, type: type, isOptional: false,
            constraints: guides.flatMap(\.constraints))
    }

    /// A property that the model may leave out.
    public init<Value>(
        name: String, description: String? = nil, type: Value?.Type, guides: [GenerationGuide<Value>] = []
    ) where Value: Generable {
        self.init(
            name: name, description: description, type: Value.self, isOptional: true,
            constraints: guides.flatMap(\.constraints))
    }

    /// A string that matches each of some regular expressions as a whole.
    public init<RegexOutput>(
        name: String, description: String? = nil, type: String.Type, guides: [Regex<RegexOutput>] = []
    ) {
        self.init(
            name: name, description: description, type: type, isOptional: false,
            constraints: guides.map(GuideConstraint.init))
    }

    /// A string that the model may leave out and that otherwise matches each of some regular expressions as a whole.
    public init<RegexOutput>(
        name: String, description: String? = nil, type: String?.Type, guides: [Regex<RegexOutput>] = []
    ) {
        self.init(
            name: name, description: description, type: String.self, isOptional: true,
            constraints: guides.map(GuideConstraint.init))
    }
}
