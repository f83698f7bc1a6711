/// Turns tokens into statements. The grammar is jinja2's, with its loop controls and the `generation` tag of
/// `transformers`.
struct Parser {
    /// Blocks inside blocks plus expressions inside expressions, at most.
    static let maximumNesting = 100
    /// The height of the tree of one expression, at most. A chain `a + b + c` is as high as it is long.
    static let maximumDepth = 250

    private let tokens: [Token]
    private var position = 0
    private var depth = 0
    /// The tags that are open, and the names of those that may follow, innermost last.
    private var openTags: [String] = []
    private var endings: [[String]] = []
    private var blockNames: Set<String> = []

    static func statements(of source: String) throws(JinjaError) -> [Statement] {
        var parser = Parser(tokens: try Lexer.tokens(of: source))
        return try parser.parseBody(until: [])
    }

    private init(tokens: [Token]) { self.tokens = tokens }

    // MARK: - Tokens

    var current: Token { tokens[position] }
    private var next: Token { tokens[min(position + 1, tokens.count - 1)] }

    mutating func advance() {
        if position < tokens.count - 1 { position += 1 }
    }

    func isSymbol(_ symbol: String) -> Bool { current.kind == .symbol(symbol) }
    func isName(_ name: String) -> Bool { current.kind == .name(name) }

    mutating func skipSymbol(_ symbol: String) -> Bool {
        guard isSymbol(symbol) else { return false }
        advance()
        return true
    }

    mutating func skipName(_ name: String) -> Bool {
        guard isName(name) else { return false }
        advance()
        return true
    }

    mutating func expectSymbol(_ symbol: String) throws(JinjaError) {
        guard skipSymbol(symbol) else { throw unexpected(expected: "'\(symbol)'") }
    }

    mutating func expectName() throws(JinjaError) -> String {
        guard case .name(let name) = current.kind else { throw unexpected(expected: "a name") }
        advance()
        return name
    }

    func unexpected(expected: String) -> JinjaError {
        if current.kind == .end {
            return fault("unexpected end of template, expected \(expected)\(innermost)")
        }
        return fault("expected \(expected), got '\(current.description)'")
    }

    func fault(_ message: String, line: Int? = nil) -> JinjaError {
        JinjaError(.syntax(message), line: line ?? current.line)
    }

    var isFollowedByAssignment: Bool { next.kind == .symbol("=") }
    var isFollowedByIn: Bool { next.kind == .name("in") }

    private var innermost: String {
        openTags.last.map { "; the innermost block that needs to be closed is '\($0)'" } ?? ""
    }

    /// Counts a level of nesting while `body` parses it.
    mutating func nested<Result>(
        _ body: (inout Parser) throws(JinjaError) -> Result
    ) throws(JinjaError) -> Result {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumNesting else {
            throw JinjaError(.limit("a template nested deeper than \(Self.maximumNesting)"), line: current.line)
        }
        return try body(&self)
    }

    // MARK: - Statements

    /// Statements up to a tag of one of these names, which is left as the current token; up to the end for none.
    private mutating func parseBody(until names: [String]) throws(JinjaError) -> [Statement] {
        if !names.isEmpty { endings.append(names) }
        defer { if !names.isEmpty { endings.removeLast() } }
        var body: [Statement] = []
        while true {
            switch current.kind {
            case .data(let text):
                body.append(.text(text))
                advance()
            case .variableBegin:
                advance()
                body.append(.print(try parseTuple()))
                guard current.kind == .variableEnd else { throw unexpected(expected: "'}}'") }
                advance()
            case .blockBegin:
                advance()
                if case .name(let name) = current.kind, names.contains(name) { return body }
                body.append(try nested { (parser) throws(JinjaError) in try parser.parseStatement() })
                try expectBlockEnd()
            case .end:
                guard names.isEmpty else {
                    throw unexpected(expected: names.map { "'\($0)'" }.joined(separator: " or "))
                }
                return body
            default: throw unexpected(expected: "template text")
            }
        }
    }

    private mutating func expectBlockEnd() throws(JinjaError) {
        guard current.kind == .blockEnd else { throw unexpected(expected: "'%}'") }
        advance()
    }

    /// The inside of a block tag, from the end of the tag to the name of the closing one.
    private mutating func parseBlockBody(until names: String...) throws(JinjaError) -> [Statement] {
        // As in Python, a colon may stand there.
        _ = skipSymbol(":")
        try expectBlockEnd()
        return try parseBody(until: names)
    }

