extension GenerationSchema {
    /// Makes a schema of one that a program put together and of those it refers to.
    ///
    /// - Throws: ``SchemaError`` when two of them have one name, when properties of one structure have one name, when there is
    ///   nothing to choose from, or when a schema is referred to that is not there.
    public init(root: DynamicGenerationSchema, dependencies: [DynamicGenerationSchema]) throws {
        var resolver = try DynamicSchemaResolver(root: root, dependencies: dependencies)
        let document = try resolver.document()
        self.init(document: document, faults: resolver.faults)
    }
}
