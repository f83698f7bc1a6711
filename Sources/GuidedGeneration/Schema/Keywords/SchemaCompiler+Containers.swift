import JSON

extension SchemaCompiler {
    // MARK: Arrays

    /// What the keywords for arrays leave; nil when there are none.
    func arrayShape(_ object: JSONObject, in node: SchemaDocument.Node) throws(GrammarError) -> ArrayShape? {
        var shape = ArrayShape.all
        shape.minimum = try count("minItems", object, in: node) ?? 0
        shape.maximum = try count("maxItems", object, in: node)

        let isOlder = document.dialect < .draft2020
        if let prefix = try children("prefixItems", object, in: node) { shape.prefix = prefix }
        if let items = object["items"] {
            if case .array = items {
                guard isOlder || object["prefixItems"] == nil else {
                    throw GrammarError(
                        .invalid, keyword: "items", path: "#" + node.path, "a list of schemas is 'prefixItems'")
                }
                shape.prefix = try children("items", object, in: node) ?? []
                if let rest = object["additionalItems"] { shape.rest = try child(rest, "additionalItems", of: node) }
            } else {
                shape.rest = try child(items, "items", of: node)
            }
        }
        if let value = object["uniqueItems"] {
            guard let flag = value.boolValue else {
                throw GrammarError(.invalid, keyword: "uniqueItems", path: "#" + node.path, "must be a boolean")
            }
            shape.isUnique = flag
        }
        if let contains = object["contains"] {
            let minimum = try count("minContains", object, in: node) ?? 1
            let maximum = try count("maxContains", object, in: node)
            if minimum > 0 || maximum != nil {
                shape.contains = [
                    .init(
                        expression: try child(contains, "contains", of: node), start: 0, minimum: minimum,
                        maximum: maximum)
                ]
            }
        }
        if let value = object["unevaluatedItems"], try !isAlwaysTrue(value, "unevaluatedItems", node) {
            // Where nothing but this schema's own items can have evaluated an element, it is what holds for the rest.
            guard Self.inPlaceApplicators.allSatisfy({ object[$0] == nil }), object["contains"] == nil else {
                throw GrammarError(
                    .unsupported, keyword: "unevaluatedItems", path: "#" + node.path,
                    "beside keywords that evaluate items elsewhere")
            }
            if object["items"] == nil || object["items"]?.arrayValue != nil && object["additionalItems"] == nil {
                shape.rest = try child(value, "unevaluatedItems", of: node)
            }
        }
        if shape == .all { return nil }
        // No array is left: one that is shorter than nothing.
        return shape.normalized() ?? ArrayShape(rest: .never, minimum: 1, maximum: 0)
    }

    /// The keywords that apply other schemas to the same value.
    static let inPlaceApplicators = [
        "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas",
        "dependencies",
    ]

    private func isAlwaysTrue(
        _ value: JSONValue, _ keyword: String, _ node: SchemaDocument.Node
    ) throws(GrammarError) -> Bool { try child(value, keyword, of: node) == .any }

    // MARK: Objects