    private mutating func parseStatement() throws(JinjaError) -> Statement {
        let line = current.line
        guard case .name(let tag) = current.kind else { throw fault("tag name expected") }
        openTags.append(tag)
        defer { openTags.removeLast() }
        switch tag {
        case "for": return try parseFor()
        case "if": return try parseIf()
        case "set": return try parseSet()
        case "macro": return try parseMacro()
        case "call": return try parseCall()
        case "filter":
            advance()
            let filter = try parseFilter(nil, isFirst: true)
            let body = try parseBlockBody(until: "endfilter")
            advance()
            return .filter(filter, Block(body))
        case "with": return try parseWith()
        case "autoescape":
            advance()
            let condition = try parseExpression()
            let body = try parseBlockBody(until: "endautoescape")
            advance()
            return .autoescape(condition, Block(body))
        case "block": return try parseBlock()
        case "print":
            advance()
            var parts: [Expression] = []
            while current.kind != .blockEnd {
                if !parts.isEmpty { try expectSymbol(",") }
                parts.append(try parseExpression())
            }
            // Several parts are one text.
            return .print(try Expression(.concatenation(parts), line: line))
        case "generation":
            advance()
            let body = try parseBlockBody(until: "endgeneration")
            advance()
            return .generation(
                MacroStatement(name: nil, parameters: [], defaults: [], body: body, line: line))
        case "break":
            advance()
            return .break(line: line)
        case "continue":
            advance()
            return .continue(line: line)
        default:
            if Self.closingTags.contains(tag) {
                throw fault(
                    "misplaced tag '\(tag)'" + closeHint,
                    line: line)
            }
            throw JinjaError(.unknownTag(name: tag), line: line)
        }
    }

    private static let closingTags: Set<String> = [
        "endfor", "endif", "endset", "endmacro", "endcall", "endfilter", "endwith", "endautoescape", "endblock",
        "endgeneration", "endraw", "else", "elif",
    ]

    private var closeHint: String {
        guard let open = openTags.dropLast().last, let expected = endings.last else { return ": no block is open" }
        let names = expected.map { "'\($0)'" }.joined(separator: " or ")
        return ": the innermost open block is '\(open)', which goes on with \(names)"
    }

    private mutating func parseFor() throws(JinjaError) -> Statement {
        let line = current.line
        advance()
        let targetStart = position
        let target = try parseTarget(endsAtIn: true)
        guard skipName("in") else { throw unexpected(expected: "'in'") }
        let sequence = try parseTuple(allowsConditional: false, endName: "recursive")
        let test = skipName("if") ? try parseExpression() : nil
        let isRecursive = skipName("recursive")
        let body = try parseBlockBody(until: "endfor", "else")
        var otherwise: [Statement] = []
        if isName("else") {
            advance()
            otherwise = try parseBlockBody(until: "endfor")
        }
        advance()
        var testTarget: Expression?
        if test != nil {
            // The test has variables of its own: the same target, parsed again.
            let end = position
            position = targetStart
            testTarget = try parseTarget(endsAtIn: true)
            position = end
        }
        return .for(
            ForStatement(
                target: target, sequence: sequence, test: test, testTarget: testTarget, isRecursive: isRecursive,
                body: body, otherwise: otherwise, line: line))
    }

    private mutating func parseIf() throws(JinjaError) -> Statement {
        var branches: [(test: Expression, body: [Statement])] = []
        var otherwise: [Statement] = []
        repeat {
            advance()
            let test = try parseTuple(allowsConditional: false)
            branches.append((test, try parseBlockBody(until: "elif", "else", "endif")))
        } while isName("elif")
        if skipName("else") { otherwise = try parseBlockBody(until: "endif") }
        advance()
        return .if(branches, otherwise: otherwise)
    }

    private mutating func parseSet() throws(JinjaError) -> Statement {
        let line = current.line
        advance()
        let target = try parseTarget(allowsNamespace: true)
        if skipSymbol("=") { return .assign(target: target, value: try parseTuple(), line: line) }
        let filter = isSymbol("|") ? try parseFilter(nil, isFirst: false) : nil
        let body = try parseBlockBody(until: "endset")
        advance()
        return .assignBlock(target: target, filter: filter, Block(body))
    }

