import JSON

/// What a value must be, as a Boolean combination of subschemas and constants. Expressions are interned, so that equal ones have
/// one number and recursion comes back to where it began.
enum SchemaExpression: Hashable {
    case any
    case never
    case schema(Int32)
    case notSchema(Int32)
    case constant(JSONValue)
    case notConstant(JSONValue)
    /// All of some expressions, sorted.
    case all([ExpressionID])
    /// One of some expressions at least, sorted.
    case some([ExpressionID])
}

/// The number of an interned expression.
struct ExpressionID: Hashable, Comparable {
    var index: Int32

    static let any = ExpressionID(index: 0)
    static let never = ExpressionID(index: 1)

    static func < (left: ExpressionID, right: ExpressionID) -> Bool { left.index < right.index }
}

/// The expressions of one compilation.
struct ExpressionTable {
    private(set) var expressions: [SchemaExpression] = [.any, .never]
    private var numbers: [SchemaExpression: ExpressionID] = [.any: .any, .never: .never]
    private var negations: [ExpressionID: ExpressionID] = [:]

    subscript(id: ExpressionID) -> SchemaExpression { expressions[Int(id.index)] }

    mutating func intern(_ expression: SchemaExpression) -> ExpressionID {
        if let known = numbers[expression] { return known }
        let id = ExpressionID(index: Int32(expressions.count))
        expressions.append(expression)
        numbers[expression] = id
        return id
    }

    mutating func all(_ members: [ExpressionID]) -> ExpressionID {
        var set: Set<ExpressionID> = []
        var constant: JSONValue?
        func add(_ id: ExpressionID) -> Bool {
            switch self[id] {
            case .any: return true
            case .never: return false
            case .all(let inner): return inner.allSatisfy(add)
            case .constant(let value):
                if let constant, constant != value { return false }
                constant = value
            default: break
            }
            set.insert(id)
            return true
        }
        guard members.allSatisfy(add) else { return .never }
        for id in set {
            switch self[id] {
            case .schema(let node): if let other = numbers[.notSchema(node)], set.contains(other) { return .never }
            case .notConstant(let value): if constant == value { return .never }
            default: break
            }
        }
        let sorted = set.sorted()
        return sorted.isEmpty ? .any : sorted.count == 1 ? sorted[0] : intern(.all(sorted))
    }

    mutating func some(_ members: [ExpressionID]) -> ExpressionID {
        var set: Set<ExpressionID> = []
        for id in members {
            switch self[id] {
            case .any: return .any
            case .never: continue
            case .some(let inner): set.formUnion(inner)
            default: set.insert(id)
            }
        }
        let sorted = set.sorted()
        return sorted.isEmpty ? .never : sorted.count == 1 ? sorted[0] : intern(.some(sorted))
    }

    /// What an expression excludes. Each is negated once: negations of expressions that share parts would take exponential time.
    mutating func not(_ id: ExpressionID) -> ExpressionID {
        if let known = negations[id] { return known }
        let negation = negated(id)
        negations[id] = negation
        return negation
    }

    private mutating func negated(_ id: ExpressionID) -> ExpressionID {
        switch self[id] {
        case .any: return .never
        case .never: return .any
        case .schema(let node): return intern(.notSchema(node))
        case .notSchema(let node): return intern(.schema(node))
        case .constant(let value): return intern(.notConstant(value))
        case .notConstant(let value): return intern(.constant(value))
        case .all(let members):
            var negated: [ExpressionID] = []
            for member in members { negated.append(not(member)) }
            return some(negated)
        case .some(let members):
            var negated: [ExpressionID] = []
            for member in members { negated.append(not(member)) }
            return all(negated)
        }
    }
}
