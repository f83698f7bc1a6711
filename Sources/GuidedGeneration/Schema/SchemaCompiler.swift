import JSON

/// Brings the subschemas of a document into normal form, keyword by keyword.
///
/// Expansion stops at the values of objects and the elements of arrays, which stay expressions: so recursion through them ends, and
/// recursion through anything else is an error.
final class SchemaCompiler {
    let document: SchemaDocument
    let options: SchemaOptions
    let algebra = NormalFormAlgebra()
    private var forms: [ExpressionID: NormalForm] = [:]
    private var inProgress: Set<ExpressionID> = []
    private var depth = 0
    var patterns: [ExactText: StringShape] = [:]
    var swiftRegexes: [ExactText: StringShape] = [:]
    /// The subschema that is being expanded, for errors without a keyword of their own.
    private(set) var currentPath = ""
    /// Of subschemas without a value, by path: the keyword that left nothing, and whether nothing satisfies it by itself.
    var contradictions: [String: (keyword: String, isImpossible: Bool)] = [:]

    /// Subschemas inside one another that describe the same value.
    static let depthLimit = 64

    init(_ document: SchemaDocument, options: SchemaOptions) {
        self.document = document
        self.options = options
    }

    /// The expression of the whole document.
    func root() -> ExpressionID {
        expression(document.node(document.root, path: "", base: URIReference("")))
    }

    func expression(_ node: Int32) -> ExpressionID {
        switch document.nodes[Int(node)].value {
        case .bool(true): .any
        case .bool(false): .never
        case .object(let object) where object.isEmpty: .any
        default: algebra.table.intern(.schema(node))
        }
    }

    // MARK: Forms

    func form(_ id: ExpressionID) throws(GrammarError) -> NormalForm {
        if id == .any { return .any }
        if id == .never { return .never }
        if let known = forms[id] { return known }
        guard inProgress.insert(id).inserted else {
            throw GrammarError(
                .unresolvable, keyword: "$ref", path: "#" + currentPath,
                "the reference leads back to itself without any content")
        }
        defer { inProgress.remove(id) }
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthLimit else {
            throw GrammarError(
                .tooComplex, keyword: "schema", path: "#" + currentPath,
                "more than \(Self.depthLimit) schemas apply to one value inside one another")
        }
        let result: NormalForm
        switch algebra.table[id] {
        case .any: result = .any
        case .never: result = .never
        case .schema(let node):
            let outer = currentPath
            currentPath = document.nodes[Int(node)].path
            result = try expand(document.nodes[Int(node)])
            currentPath = outer
        case .notSchema(let node):
            let positive = algebra.table.intern(.schema(node))
            result = try complement(try form(positive), keyword: "not", path: document.nodes[Int(node)].path)
        case .constant(let value): result = try constant(value, keyword: "const", path: currentPath)
        case .notConstant(let value):
            result = try complement(
                try constant(value, keyword: "const", path: currentPath), keyword: "not", path: currentPath)
        case .all(let members):
            var meet = NormalForm.any
            for member in members {
                meet = try intersection(meet, try form(member), keyword: "allOf", path: currentPath)
            }
            result = meet
        case .some(let members):
            var join = NormalForm.never
            for member in members { join = try union(join, try form(member), keyword: "anyOf", path: currentPath) }
            result = join
        }
        forms[id] = result
        return result
    }

    /// The automaton of a set of numbers, made once.
    func automaton(of shape: NumberShape) throws(AutomatonLimit) -> Automaton {
        if let known = numbers[shape] { return known }
        let result = try (options.keepsIntegersReadable ? shape.readable : shape).automaton()
        numbers[shape] = result
        return result
    }

    private var numbers: [NumberShape: Automaton] = [:]

    // MARK: Operations with errors that name a keyword

    private static func tooComplex(_ keyword: String, _ path: String) -> GrammarError {
        GrammarError(
            .tooComplex, keyword: keyword, path: "#" + path,
            "there are more combinations of alternatives than can be kept apart")
    }

