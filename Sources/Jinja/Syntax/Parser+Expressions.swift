extension Parser {
    /// Expressions with commas between them are a tuple.
    ///
    /// - Parameter endName: A name that ends the tuple after a last comma.
    mutating func parseTuple(
        allowsConditional: Bool = true, endName: String? = nil, isInParentheses: Bool = false
    ) throws(JinjaError) -> Expression {
        let line = current.line
        var elements: [Expression] = []
        var isTuple = false
        while true {
            if !elements.isEmpty { try expectSymbol(",") }
            if current.kind == .variableEnd || current.kind == .blockEnd || isSymbol(")")
                || endName.map({ isName($0) }) == true
            {
                break
            }
            elements.append(try parseExpression(allowsConditional: allowsConditional))
            guard isSymbol(",") else { break }
            isTuple = true
        }
        if !isTuple {
            if let element = elements.first { return element }
            guard isInParentheses else { throw unexpected(expected: "an expression") }
        }
        return try Expression(.tuple(elements), line: line)
    }

    mutating func parseExpression(allowsConditional: Bool = true) throws(JinjaError) -> Expression {
        try nested { (parser) throws(JinjaError) in
            allowsConditional ? try parser.parseConditional() : try parser.parseOr()
        }
    }

    private mutating func parseConditional() throws(JinjaError) -> Expression {
        var line = current.line
        var result = try parseOr()
        while skipName("if") {
            let test = try parseOr()
            let otherwise = skipName("else") ? try parseExpression() : nil
            result = try Expression(.conditional(test: test, then: result, otherwise: otherwise), line: line)
            line = current.line
        }
        return result
    }

    private mutating func parseOr() throws(JinjaError) -> Expression {
        var left = try parseAnd()
        while isName("or") {
            let line = current.line
            advance()
            left = try Expression(.or(left, try parseAnd()), line: line)
        }
        return left
    }

    private mutating func parseAnd() throws(JinjaError) -> Expression {
        var left = try parseNot()
        while isName("and") {
            let line = current.line
            advance()
            left = try Expression(.and(left, try parseNot()), line: line)
        }
        return left
    }

    private mutating func parseNot() throws(JinjaError) -> Expression {
        let line = current.line
        guard skipName("not") else { return try parseComparison() }
        return try nested { (parser) throws(JinjaError) in
            try Expression(.not(try parser.parseNot()), line: line)
        }
    }

    private mutating func parseComparison() throws(JinjaError) -> Expression {
        let line = current.line
        let first = try parseSum()
        var rest: [(symbol: Expression.Comparison, operand: Expression)] = []
        while true {
            if case .symbol(let text) = current.kind, let symbol = Expression.Comparison(rawValue: text) {
                advance()
                rest.append((symbol, try parseSum()))
            } else if skipName("in") {
                rest.append((.in, try parseSum()))
            } else if isName("not"), isFollowedByIn {
                advance()
                advance()
                rest.append((.notIn, try parseSum()))
            } else {
                break
            }
        }
        return rest.isEmpty ? first : try Expression(.comparison(first, rest), line: line)
    }

    private mutating func parseSum() throws(JinjaError) -> Expression {
        var left = try parseConcatenation()
        while case .symbol(let text) = current.kind, text == "+" || text == "-" {
            let line = current.line
            advance()
            left = try Expression(
                .binary(text == "+" ? .add : .subtract, left, try parseConcatenation()), line: line)
        }
        return left
    }

    private mutating func parseConcatenation() throws(JinjaError) -> Expression {
        let line = current.line
        var parts = [try parseProduct()]
        while skipSymbol("~") { parts.append(try parseProduct()) }
        return parts.count == 1 ? parts[0] : try Expression(.concatenation(parts), line: line)
    }

    private mutating func parseProduct() throws(JinjaError) -> Expression {
        var left = try parsePower()
        while case .symbol(let text) = current.kind, ["*", "/", "//", "%"].contains(text),
            let symbol = BinaryOperator(rawValue: text)
        {
            let line = current.line
            advance()
            left = try Expression(.binary(symbol, left, try parsePower()), line: line)
        }
        return left
    }

    /// Powers group to the left, unlike in Python… in the tree. Python then reads the text that jinja2 writes for it,
    /// which has parentheses, so they do.
    private mutating func parsePower() throws(JinjaError) -> Expression {
        var left = try parseUnary()
        while isSymbol("**") {
            let line = current.line
            advance()
            left = try Expression(.binary(.power, left, try parseUnary()), line: line)
        }
        return left
    }

    private mutating func parseUnary(allowsFilter: Bool = true) throws(JinjaError) -> Expression {
        let line = current.line
        var result: Expression
        if isSymbol("-") || isSymbol("+") {
            let isNegative = isSymbol("-")
            advance()
            result = try nested { (parser) throws(JinjaError) in
                try Expression(.sign(negative: isNegative, try parser.parseUnary(allowsFilter: false)), line: line)
            }
        } else {
            result = try parsePrimary()
        }
        result = try parsePostfix(result)
        return allowsFilter ? try parseFiltersAndTests(result) : result
    }

    private mutating func parsePrimary() throws(JinjaError) -> Expression {
        let token = current
        switch token.kind {
        case .name(let name):
            advance()
            switch name {
            case "true", "True": return try Expression(.constant(.bool(true)), line: token.line)
            case "false", "False": return try Expression(.constant(.bool(false)), line: token.line)
            case "none", "None": return try Expression(.constant(.none), line: token.line)
            default: return try Expression(.name(Variable(name)), line: token.line)
            }
        case .string(let first):
            advance()
            var text = first
            // Texts side by side are one.
            while case .string(let more) = current.kind {
                text += more
                advance()
            }
            return try Expression(.constant(.plain(text)), line: token.line)
        case .integer(let value):
            advance()
            return try Expression(.constant(.integer(value)), line: token.line)
        case .float(let value):
            advance()
            return try Expression(.constant(.double(value)), line: token.line)
        case .symbol("("):
            advance()
            let result = try parseTuple(isInParentheses: true)
            try expectSymbol(")")
            return result
        case .symbol("["):
            advance()
            var elements: [Expression] = []
            while !isSymbol("]") {
                if !elements.isEmpty { try expectSymbol(",") }
                if isSymbol("]") { break }
                elements.append(try parseExpression())
            }
            advance()
            return try Expression(.list(elements), line: token.line)
        case .symbol("{"):
            advance()
            var pairs: [(key: Expression, value: Expression)] = []
            while !isSymbol("}") {
                if !pairs.isEmpty { try expectSymbol(",") }
                if isSymbol("}") { break }
                let key = try parseExpression()
                try expectSymbol(":")
                pairs.append((key, try parseExpression()))
            }
            advance()
            return try Expression(.dict(pairs), line: token.line)
        default: throw unexpected(expected: "an expression")
        }
    }

    private mutating func parsePostfix(_ operand: Expression) throws(JinjaError) -> Expression {
        var result = operand
        while true {
            if isSymbol(".") || isSymbol("[") {
                result = try parseSubscript(result)
            } else if isSymbol("(") {
                let line = current.line
                result = try Expression(.call(result, try parseArguments()), line: line)
            } else {
                return result
            }
        }
    }

    private mutating func parseFiltersAndTests(_ operand: Expression) throws(JinjaError) -> Expression {
        var result = operand
        while true {
            if isSymbol("|") {
                result = try parseFilter(result, isFirst: false)
            } else if isName("is") {
                result = try parseTest(result)
            } else if isSymbol("(") {
                let line = current.line
                result = try Expression(.call(result, try parseArguments()), line: line)
            } else {
                return result
            }
        }
    }

    private mutating func parseSubscript(_ object: Expression) throws(JinjaError) -> Expression {
        let line = current.line
        if skipSymbol(".") {
            switch current.kind {
            case .name(let name):
                advance()
                return try Expression(.attribute(object, name), line: line)
            case .integer(let value):
                advance()
                return try Expression(
                    .item(object, try Expression(.constant(.integer(value)), line: line)), line: line)
            default: throw fault("expected a name or a number after '.'")
            }
        }
        try expectSymbol("[")
        if isSymbol(":") { return try parseSlice(of: object, start: nil, line: line) }
        var keys: [Expression] = []
        while !isSymbol("]") {
            if !keys.isEmpty { try expectSymbol(",") }
            keys.append(try parseExpression())
            if isSymbol(":") {
                guard keys.count == 1 else { throw fault("a slice among several keys") }
                return try parseSlice(of: object, start: keys[0], line: line)
            }
        }
        advance()
        let key = keys.count == 1 ? keys[0] : try Expression(.tuple(keys), line: line)
        return try Expression(.item(object, key), line: line)
    }

    /// From the first colon.
    private mutating func parseSlice(
        of object: Expression, start: Expression?, line: Int
    ) throws(JinjaError) -> Expression {
        try expectSymbol(":")
        let stop = isSymbol(":") || isSymbol("]") ? nil : try parseExpression()
        var step: Expression?
        if skipSymbol(":"), !isSymbol("]") { step = try parseExpression() }
        try expectSymbol("]")
        return try Expression(.slice(object, start: start, stop: stop, step: step), line: line)
    }

    private mutating func parseArguments() throws(JinjaError) -> Expression.Arguments {
        let line = current.line
        var arguments = Expression.Arguments()
        let invalid = fault("invalid order of the arguments of a call", line: line)
        try expectSymbol("(")
        var isFirst = true
        while !isSymbol(")") {
            if !isFirst {
                try expectSymbol(",")
                if isSymbol(")") { break }
            }
            isFirst = false
            if skipSymbol("*") {
                guard arguments.list == nil, arguments.dict == nil else { throw invalid }
                arguments.list = try parseExpression()
            } else if skipSymbol("**") {
                guard arguments.dict == nil else { throw invalid }
                arguments.dict = try parseExpression()
            } else if case .name(let name) = current.kind, isFollowedByAssignment {
                guard arguments.dict == nil else { throw invalid }
                advance()
                advance()
                guard !arguments.named.contains(where: { $0.name == name }) else {
                    throw fault("keyword argument repeated: \(name)", line: line)
                }
                arguments.named.append((name, try parseExpression()))
            } else {
                guard arguments.list == nil, arguments.dict == nil, arguments.named.isEmpty else { throw invalid }
                arguments.positional.append(try parseExpression())
            }
        }
        advance()
        return arguments
    }

    /// - Parameter isFirst: Whether the name of a filter comes without a bar before it, as in a filter block.
    mutating func parseFilter(_ operand: Expression?, isFirst: Bool) throws(JinjaError) -> Expression {
        var result = operand
        var isFirst = isFirst
        while isFirst || isSymbol("|") {
            if !isFirst { advance() }
            isFirst = false
            let line = current.line
            let name = try parseDottedName()
            let arguments = isSymbol("(") ? try parseArguments() : Expression.Arguments()
            result = try Expression(.filter(result, name: name, arguments), line: line)
        }
        guard let result else { throw unexpected(expected: "a filter") }
        return result
    }

    private mutating func parseDottedName() throws(JinjaError) -> String {
        var name = try expectName()
        while skipSymbol(".") { name += "." + (try expectName()) }
        return name
    }

    private mutating func parseTest(_ operand: Expression) throws(JinjaError) -> Expression {
        let line = current.line
        advance()
        let isNegated = skipName("not")
        let name = try parseDottedName()
        var arguments = Expression.Arguments()
        if isSymbol("(") {
            arguments = try parseArguments()
        } else if startsTestArgument {
            if isName("is") { throw fault("tests cannot be chained with 'is'") }
            let argument = try nested { (parser) throws(JinjaError) in
                try parser.parsePostfix(try parser.parsePrimary())
            }
            arguments.positional = [argument]
        }
        let test = try Expression(.test(operand, name: name, arguments), line: line)
        return isNegated ? try Expression(.not(test), line: line) : test
    }

    private var startsTestArgument: Bool {
        switch current.kind {
        case .name(let name): !["else", "or", "and"].contains(name)
        case .string, .integer, .float, .symbol("["), .symbol("{"): true
        default: false
        }
    }
}
