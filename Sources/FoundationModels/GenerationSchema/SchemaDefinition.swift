/// The schema of a type with a name of its own, before the types it refers to are looked at.
package struct SchemaDefinition: Sendable {
    package enum Body: Sendable {
        /// - Parameter explicitNil: Whether a missing value is written as null rather than left out.
        case structure([GenerationSchema.Property], explicitNil: Bool)
        case choices([String])
        case union([any Generable.Type])
        /// One structure for each case of an enumeration, whose first property holds the name of the case.
        case cases(
            [(name: String, properties: [GenerationSchema.Property])], discriminator: String, explicitNil: Bool)
    }

    let type: any Generable.Type
    let name: String
    let description: String?
    let body: Body

    init(type: any Generable.Type, name: String?, description: String?, body: Body) {
        self.type = type
        self.name = name ?? String(describing: type)
        self.description = description
        self.body = body
    }
}
