import JSON

extension SchemaCompiler {
    /// The form of a subschema: what each of its keywords leaves, met.
    func expand(_ node: SchemaDocument.Node) throws(GrammarError) -> NormalForm {
        guard let object = node.value.objectValue else {
            if let flag = node.value.boolValue { return flag ? .any : .never }
            throw GrammarError(
                .invalid, keyword: "schema", path: "#" + node.path, "a schema must be an object or a boolean")
        }
        // A reference of the editions up to draft 7 makes its neighbours void.
        if document.dialect <= .draft7, let reference = object["$ref"] {
            return try form(try target(of: reference, keyword: "$ref", in: node))
        }
        try checkKeywords(object, in: node)

        var result = try typeForm(object, in: node)
        if let shape = try numberShape(object, in: node) { try meet(&result, \.numbers, [shape], "minimum", node) }
        if let shapes = try stringShapes(object, in: node) { try meet(&result, \.strings, shapes, "pattern", node) }
        if let shape = try arrayShape(object, in: node) { try meet(&result, \.arrays, [shape], "items", node) }
        if let shape = try objectShape(object, in: node) { try meet(&result, \.objects, [shape], "properties", node) }

        if let value = object["const"] {
            try meet(&result, try constant(value, keyword: "const", path: node.path), "const", node)
        }
        if let value = object["enum"] { try meet(&result, try enumForm(value, in: node), "enum", node) }
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            guard let value = object[keyword] else { continue }
            try meet(&result, try form(try target(of: value, keyword: keyword, in: node)), keyword, node)
        }
        try applyCombinations(object, to: &result, in: node)
        return result
    }

    func meet(_ form: inout NormalForm, _ other: NormalForm, _ keyword: String, _ node: SchemaDocument.Node)
        throws(GrammarError)
    {
        let allowed = !form.isPlainlyEmpty
        form = try intersection(form, other, keyword: keyword, path: node.path)
        if allowed, form.isPlainlyEmpty { contradictions[node.path] = (keyword, other.isPlainlyEmpty) }
    }

    /// Meets the shapes of one type alone.
    private func meet<Shape>(
        _ form: inout NormalForm, _ shapes: WritableKeyPath<NormalForm, [Shape]>, _ other: [Shape], _ keyword: String,
        _ node: SchemaDocument.Node
    ) throws(GrammarError) {
        guard !form[keyPath: shapes].isEmpty else { return }
        var one = NormalForm.never
        one[keyPath: shapes] = form[keyPath: shapes]
        var two = NormalForm.never
        two[keyPath: shapes] = other
        form[keyPath: shapes] = try intersection(one, two, keyword: keyword, path: node.path)[keyPath: shapes]
        if form.isPlainlyEmpty { contradictions[node.path] = (keyword, false) }
    }

    private func target(
        of value: JSONValue, keyword: String, in node: SchemaDocument.Node
    ) throws(GrammarError) -> ExpressionID {
        guard let text = value.stringValue else {
            throw GrammarError(.invalid, keyword: keyword, path: "#" + node.path, "must be a string")
        }
        if keyword == "$recursiveRef" {
            guard text == "#", document.root["$recursiveAnchor"] == nil else {
                throw GrammarError(
                    .unsupported, keyword: keyword, path: "#" + node.path,
                    "only '#' without '$recursiveAnchor' can be followed")
            }
        }
        let target =
            keyword == "$dynamicRef"
            ? try document.resolveDynamic(text, from: node, keyword: keyword)
            : try document.resolve(text, from: node, keyword: keyword)
        return expression(target)
    }

    // MARK: Which keywords there are

    /// Keywords that say something about values, each enforced or refused where it is read.
    static let assertions: Set<String> = [
        "type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
        "minLength",
        "maxLength", "pattern", "format", "items", "prefixItems", "additionalItems", "contains", "minContains",
        "maxContains",
        "minItems", "maxItems", "uniqueItems", "properties", "required", "additionalProperties", "patternProperties",
        "propertyNames", "minProperties", "maxProperties", "dependencies", "dependentRequired", "dependentSchemas",
        "allOf",
        "anyOf", "oneOf", "not", "if", "then", "else", "unevaluatedProperties", "unevaluatedItems", "$ref",
        "$dynamicRef",
        "$recursiveRef", Grammar.swiftRegexKeyword,
    ]

    private static let lowercased = Dictionary(
        assertions.map { ($0.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })

    /// Refuses what looks like a keyword but is none. Other unknown keywords are annotations, as the specification has it.
    private func checkKeywords(_ object: JSONObject, in node: SchemaDocument.Node) throws(GrammarError) {
        for key in object.keys where !Self.assertions.contains(key) {
            if let meant = Self.lowercased[key.lowercased()] {
                throw GrammarError(
                    .unsupported, keyword: key, path: "#" + node.path, "is not a keyword; '\(meant)' is")
            }
            switch key {
            case "extends", "disallow", "divisibleBy":
                guard document.dialect == .draft3 else { continue }
                throw GrammarError(
                    .unsupported, keyword: key, path: "#" + node.path, "keywords of draft 3 are not enforced")
            default: continue
            }
        }
    }

    // MARK: type and enum

    private func typeForm(_ object: JSONObject, in node: SchemaDocument.Node) throws(GrammarError) -> NormalForm {
        guard let value = object["type"] else { return .any }
        var names: [String] = []
        switch value {
        case .string(let name): names = [name]
        case .array(let list):
            for element in list {
                guard let name = element.stringValue else {
                    throw GrammarError(.invalid, keyword: "type", path: "#" + node.path, "must name types")
                }
                names.append(name)
            }
        default: throw GrammarError(.invalid, keyword: "type", path: "#" + node.path, "must name one type or several")
        }
        var form = NormalForm.never
        for name in names {
            switch name {
            case "null": form.allowsNull = true
            case "boolean": (form.allowsTrue, form.allowsFalse) = (true, true)
            case "number": form.numbers = [.all]
            case "integer": if form.numbers.isEmpty { form.numbers = [.integers] }
            case "string": form.strings = [.all]
            case "array": form.arrays = [.all]
            case "object": form.objects = [.all]
            case "any" where document.dialect == .draft3: form = .any
            default:
                throw GrammarError(
                    .invalid, keyword: "type", path: "#" + node.path, "there is no type '\(name)'")
            }
        }
        return form
    }

    private func enumForm(_ value: JSONValue, in node: SchemaDocument.Node) throws(GrammarError) -> NormalForm {
        guard let values = value.arrayValue else {
            throw GrammarError(.invalid, keyword: "enum", path: "#" + node.path, "must be an array")
        }
        guard !values.isEmpty else {
            throw GrammarError(.invalid, keyword: "enum", path: "#" + node.path, "must have a value to choose")
        }
        guard values.count <= Self.choiceLimit else {
            throw GrammarError(
                .tooComplex, keyword: "enum", path: "#" + node.path, "more than \(Self.choiceLimit) values")
        }
        var result = NormalForm.never
        var texts: [String] = []
        var numbers: Set<NumberShape> = []
        for value in values {
            switch value {
            case .string(let text): texts.append(text)
            case .null: result.allowsNull = true
            case .bool(true): result.allowsTrue = true
            case .bool(false): result.allowsFalse = true
            case .number(let number):
                let shape = NumberShape.only(try decimal(number, keyword: "enum", path: node.path))
                if numbers.insert(shape).inserted { result.numbers.append(shape) }
            case .array, .object:
                let form = try constant(value, keyword: "enum", path: node.path)
                result.arrays += form.arrays
                result.objects += form.objects
            }
        }
        guard Automaton.canList(texts) else {
            throw GrammarError(
                .tooComplex, keyword: "enum", path: "#" + node.path, Automaton.listLimitMessage)
        }
        if !texts.isEmpty { result.strings = [StringShape(automaton: InternedAutomaton(.texts(texts)))] }
        return result
    }

    /// Values in one `enum`.
    private static let choiceLimit = 50_000

    // MARK: Reading values of keywords

    /// A count that a keyword gives, at least 0; nil when it is not there. What no text can reach is cut.
    func count(_ keyword: String, _ object: JSONObject, in node: SchemaDocument.Node) throws(GrammarError) -> Int? {
        guard let value = object[keyword] else { return nil }
        guard let number = value.numberValue else {
            throw GrammarError(.invalid, keyword: keyword, path: "#" + node.path, "must be a number")
        }
        guard let decimal = DecimalNumber(number) else { return Self.countLimit }
        guard !decimal.isNegative, decimal.isInteger else {
            throw GrammarError(
                .invalid, keyword: keyword, path: "#" + node.path, "must be a whole number of at least 0")
        }
        return min(number.intValue ?? Self.countLimit, Self.countLimit)
    }

    /// More than any text holds.
    static let countLimit = 1 << 30

    func schemaMap(
        _ keyword: String, _ object: JSONObject, in node: SchemaDocument.Node
    ) throws(GrammarError) -> JSONObject? {
        guard let value = object[keyword] else { return nil }
        guard let map = value.objectValue else {
            throw GrammarError(.invalid, keyword: keyword, path: "#" + node.path, "must be an object")
        }
        return map
    }

    func child(
        _ value: JSONValue, _ keyword: String, of node: SchemaDocument.Node
    ) throws(GrammarError) -> ExpressionID {
        try checkIsSchema(value, keyword, node)
        return expression(document.child(value, of: node, keyword))
    }

    func child(
        _ value: JSONValue, _ keyword: String, key: String, of node: SchemaDocument.Node
    ) throws(GrammarError) -> ExpressionID {
        try checkIsSchema(value, keyword, node)
        return expression(document.child(value, of: node, keyword, key: key))
    }

    func children(
        _ keyword: String, _ object: JSONObject, in node: SchemaDocument.Node
    ) throws(GrammarError) -> [ExpressionID]? {
        guard let value = object[keyword] else { return nil }
        guard let list = value.arrayValue else {
            throw GrammarError(.invalid, keyword: keyword, path: "#" + node.path, "must be an array of schemas")
        }
        var result: [ExpressionID] = []
        for (index, element) in list.enumerated() {
            try checkIsSchema(element, keyword, node)
            result.append(expression(document.child(element, of: node, keyword, index: index)))
        }
        return result
    }

    private func checkIsSchema(
        _ value: JSONValue, _ keyword: String, _ node: SchemaDocument.Node
    ) throws(GrammarError) {
        switch value {
        case .object, .bool: return
        default:
            throw GrammarError(
                .invalid, keyword: keyword, path: "#" + node.path, "a schema must be an object or a boolean")
        }
    }
}
