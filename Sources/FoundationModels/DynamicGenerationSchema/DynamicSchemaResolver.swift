import JSON

/// Makes one document of dynamic schemas.
///
/// Schemas with a name come under `$defs`, except the root, which is the document itself. One that is written out in two places is
/// one schema when both are equal, and a fault when they are not.
struct DynamicSchemaResolver {
    typealias SchemaError = GenerationSchema.SchemaError

    /// How deep arrays may lie in each other.
    private static let depthLimit = 256

    private let root: DynamicGenerationSchema
    private let rootName: String?
    /// The schemas with a name, the root among them.
    private var known: [String: DynamicGenerationSchema] = [:]
    /// Dependencies that stand for a type with a name.
    private var knownTypes: [String: any Generable.Type] = [:]
    private var references: [String] = []
    private var types = SchemaResolver()
    /// Names that something written so far refers to, in that order.
    private var pending: [String] = []

    var faults: [SchemaFault] { types.faults }

    /// Looks at every schema, and throws what is wrong with any of them.
    init(root: DynamicGenerationSchema, dependencies: [DynamicGenerationSchema]) throws(SchemaError) {
        self.root = root
        rootName = root.node.name
        if let rootName { known[rootName] = root }
        for dependency in dependencies {
            if let name = dependency.node.name {
                guard known.updateValue(dependency, forKey: name) == nil else { throw duplicateType(name) }
            } else if case .type(let type, _) = dependency.node {
                let name = type.generationSchema.name
                guard knownTypes.updateValue(type, forKey: name) == nil else { throw duplicateType(name) }
            }
        }
        if let name = knownTypes.keys.first(where: { known[$0] != nil }) { throw duplicateType(name) }
        for schema in [root] + dependencies { try check(schema) }
        types.reserveNames(known.keys)
    }

    private func duplicateType(_ name: String) -> SchemaError {
        .duplicateType(
            schema: rootName, type: name, context: .init(debugDescription: "There are several schemas named '\(name)'.")
        )
    }

    /// Checks a schema and those written out in it. The nesting of hostile input does not deepen the call stack.
    private mutating func check(_ schema: DynamicGenerationSchema) throws(SchemaError) {
        // Taken from the end, so that faults are told in the order of the text.
        var open = Array(Inside(schema).contents.reversed())
        try checkItself(schema)
        while let schema = open.popLast() {
            if let name = schema.node.name {
                if let other = known[name] {
                    guard other == schema else { throw duplicateType(name) }
                    continue
                }
                known[name] = schema
            }
            try checkItself(schema)
            open += Inside(schema).contents.reversed()
        }
    }

    private mutating func checkItself(_ schema: DynamicGenerationSchema) throws(SchemaError) {
        switch schema.node {
        case .structure(let name, _, _, let properties):
            var seen: Set<String> = []
            for property in properties where !seen.insert(property.name).inserted {
                throw .duplicateProperty(
                    schema: name, property: property.name,
                    context: .init(debugDescription: "'\(name)' has several properties named '\(property.name)'."))
            }
        case .union(let name, _, let choices):
            if choices.isEmpty { throw emptyChoices(name) }
        case .choices(let name, _, let values):
            if values.isEmpty { throw emptyChoices(name) }
        case .reference(let name):
            references.append(name)
        case .array, .type, .null:
            break
        }
    }

    private func emptyChoices(_ name: String) -> SchemaError {
        .emptyTypeChoices(schema: name, context: .init(debugDescription: "'\(name)' has nothing to choose from."))
    }

    /// The schemas written out in a schema.
    private struct Inside {
        let contents: [DynamicGenerationSchema]

        init(_ schema: DynamicGenerationSchema) {
            contents =
                switch schema.node {
                case .structure(_, _, _, let properties): properties.map(\.schema)
                case .union(_, _, let choices): choices
                case .array(let element, _, _): [element]
                case .choices, .type, .reference, .null: []
                }
        }
    }

    mutating func document() throws(SchemaError) -> JSONObject {
        var document: JSONObject
        if case .type(let type, let constraints) = root.node {
            document = types.root(type)
            types.apply(constraints, to: &document, at: type.generationSchema.name)
        } else {
            document = rootName == nil ? use(root, depth: 0, at: "Schema") : write(root)
        }
        var definitions = JSONObject()
        var next = 0
        while next < pending.count {
            let name = pending[next]
            next += 1
            guard name != rootName, definitions[name] == nil else { continue }
            if let schema = known[name] {
                definitions[name] = .null
                definitions[name] = .object(write(schema))
            } else if let type = knownTypes[name] {
                _ = types.use(of: type)
            }
        }
        for (name, schema) in types.definitions { definitions[name] = schema }
        let missing = references.filter {
            known[$0] == nil && knownTypes[$0] == nil && definitions[$0] == nil
        }
        guard missing.isEmpty else {
            let names = missing.map { "'\($0)'" }.joined(separator: ", ")
            let subject = rootName.map { "'\($0)'" } ?? "The schema"
            throw .undefinedReferences(
                schema: rootName, references: missing,
                context: .init(debugDescription: "\(subject) refers to \(names), which no schema is named."))
        }
        if !definitions.isEmpty { document["$defs"] = .object(definitions) }
        return document
    }

    /// A schema as it stands where it is used.
    private mutating func use(_ schema: DynamicGenerationSchema, depth: Int, at path: String) -> JSONObject {
        switch schema.node {
        case .null:
            return ["type": "null"]
        case .reference(let name), .structure(let name, _, _, _), .union(let name, _, _), .choices(let name, _, _):
            pending.append(name)
            return SchemaResolver.reference(to: name == rootName ? nil : name)
        case .array(let element, let minimum, let maximum):
            guard depth < Self.depthLimit else {
                types.addFault(at: path, "arrays are nested deeper than \(Self.depthLimit)")
                return [:]
            }
            var array: JSONObject = ["type": "array", "items": .object(use(element, depth: depth + 1, at: path))]
            let counts = [minimum.map(GuideConstraint.minimumCount), maximum.map(GuideConstraint.maximumCount)]
            types.apply(counts.compactMap(\.self), to: &array, at: path)
            return array
        case .type(let type, let constraints):
            var schema = types.use(of: type)
            types.apply(constraints, to: &schema, at: path)
            return schema
        }
    }

    /// A schema with a name, as it stands under `$defs` or at the root.
    private mutating func write(_ schema: DynamicGenerationSchema) -> JSONObject {
        var object = JSONObject()
        object["title"] = schema.node.name.map(JSONValue.string)
        switch schema.node {
        case .structure(let name, let description, let explicitNil, let properties):
            object["description"] = description.map(JSONValue.string)
            var writer = StructureWriter(explicitNil: explicitNil)
            for property in properties {
                let value = use(property.schema, depth: 0, at: "\(name).\(property.name)")
                // Names have been found to be different.
                _ = writer.add(
                    property.name, description: property.description, schema: value, isOptional: property.isOptional)
            }
            writer.write(to: &object)
        case .union(let name, let description, let choices):
            object["description"] = description.map(JSONValue.string)
            object["anyOf"] = .array(choices.map { .object(use($0, depth: 0, at: name)) })
        case .choices(_, let description, let values):
            object["description"] = description.map(JSONValue.string)
            object["type"] = "string"
            var distinct: [JSONValue] = []
            for value in values.map(JSONValue.string) where !distinct.contains(value) { distinct.append(value) }
            object["enum"] = .array(distinct)
        case .array, .type, .reference, .null:
            break
        }
        return object
    }
}
