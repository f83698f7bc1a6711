import JSON

/// Turns schemas that refer to types into one document, in which every named type but the root stands once under `$defs`.
struct SchemaResolver {
    private(set) var faults: [SchemaFault] = []
    private var definitions = JSONObject()
    /// The names given to types under `$defs`; the root's is nil.
    private var names: [ObjectIdentifier: String?] = [:]

    mutating func document(of schema: GenerationSchema) -> JSONObject {
        var document: JSONObject
        switch schema.source {
        case .document(let whole, let faults):
            self.faults += faults
            return whole
        case .inline(let inline):
            document = inline
        case .array(let element):
            document = array(of: element)
        case .definition(let definition):
            names[ObjectIdentifier(definition.type)] = .some(nil)
            document = resolve(definition)
        }
        if !definitions.isEmpty { document["$defs"] = .object(definitions) }
        return document
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
        if let known = names[key] { return reference(to: known) }
        var unique = name
        var count = 1
        while definitions[unique] != nil {
            count += 1
            unique = "\(name)\(count)"
        }
        names[key] = unique
        definitions[unique] = .null
        definitions[unique] = .object(makeSchema(&self, pointer(to: unique)))
        return reference(to: unique)
    }

    private func pointer(to name: String) -> String {
        "/$defs/" + name.replacing("~", with: "~0").replacing("/", with: "~1")
    }

    private func reference(to name: String?) -> JSONObject {
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
            if choices.isEmpty {
                faults.append(SchemaFault(path: definition.name, reason: "there are no choices"))
            }
            schema["type"] = "string"
            schema["enum"] = .array(choices.map(JSONValue.string))
        case .union(let types):
            if types.isEmpty { faults.append(SchemaFault(path: definition.name, reason: "there are no choices")) }
            schema["anyOf"] = .array(types.map { .object(use(of: $0)) })
        case .structure(let properties, let explicitNil):
            var writer = StructureWriter(name: definition.name, explicitNil: explicitNil)
            for property in properties {
                var value = use(of: property.type)
                let path = "\(definition.name).\(property.name)"
                for constraint in property.constraints {
                    guard let reason = constraint.apply(to: &value) else { continue }
                    faults.append(
                        SchemaFault(path: path, reason: "the guide '\(constraint.name)' cannot be kept: \(reason)"))
                }
                let isNew = writer.add(
                    property.name, description: property.description, schema: value, isOptional: property.isOptional)
                if !isNew { faults.append(SchemaFault(path: path, reason: "the property is declared twice")) }
            }
            writer.write(to: &schema)
        }
        return schema
    }
}

/// Writes the keywords of an object schema.
struct StructureWriter {
    let explicitNil: Bool
    private var properties = JSONObject()
    private var required: [JSONValue] = []

    init(name: String, explicitNil: Bool) { self.explicitNil = explicitNil }

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