    func intersection(
        _ left: NormalForm, _ right: NormalForm, keyword: String, path: String
    ) throws(GrammarError) -> NormalForm {
        do { return try algebra.intersection(left, right) } catch { throw Self.tooComplex(keyword, path) }
    }

    func union(
        _ left: NormalForm, _ right: NormalForm, keyword: String, path: String
    ) throws(GrammarError) -> NormalForm {
        do { return try algebra.union(left, right) } catch { throw Self.tooComplex(keyword, path) }
    }

    func complement(_ form: NormalForm, keyword: String, path: String) throws(GrammarError) -> NormalForm {
        do {
            return try algebra.complement(form)
        } catch .limit {
            throw Self.tooComplex(keyword, path)
        } catch {
            throw GrammarError(
                .unsupported, keyword: keyword, path: "#" + path,
                "what is left without 'uniqueItems' cannot be enforced")
        }
    }

    /// The form of exactly one value.
    func constant(_ value: JSONValue, keyword: String, path: String) throws(GrammarError) -> NormalForm {
        switch value {
        case .null: return NormalForm(allowsNull: true)
        case .bool(let flag): return NormalForm(allowsTrue: flag, allowsFalse: !flag)
        case .number(let number):
            return NormalForm(numbers: [.only(try decimal(number, keyword: keyword, path: path))])
        case .string(let text):
            return NormalForm(strings: [StringShape(automaton: InternedAutomaton(.texts([text])))])
        case .array(let elements):
            let prefix = elements.map { algebra.table.intern(.constant($0)) }
            return NormalForm(arrays: [
                ArrayShape(prefix: prefix, rest: .never, minimum: prefix.count, maximum: prefix.count)
            ])
        case .object(let object):
            let members = object.map {
                ObjectShape.Member(
                    key: ExactText($0.key), value: algebra.table.intern(.constant($0.value)), isRequired: true)
            }
            return NormalForm(objects: [
                ObjectShape(
                    members: members, groups: [.init(keys: ObjectShape.universalKeys, value: .never)],
                    minimum: members.count, maximum: members.count)
            ])
        }
    }

    func decimal(_ number: JSONNumber, keyword: String, path: String) throws(GrammarError) -> DecimalNumber {
        guard let value = DecimalNumber(number) else {
            throw GrammarError(
                .tooComplex, keyword: keyword, path: "#" + path,
                "a number of more than \(DecimalNumber.sizeLimit) digits")
        }
        return value
    }

    /// Whether an expression is seen to have no value by looking at constants and plain scalar schemas alone.
    func isPlainlyEmpty(_ id: ExpressionID) -> Bool {
        guard case .all(let members) = algebra.table[id] else { return id == .never }
        let plain = members.filter(isPlainScalar)
        guard plain.count > 1 else { return false }
        let meet = algebra.table.all(plain)
        if meet == .never { return true }
        guard let form = try? form(meet) else { return false }
        return form.isPlainlyEmpty
    }

    private func isPlainScalar(_ id: ExpressionID) -> Bool {
        switch algebra.table[id] {
        case .constant(let value):
            switch value {
            case .array, .object: return false
            default: return true
            }
        case .schema(let node), .notSchema(let node):
            guard let object = document.nodes[Int(node)].value.objectValue else { return false }
            return object.keys.allSatisfy { Self.plainScalarKeywords.contains($0) }
                && (object["enum"] != nil || object["const"] != nil || object["type"] != nil)
        default: return false
        }
    }

    private static let plainScalarKeywords: Set<String> = [
        "enum", "const", "type", "pattern", "minimum", "maximum", "title", "description", "default", "minLength",
        "maxLength",
        "exclusiveMinimum", "exclusiveMaximum", "examples", Grammar.swiftRegexKeyword,
    ]
}