    private mutating func parseMacro() throws(JinjaError) -> Statement {
        let line = current.line
        advance()
        let name = try parseTargetName()
        let (parameters, defaults) = try parseSignature()
        let body = try parseBlockBody(until: "endmacro")
        advance()
        return .macro(
            MacroStatement(name: name, parameters: parameters, defaults: defaults, body: body, line: line))
    }

    private mutating func parseCall() throws(JinjaError) -> Statement {
        let line = current.line
        advance()
        let (parameters, defaults) = isSymbol("(") ? try parseSignature() : ([], [])
        let call = try parseExpression()
        guard case .call = call.kind else { throw fault("expected a call", line: line) }
        let body = try parseBlockBody(until: "endcall")
        advance()
        return .call(
            MacroStatement(name: nil, parameters: parameters, defaults: defaults, body: body, line: line), call)
    }

    private mutating func parseSignature() throws(JinjaError) -> ([Variable], [Expression]) {
        var parameters: [Variable] = []
        var defaults: [Expression] = []
        try expectSymbol("(")
        while !isSymbol(")") {
            if !parameters.isEmpty { try expectSymbol(",") }
            let name = try parseTargetName()
            guard !parameters.contains(where: { $0.name == name }) else {
                throw fault("duplicate parameter '\(name)'")
            }
            if skipSymbol("=") {
                defaults.append(try parseExpression())
            } else if !defaults.isEmpty {
                throw fault("a parameter without default follows one with a default")
            }
            parameters.append(Variable(name))
        }
        advance()
        return (parameters, defaults)
    }

    private mutating func parseWith() throws(JinjaError) -> Statement {
        advance()
        var pairs: [(target: Expression, value: Expression)] = []
        while current.kind != .blockEnd, current.kind != .end {
            if !pairs.isEmpty { try expectSymbol(",") }
            let target = try parseTarget()
            try expectSymbol("=")
            pairs.append((target, try parseExpression()))
        }
        let body = try parseBlockBody(until: "endwith")
        advance()
        return .with(pairs, Block(body))
    }

    private mutating func parseBlock() throws(JinjaError) -> Statement {
        let line = current.line
        advance()
        let name = try expectName()
        guard blockNames.insert(name).inserted else { throw fault("block '\(name)' defined twice", line: line) }
        let isScoped = skipName("scoped")
        if skipName("required") { throw fault("required block '\(name)' not found", line: line) }
        let body = try parseBlockBody(until: "endblock")
        advance()
        _ = skipName(name)
        return .block(
            MacroStatement(name: name, parameters: [], defaults: [], body: body, line: line), isScoped: isScoped)
    }

    // MARK: - Targets

    private static let constants: Set<String> = ["true", "false", "True", "False", "none", "None"]

    private mutating func parseTargetName() throws(JinjaError) -> String {
        let name = try expectName()
        guard !Self.constants.contains(name) else { throw fault("can't assign to '\(name)'") }
        return name
    }

    private mutating func parseTarget(
        endsAtIn: Bool = false, allowsNamespace: Bool = false
    ) throws(JinjaError) -> Expression {
        let line = current.line
        var elements: [Expression] = []
        var isTuple = false
        while true {
            if !elements.isEmpty { try expectSymbol(",") }
            if current.kind == .variableEnd || current.kind == .blockEnd || isSymbol(")")
                || endsAtIn && isName("in")
            {
                break
            }
            elements.append(
                try nested { (parser) throws(JinjaError) in
                    try parser.parseTargetElement(allowsNamespace: allowsNamespace)
                })
            guard isSymbol(",") else { break }
            isTuple = true
        }
        if !isTuple {
            guard let element = elements.first else { throw unexpected(expected: "a name to assign to") }
            return element
        }
        return try Expression(.tuple(elements), line: line)
    }

    private mutating func parseTargetElement(allowsNamespace: Bool) throws(JinjaError) -> Expression {
        let line = current.line
        if skipSymbol("(") {
            let target = try parseTarget()
            try expectSymbol(")")
            return target
        }
        guard case .name = current.kind else { throw unexpected(expected: "a name to assign to") }
        let name = try parseTargetName()
        if allowsNamespace, skipSymbol(".") {
            return try Expression(.namespaceAttribute(Variable(name), attribute: try expectName()), line: line)
        }
        return try Expression(.name(Variable(name)), line: line)
    }
}
