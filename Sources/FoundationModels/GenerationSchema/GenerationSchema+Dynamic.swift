import JSON

extension GenerationSchema {
    /// Makes a schema of one that a program put together and of those it refers to.
    ///
    /// - Throws: ``SchemaError`` when two of them have one name, when properties of one structure have one name, when there is
    ///   nothing to choose from, or when a schema is referred to that is not there.
    public init(root: DynamicGenerationSchema, dependencies: [DynamicGenerationSchema]) throws {
        let resolved = try SchemaResolver.resolve(root: root, dependencies: dependencies)
        self.init(document: resolved.document, faults: resolved.faults)
    }
}

extension DynamicGenerationSchema {
    /// The name by which others can refer to the schema.
    var name: String? {
        switch node {
        case .structure(let name, _, _, _), .union(let name, _, _), .choices(let name, _, _): name
        case .type(let type, _):
            if case .definition(let definition) = type.generationSchema.source { definition.name } else { nil }
        case .array, .reference, .null: nil
        }
    }
}

extension SchemaResolver {
    static func resolve(
        root: DynamicGenerationSchema, dependencies: [DynamicGenerationSchema]
    ) throws(GenerationSchema.SchemaError) -> (document: JSONObject, faults: [SchemaFault]) {
        var dynamic = DynamicResolver(root: root)
        for dependency in dependencies { try dynamic.declare(dependency) }
        return try dynamic.resolve()
    }
}

/// Makes one document of dynamic schemas.
///
/// Schemas with a name come under `$defs`, except the root, which is the document itself. One that is written out in two places is
/// one schema when both are equal, and a fault when they are not.
private struct DynamicResolver {
    let root: DynamicGenerationSchema
    private let rootName: String?
    private var declared: [String: DynamicGenerationSchema] = [:]
    private var declarationOrder: [String] = []
    private var definitions = JSONObject()
    private var faults: [SchemaFault] = []
    private var references: [String] = []
    private var types = SchemaResolver()

    init(root: DynamicGenerationSchema) {
        self.root = root
        rootName = root.name
    }

    mutating func declare(_ schema: DynamicGenerationSchema) throws(GenerationSchema.SchemaError) {
        guard let name = schema.name else { return }
        guard name != rootName, declared.updateValue(schema, forKey: name) == nil else { throw duplicateType(name) }
        declarationOrder.append(name)
    }

    mutating func resolve() throws(GenerationSchema.SchemaError) -> (document: JSONObject, faults: [SchemaFault]) {
        types.reserve(Set(declared.keys).union(rootName.map { [$0] } ?? []))
        var document: JSONObject
        switch root.node {
        case .type(let type, let constraints):
            // The type is the root, as far as nothing else stands beside it.
            document = types.root(type, constraints)
        default:
            document = try isNamed(root) ? write(root) : use(root)
        }
        // What is referred to, in the order in which it is.
        var next = 0
        var reached = reachable(next: &next)
        while let name = reached {
            if name != rootName, definitions[name] == nil, let schema = declared[name] {
                definitions[name] = .null
                definitions[name] = .object(try isNamed(schema) ? write(schema) : use(schema))
            }
            reached = reachable(next: &next)
        }
        // Dependencies that nothing refers to are left out, but their faults are told.
        var unused = self
        for name in declarationOrder where definitions[name] == nil {
            guard let schema = declared[name] else { continue }
            _ = try unused.isNamed(schema) ? unused.write(schema) : unused.use(schema)
        }
        let typeDefinitions = types.takeDefinitions()
        let missing = unused.references.filter { name in
            name != rootName && declared[name] == nil && definitions[name] == nil && typeDefinitions[name] == nil
        }
        guard missing.isEmpty else {
            let names = missing.map { "'\($0)'" }.joined(separator: ", ")
            throw .undefinedReferences(
                schema: rootName, references: missing,
                context: .init(
                    debugDescription: "The schema \(rootName.map { "'\($0)' " } ?? "")refers to \(names), not defined anywhere.")
            )
        }
        for (name, schema) in typeDefinitions { definitions[name] = schema }
        if !definitions.isEmpty { document["$defs"] = .object(definitions) }
        return (document, faults + types.faults)
    }

    private func reachable(next: inout Int) -> String? {
        guard next < references.count else { return nil }
        defer { next += 1 }
        return references[next]
    }

    private func isNamed(_ schema: DynamicGenerationSchema) -> Bool {
        switch schema.node {
        case .structure, .union, .choices: true
        case .array, .type, .reference, .null: false
        }
    }

    /// A schema as it stands where it is used.
    private mutating func use(_ schema: DynamicGenerationSchema) throws(GenerationSchema.SchemaError) -> JSONObject {
        switch schema.node {
        case .null:
            return ["type": "null"]
        case .reference(let name):
            return reference(to: name)
        case .array(let element, let minimum, let maximum):
            var array: JSONObject = ["type": "array", "items": .object(try use(element))]
            apply([minimum.map(GuideConstraint.minimumCount), maximum.map(GuideConstraint.maximumCount)].compactMap(\.self), to: &array)
            return array
        case .type(let type, let constraints):
            var object = types.use(of: type)
            apply(constraints, to: &object)
            return object
        case .structure(let name, _, _, _), .union(let name, _, _), .choices(let name, _, _):
            let before = definitions[name]
            if before == nil, name != rootName, declared[name] == nil { definitions[name] = .null }
            let written = JSONValue.object(try write(schema))
            if name == rootName || declared[name] != nil || before != nil {
                guard try known(name) == written else { throw duplicateType(name) }
            } else {
                definitions[name] = written
            }
            return reference(to: name)
        }
    }
}
