import JSON

/// Turns schemas that refer to types into one document, in which every named type but the root stands once under `$defs`.
struct SchemaResolver {
    private(set) var faults: [SchemaFault] = []
    /// What `$defs` holds.
    private(set) var definitions = JSONObject()
    /// The names given to types under `$defs`; the root's is nil.
    private var names: [ObjectIdentifier: String?] = [:]

    /// Names that types cannot have under `$defs` because other schemas have them.
    private var reserved: Set<String> = []

    mutating func reserveNames(_ names: some Sequence<String>) { reserved.formUnion(names) }

    mutating func document(of schema: GenerationSchema) -> JSONObject {
        var document = root(schema)
        if case .document = schema.source { return document }
        if !definitions.isEmpty { document["$defs"] = .object(definitions) }
        return document
    }

    /// The schema of a type that is the root of the document, without `$defs`.
    mutating func root(_ type: any Generable.Type) -> JSONObject { root(type.generationSchema) }

    private mutating func root(_ schema: GenerationSchema) -> JSONObject {
        switch schema.source {
        case .document(let document, let faults):
            self.faults += faults
            return document
        case .inline(let inline):
            return inline
        case .array(let element):
            return array(of: element)
        case .definition(let definition):
            names[ObjectIdentifier(definition.type)] = .some(nil)
            return resolve(definition)
        }
    }

    mutating func addFault(at path: String, _ reason: String) {
        faults.append(SchemaFault(path: path, reason: reason))
    }

    /// Writes guides into a schema, and notes those that cannot be kept.
    mutating func apply(_ constraints: [GuideConstraint], to schema: inout JSONObject, at path: String) {
        for constraint in constraints {
            guard let reason = constraint.apply(to: &schema) else { continue }
            addFault(at: path, "the guide '\(constraint.name)' cannot be kept: \(reason)")
        }
    }

    /// The schema of a type as it stands where the type is used: itself when it is short, else a reference.
    mutating func use(of type: any Generable.Type) -> JSONObject {
        let schema = type.generationSchema
        switch schema.source {
        case .inline(let inline):
            return inline
        case .array(let element):
            return array(of: element)
        case .definition(let definition):
            return define(ObjectIdentifier(definition.type), name: definition.name) { resolver, _ in
                resolver.resolve(definition)
            }
        case .document(let document, let faults):
            return define(ObjectIdentifier(type), name: schema.name) { resolver, pointer in
                resolver.faults += faults
                return SchemaDocument.rebasing(document, to: pointer)
            }
        }
    }

    private mutating func define(
        _ key: ObjectIdentifier, name: String,
        as makeSchema: (inout SchemaResolver, _ pointer: String) -> JSONObject
    ) -> JSONObject {
        if let known = names[key] { return Self.reference(to: known) }
        var unique = name
        var count = 1
        while definitions[unique] != nil || reserved.contains(unique) {
            count += 1
            unique = "\(name)\(count)"
        }
        names[key] = unique
        definitions[unique] = .null
        definitions[unique] = .object(makeSchema(&self, Self.pointer(to: unique)))
        return Self.reference(to: unique)
    }

    private static func pointer(to name: String) -> String {
        "/$defs/" + name.replacing("~", with: "~0").replacing("/", with: "~1")
    }

    static func reference(to name: String?) -> JSONObject {
        ["$ref": .string(name.map { "#" + pointer(to: $0) } ?? "#")]
    }

    private mutating func array(of element: any Generable.Type) -> JSONObject {
        ["type": "array", "items": .object(use(of: element))]
    }

    private mutating func resolve(_ definition: SchemaDefinition) -> JSONObject {
        var schema: JSONObject = ["title": .string(definition.name)]
        schema["description"] = definition.description.map(JSONValue.string)
        switch definition.body {
        case .choices(let choices):
            if choices.isEmpty { addFault(at: definition.name, "there are no choices") }
            schema["type"] = "string"
            schema["enum"] = .array(choices.map(JSONValue.string))
        case .union(let types):
            if types.isEmpty { addFault(at: definition.name, "there are no choices") }
            schema["anyOf"] = .array(types.map { .object(use(of: $0)) })
        case .structure(let properties, let explicitNil):
            var writer = StructureWriter(explicitNil: explicitNil)
            add(properties, to: &writer, of: definition.name)
            writer.write(to: &schema)
        case .cases(let cases, let discriminator, let explicitNil):
            schema["anyOf"] = .array(
                cases.map { name, properties in
                    var writer = StructureWriter(explicitNil: explicitNil)
                    _ = writer.add(
                        discriminator, description: nil, schema: ["type": "string", "enum": [.string(name)]],
                        isOptional: false)
                    add(properties, to: &writer, of: "\(definition.name).\(name)")
                    var schema: JSONObject = ["title": .string(name)]
                    writer.write(to: &schema)
                    return .object(schema)
                })
        }
        return schema
    }

    private mutating func add(
        _ properties: [GenerationSchema.Property], to writer: inout StructureWriter, of name: String
    ) {
        for property in properties {
            let path = "\(name).\(property.name)"
            var value = use(of: property.type)
            apply(property.constraints, to: &value, at: path)
            let isNew = writer.add(
                property.name, description: property.description, schema: value, isOptional: property.isOptional)
            if !isNew { addFault(at: path, "the property is declared twice") }
        }
    }
}

/// Writes the keywords of an object schema.
struct StructureWriter {
    let explicitNil: Bool
    private var properties = JSONObject()
    private var required: [JSONValue] = []

    init(explicitNil: Bool) { self.explicitNil = explicitNil }

    /// Adds a property after those there are.
    ///
    /// - Returns: False when there is one of that name, which is then kept.
    mutating func add(_ name: String, description: String?, schema: JSONObject, isOptional: Bool) -> Bool {
        guard properties[name] == nil else { return false }
        let isNullable = isOptional && explicitNil
        if !isOptional || isNullable { required.append(.string(name)) }
        var property = JSONObject()
        property["description"] = description.map(JSONValue.string)
        if isNullable {
            property["anyOf"] = [.object(schema), ["type": "null"]]
        } else {
            for (keyword, value) in schema { property[keyword] = value }
            // What is said of the property beside what is said of its type.
            if let description { property["description"] = .string(description) }
        }
        properties[name] = .object(property)
        return true
    }

    func write(to schema: inout JSONObject) {
        schema["type"] = "object"
        schema["properties"] = .object(properties)
        schema["required"] = .array(required)
        schema["additionalProperties"] = false
        schema[SchemaDocument.orderKeyword] = .array(properties.keys.map(JSONValue.string))
    }
}
