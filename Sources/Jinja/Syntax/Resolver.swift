/// Gives every name of a template its slot, every scope its loads, and refuses what can be refused before rendering.
struct Resolver {
    /// Where statements stand.
    private struct Frame {
        var symbols: Symbols
        /// Whether an unknown filter is an error only when it runs, as in a branch of an `if`.
        var isSoft = false
        var isInLoop = false
        var isInScopedBlock = false
    }

    private let topLevel: Symbols
    private var blocks: [String: NamedBlock] = [:]

    /// How many slots the template needs, and its blocks by their names.
    static func resolve(_ body: Block) throws(JinjaError) -> (slotCount: Int, blocks: [String: NamedBlock]) {
        let symbols = Symbols(function: Symbols.Function(parent: nil), parent: nil)
        var resolver = Resolver(topLevel: symbols)
        try resolver.resolve(body, in: Frame(symbols: symbols))
        return (symbols.function.slotCount, resolver.blocks)
    }

    private init(topLevel: Symbols) { self.topLevel = topLevel }

    // MARK: - Statements

    /// Analyses a block's names into the frame's symbols, then resolves it.
    private mutating func resolve(_ block: Block, in frame: Frame) throws(JinjaError) {
        analyze(block.body, frame.symbols)
        block.scope = frame.symbols.scope(topLevel: topLevel)
        try resolve(block.body, in: frame)
    }

    private mutating func resolve(_ statements: [Statement], in frame: Frame) throws(JinjaError) {
        for statement in statements { try resolve(statement, in: frame) }
    }

    private func inner(_ frame: Frame) -> Frame {
        Frame(
            symbols: Symbols(function: frame.symbols.function, parent: frame.symbols), isInLoop: frame.isInLoop,
            isInScopedBlock: frame.isInScopedBlock)
    }

    private mutating func resolve(_ statement: Statement, in frame: Frame) throws(JinjaError) {
        switch statement {
        case .text: break
        case .print(let expression): try resolve(expression, in: frame)
        case .if(let branches, let otherwise):
            var soft = frame
            soft.isSoft = true
            for branch in branches {
                try resolve(branch.test, in: soft)
                try resolve(branch.body, in: soft)
            }
            try resolve(otherwise, in: soft)
        case .for(let loop): try resolve(loop, in: frame)
        case .assign(let target, let value, _):
            try resolve(target, in: frame)
            try resolve(value, in: frame)
        case .assignBlock(let target, let filter, let block):
            let inside = inner(frame)
            analyze(block.body, inside.symbols)
            block.scope = inside.symbols.scope(topLevel: topLevel)
            try resolve(block.body, in: inside)
            try resolve(target, in: frame)
            if let filter { try resolve(filter, in: inside) }
        case .macro(let macro):
            try resolve(macro, in: frame)
            if let variable = macro.variable { try assignSlot(variable, in: frame, line: macro.line) }
        case .call(let macro, let call):
            try resolve(macro, in: frame)
            try resolve(call, in: frame)
        case .generation(let macro): try resolve(macro, in: frame)
        case .filter(let filter, let block):
            let inside = inner(frame)
            analyze(block.body, inside.symbols)
            analyze(filter, inside.symbols)
            block.scope = inside.symbols.scope(topLevel: topLevel)
            try resolve(block.body, in: inside)
            try resolve(filter, in: inside)
        case .with(let pairs, let block):
            let inside = inner(frame)
            for pair in pairs { declareParameters(pair.target, inside.symbols) }
            analyze(block.body, inside.symbols)
            block.scope = inside.symbols.scope(topLevel: topLevel)
            for pair in pairs {
                try resolve(pair.value, in: frame)
                try resolve(pair.target, in: inside)
            }
            try resolve(block.body, in: inside)
        case .autoescape(let condition, let block):
            let inside = inner(frame)
            analyze(condition, inside.symbols)
            analyze(block.body, inside.symbols)
            block.scope = inside.symbols.scope(topLevel: topLevel)
            try resolve(condition, in: inside)
            try resolve(block.body, in: inside)
        case .block(let block, let isScoped):
            guard isScoped || !frame.isInScopedBlock else {
                throw JinjaError(
                    .syntax("the block '\(block.name ?? "")' lies in a scoped block and must be scoped, too"),
                    line: block.line)
            }
            let symbols = Symbols(
                function: Symbols.Function(parent: isScoped ? frame.symbols.function : nil),
                parent: isScoped ? frame.symbols : nil)
            analyze(block.block.body, symbols)
            block.block.scope = symbols.scope(topLevel: topLevel)
            try resolve(block.block.body, in: Frame(symbols: symbols, isInScopedBlock: isScoped))
            block.slotCount = symbols.function.slotCount
            if let name = block.name { blocks[name] = NamedBlock(statement: block, isScoped: isScoped) }
        case .break(let line), .continue(let line):
            guard frame.isInLoop else {
                throw JinjaError(.syntax("'break' or 'continue' outside of a loop"), line: line)
            }
        }
    }

