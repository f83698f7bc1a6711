/// A node of a template's body. Immutable once the resolver has filled in the scopes.
indirect enum Statement {
    case text(String)
    case print(Expression)
    case `if`([(test: Expression, body: [Statement])], otherwise: [Statement])
    case `for`(ForStatement)
    case assign(target: Expression, value: Expression, line: Int)
    case assignBlock(target: Expression, filter: Expression?, Block)
    case macro(MacroStatement)
    case call(MacroStatement, Expression)
    /// `generation`, which `transformers` makes a call block of.
    case generation(MacroStatement)
    case filter(Expression, Block)
    case with([(target: Expression, value: Expression)], Block)
    /// `autoescape`, with its condition.
    case autoescape(Expression, Block)
    /// A named block, which sees the variables around it if it is scoped, and otherwise those of the template's top level.
    case block(MacroStatement, isScoped: Bool)
    case `break`(line: Int)
    case `continue`(line: Int)
}

/// Statements with names of their own.
final class Block {
    let body: [Statement]
    /// Set by the resolver, once.
    var scope = Scope()

    init(_ body: [Statement]) { self.body = body }
}

/// What happens to the slots of a scope when it is entered.
struct Scope {
    enum Load {
        /// The name is assigned here and means nothing before.
        case clear
        /// The name is assigned here and means something further out until then.
        case copy(Slot)
        /// The name comes from the context, unless the template's own top level has set it.
        case context(name: String, topLevel: Slot?)
    }

    var loads: [(index: Int, load: Load)] = []
    /// All slots that belong to the scope.
    var indices: [Int] = []
}

final class ForStatement {
    let target: Expression
    let sequence: Expression
    let test: Expression?
    /// The target again, for the function that applies the test.
    let testTarget: Expression?
    let isRecursive: Bool
    let body: Block
    let otherwise: Block
    let line: Int

    // Set by the resolver, once.
    /// Where `loop` lies when the body asks for it.
    var loopIndex: Int?
    var testScope = Scope()
    var testSlotCount = 0
    /// The slots of a recursive loop, which is a function.
    var slotCount = 0

    init(
        target: Expression, sequence: Expression, test: Expression?, testTarget: Expression?, isRecursive: Bool,
        body: [Statement], otherwise: [Statement], line: Int
    ) {
        self.target = target
        self.sequence = sequence
        self.test = test
        self.testTarget = testTarget
        self.isRecursive = isRecursive
        self.body = Block(body)
        self.otherwise = Block(otherwise)
        self.line = line
    }
}

/// A macro, the inside of a `call` block, or a named block: statements that run as a function.
final class MacroStatement {
    let name: String?
    let parameters: [Variable]
    /// Of the last parameters.
    let defaults: [Expression]
    let block: Block
    let line: Int

    // Set by the resolver, once.
    var slotCount = 0
    /// Where the special variables lie when the body asks for them.
    var callerIndex: Int?
    var namedArgumentsIndex: Int?
    var listArgumentsIndex: Int?
    /// The macro's own name.
    let variable: Variable?

    init(name: String?, parameters: [Variable], defaults: [Expression], body: [Statement], line: Int) {
        self.name = name
        self.parameters = parameters
        self.defaults = defaults
        self.line = line
        block = Block(body)
        variable = name.map(Variable.init)
    }

    func `default`(of index: Int) -> Expression? {
        let position = index - (parameters.count - defaults.count)
        return position >= 0 ? defaults[position] : nil
    }
}
