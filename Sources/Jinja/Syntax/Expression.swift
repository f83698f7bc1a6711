/// A node of an expression. Immutable once the resolver has given its names their slots.
final class Expression {
    indirect enum Kind {
        case constant(Value)
        case name(Variable)
        /// `namespace.attribute` as the target of an assignment.
        case namespaceAttribute(Variable, attribute: String)
        case tuple([Expression])
        case list([Expression])
        case dict([(key: Expression, value: Expression)])
        case conditional(test: Expression, then: Expression, otherwise: Expression?)
        case or(Expression, Expression)
        case and(Expression, Expression)
        case not(Expression)
        case binary(BinaryOperator, Expression, Expression)
        case sign(negative: Bool, Expression)
        case concatenation([Expression])
        case comparison(Expression, [(symbol: Comparison, operand: Expression)])
        case attribute(Expression, String)
        case item(Expression, Expression)
        case slice(Expression, start: Expression?, stop: Expression?, step: Expression?)
        case call(Expression, Arguments)
        /// Nil filters the text of the block around it.
        case filter(Expression?, name: String, Arguments)
        case test(Expression, name: String, Arguments)
    }

    enum Comparison: String {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case `in` = "in"
        case notIn = "not in"
    }

    struct Arguments {
        var positional: [Expression] = []
        var named: [(name: String, value: Expression)] = []
        /// `*expression`.
        var list: Expression?
        /// `**expression`.
        var dict: Expression?

        /// In the order in which they are evaluated.
        var all: [Expression] { positional + named.map(\.value) + [list, dict].compactMap { $0 } }
        var isEmpty: Bool { positional.isEmpty && named.isEmpty && list == nil && dict == nil }
    }

    let kind: Kind
    let line: Int
    /// How deep expressions nest here.
    let depth: Int

    /// - Throws: A limit error when expressions nest too deep to be walked.
    init(_ kind: Kind, line: Int) throws(JinjaError) {
        self.kind = kind
        self.line = line
        depth = 1 + (Self.children(of: kind).map(\.depth).max() ?? 0)
        guard depth <= Parser.maximumDepth else {
            throw JinjaError(.limit("expressions nested deeper than \(Parser.maximumDepth)"), line: line)
        }
    }

    /// The expressions directly inside, in the order of the source.
    var children: [Expression] { Self.children(of: kind) }

    private static func children(of kind: Kind) -> [Expression] {
        switch kind {
        case .constant, .name, .namespaceAttribute: []
        case .tuple(let elements), .list(let elements), .concatenation(let elements): elements
        case .dict(let pairs): pairs.flatMap { [$0.key, $0.value] }
        case .conditional(let test, let then, let otherwise): [test, then] + (otherwise.map { [$0] } ?? [])
        case .or(let left, let right), .and(let left, let right), .binary(_, let left, let right),
            .item(let left, let right):
            [left, right]
        case .not(let operand), .sign(_, let operand), .attribute(let operand, _): [operand]
        case .comparison(let first, let rest): [first] + rest.map(\.operand)
        case .slice(let object, let start, let stop, let step): [object] + [start, stop, step].compactMap { $0 }
        case .call(let callee, let arguments): [callee] + arguments.all
        case .filter(let operand, _, let arguments): (operand.map { [$0] } ?? []) + arguments.all
        case .test(let operand, _, let arguments): [operand] + arguments.all
        }
    }
}

/// A name in the source, and where its value lies while the template runs.
final class Variable {
    let name: String
    /// Set by the resolver, once.
    var slot = Slot(hops: 0, index: -1)

    init(_ name: String) { self.name = name }
}

/// The place of a variable: so many functions outwards, at this index.
struct Slot {
    var hops: Int
    var index: Int
}