    private mutating func resolve(_ loop: ForStatement, in frame: Frame) throws(JinjaError) {
        let outside = frame.symbols.function
        let function = loop.isRecursive ? Symbols.Function(parent: outside) : outside
        let asksForLoop = loop.isRecursive || Mentions.of(["loop"], in: loop.body.body).contains("loop")
        try refuseLoopTarget(loop)

        let body = Symbols(function: function, parent: frame.symbols)
        if asksForLoop { body.declareParameter("loop") }
        declareParameters(loop.target, body)
        analyze(loop.body.body, body)
        let otherwise = Symbols(function: function, parent: frame.symbols)
        analyze(loop.otherwise.body, otherwise)

        try resolve(loop.sequence, in: frame)
        if let test = loop.test, let target = loop.testTarget {
            let testFunction = Symbols.Function(parent: outside)
            let symbols = Symbols(function: testFunction, parent: frame.symbols)
            declareParameters(target, symbols)
            analyze(test, symbols)
            loop.testScope = symbols.scope(topLevel: topLevel)
            let inside = Frame(symbols: symbols)
            try resolve(target, in: inside)
            try resolve(test, in: inside)
            loop.testSlotCount = testFunction.slotCount
        }

        loop.body.scope = body.scope(topLevel: topLevel)
        if asksForLoop { loop.loopIndex = body.slot("loop", from: function)?.index }
        let inside = Frame(symbols: body, isInLoop: true, isInScopedBlock: frame.isInScopedBlock)
        try resolve(loop.target, in: inside)
        try resolve(loop.body.body, in: inside)
        loop.otherwise.scope = otherwise.scope(topLevel: topLevel)
        try resolve(
            loop.otherwise.body,
            in: Frame(
                symbols: otherwise, isInLoop: frame.isInLoop && !loop.isRecursive,
                isInScopedBlock: frame.isInScopedBlock))
        if loop.isRecursive { loop.slotCount = function.slotCount }
    }

    private func refuseLoopTarget(_ loop: ForStatement) throws(JinjaError) {
        if Mentions.assignsLoop(loop) {
            throw JinjaError(.syntax("can't assign to the special variable 'loop' in a for loop"), line: loop.line)
        }
    }