    /// What the keywords for objects leave; nil when there are none.
    func objectShape(_ object: JSONObject, in node: SchemaDocument.Node) throws(GrammarError) -> ObjectShape? {
        var shape = ObjectShape.all
        shape.minimum = try count("minProperties", object, in: node) ?? 0
        shape.maximum = try count("maxProperties", object, in: node)

        let properties = try schemaMap("properties", object, in: node) ?? JSONObject()
        let patternMap = try schemaMap("patternProperties", object, in: node) ?? JSONObject()
        var patterns: [(automaton: Automaton, value: ExpressionID)] = []
        for (pattern, value) in patternMap {
            let automaton = try automaton(ofPattern: pattern, keyword: "patternProperties", in: node)
            patterns.append((automaton, try child(value, "patternProperties", key: pattern, of: node)))
        }
        var additional = ExpressionID.any
        if let value = object["additionalProperties"] {
            additional = try child(value, "additionalProperties", of: node)
        }
        if let value = object["unevaluatedProperties"], try !isAlwaysTrue(value, "unevaluatedProperties", node) {
            guard Self.inPlaceApplicators.allSatisfy({ object[$0] == nil }) else {
                throw GrammarError(
                    .unsupported, keyword: "unevaluatedProperties", path: "#" + node.path,
                    "beside keywords that evaluate properties elsewhere")
            }
            if object["additionalProperties"] == nil {
                additional = try child(value, "unevaluatedProperties", of: node)
            }
        }
        let required = try names("required", object, in: node)

        func declared(_ key: String, _ value: ExpressionID?) -> ExpressionID {
            let matching = patterns.filter { $0.automaton.matches(key) }.map(\.value)
            if value == nil, matching.isEmpty { return additional }
            return algebra.table.all((value.map { [$0] } ?? []) + matching)
        }
        var places: [ExactText: Int] = [:]
        for key in try order(of: properties, object, in: node) {
            guard let value = properties[key] else { continue }
            places[ExactText(key)] = shape.members.count
            shape.members.append(
                .init(
                    key: ExactText(key), value: declared(key, try child(value, "properties", key: key, of: node)),
                    isRequired: false))
        }
        for key in required {
            if let place = places[ExactText(key)] {
                shape.members[place].isRequired = true
            } else {
                places[ExactText(key)] = shape.members.count
                shape.members.append(.init(key: ExactText(key), value: declared(key, nil), isRequired: true))
            }
        }

        do {
            // Split all keys by the patterns that they match.
            var parts: [(keys: Automaton, values: [ExpressionID])] = [(.universal, [])]
            for (automaton, value) in patterns {
                var split: [(keys: Automaton, values: [ExpressionID])] = []
                for part in parts {
                    let inside = try algebra.intersection(part.keys, automaton)
                    let outside = try algebra.difference(part.keys, automaton)
                    if !inside.isEmpty { split.append((inside, part.values + [value])) }
                    if !outside.isEmpty { split.append((outside, part.values)) }
                }
                parts = split
            }
            var groups: [ObjectShape.Group] = []
            for part in parts {
                let value = part.values.isEmpty ? additional : algebra.table.all(part.values)
                let keys = part.keys.isUniversal ? ObjectShape.universalKeys : InternedAutomaton(part.keys)
                groups.append(.init(keys: keys, value: value))
            }
            shape.groups = groups
        } catch {
            throw GrammarError(
                .tooComplex, keyword: "patternProperties", path: "#" + node.path,
                "the patterns overlap in too many ways")
        }
        if let value = object["propertyNames"] {
            try restrictNames(of: &shape, to: try child(value, "propertyNames", of: node), in: node)
        }
        if shape == .all { return nil }
        return shape
    }

    /// The keys of `properties` in the order that the values are written in: `x-order` first, where it is given.
    private func order(
        of properties: JSONObject, _ object: JSONObject, in node: SchemaDocument.Node
    ) throws(GrammarError) -> [String] {
        guard object["x-order"]?.arrayValue != nil else { return properties.keys }
        var seen: Set<ExactText> = []
        return (try names("x-order", object, in: node) + properties.keys).filter {
            properties[$0] != nil && seen.insert(ExactText($0)).inserted
        }
    }

    func names(_ keyword: String, _ object: JSONObject, in node: SchemaDocument.Node) throws(GrammarError) -> [String] {
        guard let value = object[keyword] else { return [] }
        return try names(value, keyword, in: node)
    }

    func names(_ value: JSONValue, _ keyword: String, in node: SchemaDocument.Node) throws(GrammarError) -> [String] {
        guard let list = value.arrayValue else {
            throw GrammarError(.invalid, keyword: keyword, path: "#" + node.path, "must be an array of names")
        }
        var result: [String] = []
        for element in list {
            guard let name = element.stringValue else {
                throw GrammarError(.invalid, keyword: keyword, path: "#" + node.path, "must be an array of names")
            }
            result.append(name)
        }
        return result
    }

    private func restrictNames(
        of shape: inout ObjectShape, to expression: ExpressionID, in node: SchemaDocument.Node
    ) throws(GrammarError) {
        if expression == .any { return }
        let strings = try form(expression).strings
        do {
            var allowed = Automaton.empty
            for string in strings {
                let language = try algebra.languageWithLength(string)
                allowed = try algebra.union(allowed, language)
            }
            for index in shape.members.indices where !allowed.matches(shape.members[index].key.string) {
                shape.members[index].value = .never
            }
            var groups: [ObjectShape.Group] = []
            for group in shape.groups {
                let inside = try algebra.intersection(group.keys.automaton, allowed)
                if !inside.isEmpty { groups.append(.init(keys: InternedAutomaton(inside), value: group.value)) }
            }
            let outside = try algebra.difference(.universal, allowed)
            if !outside.isEmpty { groups.append(.init(keys: InternedAutomaton(outside), value: .never)) }
            shape.groups = groups
        } catch {
            throw GrammarError(
                .tooComplex, keyword: "propertyNames", path: "#" + node.path, "the names need too large an automaton")
        }
    }
}
