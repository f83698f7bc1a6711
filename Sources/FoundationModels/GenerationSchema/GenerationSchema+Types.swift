extension GenerationSchema {
    /// Describes a structure.
    public init(type: any Generable.Type, description: String? = nil, properties: [GenerationSchema.Property]) {
        self.init(
            type: type, _name: nil, description: description, representNilExplicitlyInGeneratedContent: false,
            properties: properties)
    }

    /// Describes a structure.
    ///
    /// - Parameter explicitNil: Whether a missing value of an optional property is written as null rather than left out.
    public init(
        type: any Generable.Type, description: String? = nil,
        representNilExplicitlyInGeneratedContent explicitNil: Bool,
        properties: [GenerationSchema.Property]
    ) {
        self.init(
            type: type, _name: nil, description: description, representNilExplicitlyInGeneratedContent: explicitNil,
            properties: properties)
    }

    /// Describes a string that is one of some choices.
    public init(type: any Generable.Type, description: String? = nil, anyOf choices: [String]) {
        self.init(type: type, _name: nil, description: description, anyOf: choices)
    }

    /// Describes a value that is of one of some types.
    public init(type: any Generable.Type, description: String? = nil, anyOf types: [any Generable.Type]) {
        self.init(type: type, _name: nil, description: description, anyOf: types)
    }
}

// The same under another name than the type's own; what `@Generable(name:)` expands to.
extension GenerationSchema {
    @_documentation(visibility: private)
    public init(
        type: any Generable.Type, _name name: String?, description: String?,
        representNilExplicitlyInGeneratedContent explicitNil: Bool, properties: [GenerationSchema.Property]
    ) {
        self.init(
            definition: SchemaDefinition(
                type: type, name: name, description: description,
                body: .structure(properties, explicitNil: explicitNil)))
    }

    @_documentation(visibility: private)
    public init(type: any Generable.Type, _name name: String?, description: String?, anyOf choices: [String]) {
        self.init(
            definition: SchemaDefinition(type: type, name: name, description: description, body: .choices(choices)))
    }

    @_documentation(visibility: private)
    public init(
        type: any Generable.Type, _name name: String?, description: String?, anyOf types: [any Generable.Type]
    ) {
        self.init(
            definition: SchemaDefinition(type: type, name: name, description: description, body: .union(types)))
    }
}

// Enumerations with associated values: one structure for each case, told apart by a property that holds the name of the case.
extension GenerationSchema {
    @_documentation(visibility: private)
    public init(
        type: any Generable.Type, description: String? = nil,
        representNilExplicitlyInGeneratedContent explicitNil: Bool = false, _discriminator discriminator: String,
        cases: [(name: String, properties: [GenerationSchema.Property])]
    ) {
        self.init(
            type: type, _name: nil, description: description, representNilExplicitlyInGeneratedContent: explicitNil,
            _discriminator: discriminator, cases: cases)
    }

    @_documentation(visibility: private)
    public init(
        type: any Generable.Type, _name name: String?, description: String?,
        representNilExplicitlyInGeneratedContent explicitNil: Bool, _discriminator discriminator: String,
        cases: [(name: String, properties: [GenerationSchema.Property])]
    ) {
        self.init(
            definition: SchemaDefinition(
                type: type, name: name, description: description,
                body: .cases(cases, discriminator: discriminator, explicitNil: explicitNil)))
    }
}