    private mutating func resolve(_ macro: MacroStatement, in frame: Frame) throws(JinjaError) {
        let function = Symbols.Function(parent: frame.symbols.function)
        let symbols = Symbols(function: function, parent: frame.symbols)
        func analyzeAll() {
            for parameter in macro.parameters { symbols.declareParameter(parameter.name) }
            for value in macro.defaults { analyze(value, symbols) }
            analyze(macro.block.body, symbols)
        }
        analyzeAll()
        let mentioned = Mentions.of(["caller", "kwargs", "varargs"], in: macro.block.body)
        let names = macro.parameters.map(\.name)
        func special(_ name: String) -> Int? {
            guard mentioned.contains(name), !names.contains(name) else { return nil }
            symbols.declareParameter(name)
            return symbols.slot(name, from: function)?.index
        }
        if let index = names.firstIndex(of: "caller"), mentioned.contains("caller"), macro.default(of: index) == nil {
            throw JinjaError(
                .syntax("the special parameter 'caller' must be left out or have a default"), line: macro.line)
        }
        macro.callerIndex = special("caller")
        macro.namedArgumentsIndex = special("kwargs")
        macro.listArgumentsIndex = special("varargs")
        // The special names are known now: what was taken for a name of the context is a parameter.
        analyzeAll()
        macro.block.scope = symbols.scope(topLevel: topLevel)
        let inside = Frame(symbols: symbols, isInScopedBlock: frame.isInScopedBlock)
        for parameter in macro.parameters { try assignSlot(parameter, in: inside, line: macro.line) }
        for value in macro.defaults { try resolve(value, in: inside) }
        try resolve(macro.block.body, in: inside)
        macro.slotCount = function.slotCount
    }

    // MARK: - Expressions

    private func assignSlot(_ variable: Variable, in frame: Frame, line: Int) throws(JinjaError) {
        guard let slot = frame.symbols.slot(variable.name, from: frame.symbols.function) else {
            throw JinjaError(.syntax("the name '\(variable.name)' cannot be resolved"), line: line)
        }
        variable.slot = slot
    }

    private mutating func resolve(_ expression: Expression, in frame: Frame) throws(JinjaError) {
        switch expression.kind {
        case .name(let variable), .namespaceAttribute(let variable, _):
            try assignSlot(variable, in: frame, line: expression.line)
        case .filter(_, let name, _) where !frame.isSoft && Filters.table[name] == nil:
            throw JinjaError(.unknownFilter(name: name), line: expression.line)
        case .test(_, let name, _) where !frame.isSoft && Tests.table[name] == nil:
            throw JinjaError(.unknownTest(name: name), line: expression.line)
        default: break
        }
        var inside = frame
        if case .conditional = expression.kind { inside.isSoft = true }
        for child in expression.children { try resolve(child, in: inside) }
    }

    // MARK: - Names of a scope

    private func analyze(_ statements: [Statement], _ symbols: Symbols) {
        for statement in statements { analyze(statement, symbols) }
    }

    private func analyze(_ statement: Statement, _ symbols: Symbols) {
        switch statement {
        case .text, .block, .autoescape, .generation, .break, .continue: break
        case .print(let expression): analyze(expression, symbols)
        case .if(let branches, let otherwise): analyze(branches[...], otherwise, symbols)
        case .for(let loop): analyze(loop.sequence, symbols)
        case .assign(let target, let value, _):
            analyze(value, symbols)
            store(target, symbols)
        case .assignBlock(let target, let filter, _):
            if let filter { analyze(filter, symbols) }
            store(target, symbols)
        case .macro(let macro): if let name = macro.name { symbols.store(name) }
        case .call(_, let call): analyze(call, symbols)
        case .filter(let filter, _): analyze(filter, symbols)
        case .with(let pairs, _): for pair in pairs { analyze(pair.value, symbols) }
        }
    }

    private func analyze(
        _ branches: ArraySlice<(test: Expression, body: [Statement])>, _ otherwise: [Statement], _ symbols: Symbols
    ) {
        guard let first = branches.first else { return }
        analyze(first.test, symbols)
        let body = symbols.copy()
        analyze(first.body, body)
        let further = symbols.copy()
        for branch in branches.dropFirst() { analyze([branch][...], [], further) }
        let last = symbols.copy()
        analyze(otherwise, last)
        symbols.merge([body, further, last])
    }

    private func analyze(_ expression: Expression, _ symbols: Symbols) {
        if case .name(let variable) = expression.kind { symbols.load(variable.name) }
        for child in expression.children { analyze(child, symbols) }
    }

    private func store(_ target: Expression, _ symbols: Symbols) {
        switch target.kind {
        case .name(let variable): symbols.store(variable.name)
        case .namespaceAttribute(let variable, _): symbols.load(variable.name)
        default: for child in target.children { store(child, symbols) }
        }
    }

    private func declareParameters(_ target: Expression, _ symbols: Symbols) {
        if case .name(let variable) = target.kind { symbols.declareParameter(variable.name) }
        for child in target.children { declareParameters(child, symbols) }
    }
}

/// Looks for names that a body reads without having assigned them.
struct Mentions {
    private var wanted: Set<String>
    private var found: Set<String> = []

    static func of(_ names: Set<String>, in body: [Statement]) -> Set<String> {
        var search = Mentions(wanted: names)
        search.visit(body)
        return search.found
    }

    static func assignsLoop(_ loop: ForStatement) -> Bool {
        targets(of: loop.target).contains("loop") || assignsLoop(loop.body.body) || assignsLoop(loop.otherwise.body)
    }

    private static func assignsLoop(_ body: [Statement]) -> Bool {
        body.contains { statement in
            switch statement {
            case .for(let loop): assignsLoop(loop)
            case .assign(let target, _, _): targets(of: target).contains("loop")
            case .assignBlock(let target, _, let block):
                targets(of: target).contains("loop") || assignsLoop(block.body)
            case .if(let branches, let otherwise):
                branches.contains { assignsLoop($0.body) } || assignsLoop(otherwise)
            case .filter(_, let block), .with(_, let block), .autoescape(_, let block): assignsLoop(block.body)
            case .macro(let macro), .call(let macro, _), .generation(let macro), .block(let macro, _):
                assignsLoop(macro.block.body)
            case .text, .print, .break, .continue: false
            }
        }
    }

    private static func targets(of target: Expression) -> [String] {
        if case .name(let variable) = target.kind { return [variable.name] }
        return target.children.flatMap(targets)
    }

    private init(wanted: Set<String>) { self.wanted = wanted }

    private mutating func visit(_ body: [Statement]) {
        for statement in body { visit(statement) }
    }

    private mutating func visit(_ statement: Statement) {
        switch statement {
        case .text, .block(_, isScoped: false), .break, .continue: break
        case .block(let block, isScoped: true): visit(block)
        case .print(let expression): visit(expression)
        case .if(let branches, let otherwise):
            for (test, body) in branches {
                visit(test)
                visit(body)
            }
            visit(otherwise)
        case .for(let loop):
            assign(loop.target)
            visit(loop.sequence)
            visit(loop.body.body)
            visit(loop.otherwise.body)
            if let test = loop.test { visit(test) }
        case .assign(let target, let value, _):
            assign(target)
            visit(value)
        case .assignBlock(let target, let filter, let block):
            assign(target)
            if let filter { visit(filter) }
            visit(block.body)
        case .macro(let macro), .generation(let macro): visit(macro)
        case .call(let macro, let call):
            visit(call)
            visit(macro)
        case .filter(let filter, let block):
            visit(block.body)
            visit(filter)
        case .with(let pairs, let block):
            for pair in pairs { assign(pair.target) }
            for pair in pairs { visit(pair.value) }
            visit(block.body)
        case .autoescape(let condition, let block):
            visit(condition)
            visit(block.body)
        }
    }

    private mutating func visit(_ macro: MacroStatement) {
        for parameter in macro.parameters { wanted.remove(parameter.name) }
        for value in macro.defaults { visit(value) }
        visit(macro.block.body)
    }

    private mutating func visit(_ expression: Expression) {
        if case .name(let variable) = expression.kind, wanted.contains(variable.name) { found.insert(variable.name) }
        for child in expression.children { visit(child) }
    }

    private mutating func assign(_ target: Expression) {
        if case .name(let variable) = target.kind { wanted.remove(variable.name) }
        for child in target.children { assign(child) }
    }
}
