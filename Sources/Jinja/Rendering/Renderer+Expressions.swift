extension Renderer {
    /// The value of an expression.
    ///
    /// - Parameter blockText: What a filter without operand filters.
    func evaluate(
        _ expression: Expression, _ activation: Activation, blockText: Value? = nil
    ) throws(JinjaError) -> Value {
        switch expression.kind {
        case .constant(let value): return value
        case .name(let variable):
            return activation[variable.slot] ?? .undefined(Undefined(name: variable.name))
        default:
            try charge()
            return try nested { () throws(JinjaError) in
                try evaluateNode(expression, activation, blockText: blockText)
            }
        }
    }

    /// Each case is a function of its own, so that the one that all of them recurse through needs little stack.
    private func evaluateNode(
        _ expression: Expression, _ activation: Activation, blockText: Value?
    ) throws(JinjaError) -> Value {
        switch expression.kind {
        case .constant, .name, .namespaceAttribute: return try evaluate(expression, activation)
        case .tuple(let elements): return try .tuple(try evaluate(elements, activation))
        case .list(let elements): return try .list(try evaluate(elements, activation))
        case .dict(let pairs): return try evaluateDict(pairs, activation)
        case .conditional(let test, let then, let otherwise):
            if try evaluate(test, activation).isTrue { return try evaluate(then, activation) }
            if let otherwise { return try evaluate(otherwise, activation) }
            return missingBranch(expression.line)
        case .or(let left, let right):
            let value = try evaluate(left, activation)
            return value.isTrue ? value : try evaluate(right, activation)
        case .and(let left, let right):
            let value = try evaluate(left, activation)
            return value.isTrue ? try evaluate(right, activation) : value
        case .not(let operand): return .bool(try !evaluate(operand, activation).isTrue)
        case .binary(let symbol, let left, let right):
            return try evaluateBinary(symbol, left, right, activation, line: expression.line)
        case .sign(let negative, let operand): return try evaluate(operand, activation).signed(negative: negative)
        case .concatenation(let parts): return try evaluateConcatenation(parts, activation)
        case .comparison(let first, let rest): return try evaluateComparison(first, rest, activation)
        case .attribute(let operand, let name):
            let value = try evaluate(operand, activation)
            line = expression.line
            return try attribute(name, of: value)
        case .item(let operand, let key): return try evaluateItem(operand, key, activation, line: expression.line)
        case .slice(let operand, let start, let stop, let step):
            return try evaluateSlice(operand, start, stop, step, activation)
        case .call: return try evaluateCall(expression, activation, caller: nil)
        case .filter(let operand, let name, let arguments):
            return try evaluateFilter(
                operand, name, arguments, activation, blockText: blockText, line: expression.line)
        case .test(let operand, let name, let arguments):
            return try evaluateTest(operand, name, arguments, activation, line: expression.line)
        }
    }

    private func missingBranch(_ line: Int) -> Value {
        .undefined(
            Undefined(
                "the inline if-expression on line \(line) evaluated to false and no else section was defined."))
    }

    private func evaluate(_ expressions: [Expression], _ activation: Activation) throws(JinjaError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(expressions.count)
        for expression in expressions { values.append(try evaluate(expression, activation)) }
        return values
    }

    private func evaluateDict(
        _ pairs: [(key: Expression, value: Expression)], _ activation: Activation
    ) throws(JinjaError) -> Value {
        let dict = Dict()
        for (key, value) in pairs {
            let key = try evaluate(key, activation)
            try charge(key.size)
            try dict.set(key, try evaluate(value, activation))
        }
        return .dict(dict)
    }

    private func evaluateConcatenation(_ parts: [Expression], _ activation: Activation) throws(JinjaError) -> Value {
        var result = TrackedText()
        for value in try evaluate(parts, activation) { result += try text(value) }
        try charge(bytes: result.byteCount)
        return .string(result)
    }

    private func evaluateComparison(
        _ first: Expression, _ rest: [(symbol: Expression.Comparison, operand: Expression)], _ activation: Activation
    ) throws(JinjaError) -> Value {
        var left = try evaluate(first, activation)
        for (symbol, operand) in rest {
            let right = try evaluate(operand, activation)
            guard try compare(left, symbol, right) else { return .bool(false) }
            left = right
        }
        return .bool(true)
    }

    func compare(_ left: Value, _ symbol: Expression.Comparison, _ right: Value) throws(JinjaError) -> Bool {
        switch symbol {
        case .equal, .notEqual:
            try charge(comparing: left, right)
            return left.isEqual(to: right) == (symbol == .equal)
        case .in, .notIn:
            try charge(searching: left, in: right)
            return try right.contains(left) == (symbol == .in)
        case .less: return try order(left, right, symbol: symbol.rawValue) == .less
        case .greater: return try order(left, right, symbol: symbol.rawValue) == .greater
        case .lessOrEqual:
            let order = try order(left, right, symbol: symbol.rawValue)
            return order == .less || order == .equal
        case .greaterOrEqual:
            let order = try order(left, right, symbol: symbol.rawValue)
            return order == .greater || order == .equal
        }
    }

    private func evaluateBinary(
        _ symbol: BinaryOperator, _ left: Expression, _ right: Expression, _ activation: Activation, line: Int
    ) throws(JinjaError) -> Value {
        let left = try evaluate(left, activation)
        let right = try evaluate(right, activation)
        self.line = line
        return try binary(symbol, left, right)
    }

    func binary(_ symbol: BinaryOperator, _ left: Value, _ right: Value) throws(JinjaError) -> Value {
        switch (symbol, left, right) {
        case (.add, .string(let a), .string(let b)):
            try charge(bytes: a.byteCount + b.byteCount)
            return .string(a + b)
        case (.add, .markup(let a), _) where right.text != nil:
            let b = try HTML.escape(right, self)
            try charge(bytes: a.byteCount + b.byteCount)
            return .markup(a + b)
        case (.add, _, .markup(let b)) where left.text != nil:
            let a = try HTML.escape(left, self)
            try charge(bytes: a.byteCount + b.byteCount)
            return .markup(a + b)
        case (.add, .list(let a), .list(let b)):
            try charge(elements: a.elements.count + b.elements.count)
            return try .list(a.elements + b.elements)
        case (.add, .tuple(let a), .tuple(let b)):
            try charge(elements: a.elements.count + b.elements.count)
            return try .tuple(a.elements + b.elements)
        case (.multiply, _, _) where left.isRepeatable && !right.isUndefined:
            return try repeated(left, right)
        case (.multiply, _, _) where right.isRepeatable && !left.isUndefined:
            return try repeated(right, left)
        case (.remainder, .string(let format), _):
            return .string(try PercentFormat.format(format, right, self))
        case (.remainder, .markup(let format), _):
            return .markup(try PercentFormat.format(format, right, self, escapes: true))
        default: return try Value.arithmetic(symbol, left, right)
        }
    }

    private func repeated(_ value: Value, _ count: Value) throws(JinjaError) -> Value {
        guard case .int? = count.number.map({ if case .double = $0 { Value.none } else { Value.int(0) } }) else {
            throw JinjaError(.type("can't multiply sequence by non-int of type '\(count.typeName)'"))
        }
        let count = max(0, try count.index())
        switch value {
        case .string(let text), .markup(let text):
            let (bytes, overflow) = text.byteCount.multipliedReportingOverflow(by: count)
            try charge(bytes: overflow ? Int.max : bytes)
            let result = text.isEmpty ? "" : text.repeated(count)
            if case .markup = value { return .markup(result) }
            return .string(result)
        case .list(let list), .tuple(let list):
            let (elements, overflow) = list.elements.count.multipliedReportingOverflow(by: count)
            guard !overflow, elements <= limits.elements else {
                throw JinjaError(.limit("a list of more than \(limits.elements) elements"))
            }
            try charge(elements: elements)
            let result = list.elements.isEmpty ? [] : Array((0..<count).map { _ in list.elements }.joined())
            if case .tuple = value { return try .tuple(result) }
            return try .list(result)
        default: return .none
        }
    }

    // MARK: - Attributes and elements

    private func evaluateItem(
        _ operand: Expression, _ key: Expression, _ activation: Activation, line: Int
    ) throws(JinjaError) -> Value {
        let value = try evaluate(operand, activation)
        let key = try evaluate(key, activation)
        self.line = line
        return try item(key, of: value)
    }

    /// `value.name`: an attribute, or else the element of that key.
    func attribute(_ name: String, of value: Value) throws(JinjaError) -> Value {
        if case .undefined(let undefined) = value { throw undefined.error }
        if let found = try Attributes.attribute(name, of: value, self) { return found }
        if case .dict(let dict) = value, let found = dict.value(of: name) { return found }
        return .undefined(Undefined(.plain(name), of: value))
    }

    /// `value[key]`: an element, or else the attribute of that name.
    func item(_ key: Value, of value: Value) throws(JinjaError) -> Value {
        if case .undefined(let undefined) = value { throw undefined.error }
        if let found = try element(key, of: value) { return found }
        if let name = key.text, let found = try Attributes.attribute(name, of: value, self) { return found }
        return .undefined(Undefined(key, of: value))
    }

    private func element(_ key: Value, of value: Value) throws(JinjaError) -> Value? {
        switch value {
        case .dict(let dict):
            // A key that cannot be one is in no dictionary.
            try charge(key.size)
            return (try? dict.value(of: key)) ?? nil
        case .list(let list), .tuple(let list):
            guard let index = position(key, count: list.elements.count) else { return nil }
            return list.elements[index]
        case .string(let text), .markup(let text):
            try charge(1 + text.byteCount / 64)
            guard let index = position(key, count: text.string.unicodeScalars.count) else { return nil }
            let result = Text.slice(text, index..<index + 1)
            if case .markup = value { return .markup(result) }
            return .string(result)
        case .object(let object): return try object.item(key)
        default: return nil
        }
    }

    private func position(_ key: Value, count: Int) -> Int? {
        guard case .int(let key)? = key.number else { return nil }
        let index = key < 0 ? key &+ count : key
        return (0..<count).contains(index) ? index : nil
    }

    private func evaluateSlice(
        _ operand: Expression, _ start: Expression?, _ stop: Expression?, _ step: Expression?, _ activation: Activation
    ) throws(JinjaError) -> Value {
        let value = try evaluate(operand, activation)
        func bound(_ expression: Expression?) throws(JinjaError) -> Int? {
            guard let expression else { return nil }
            let value = try evaluate(expression, activation)
            if value.isNone { return nil }
            if case .undefined = value {
                throw JinjaError(.type("slice indices must be integers or None or have an __index__ method"))
            }
            return try value.index("slice indices must be integers or None or have an __index__ method")
        }
        let slice = Slice(start: try bound(start), stop: try bound(stop), step: try bound(step) ?? 1)
        guard slice.step != 0 else { throw JinjaError(.value("slice step cannot be zero")) }
        switch value {
        case .undefined(let undefined): throw undefined.error
        case .list(let list): return try .list(try slice.apply(to: list.elements, self))
        case .tuple(let list): return try .tuple(try slice.apply(to: list.elements, self))
        case .string(let text): return .string(try slice.apply(to: text, self))
        case .markup(let text): return .markup(try slice.apply(to: text, self))
        case .object(let range as RangeObject):
            let (first, count) = slice.resolve(count: range.count)
            let start = range.start + first * range.step
            let step = range.step * slice.step
            return .object(try RangeObject(start: start, stop: start + count * step, step: step))
        case .object(let group as Group): return try .tuple(try slice.apply(to: group.elements, self))
        default:
            throw JinjaError(.type("'\(value.typeName)' object is not subscriptable"))
        }
    }

    // MARK: - Calls

    private func evaluate(
        _ arguments: Expression.Arguments, _ activation: Activation
    ) throws(JinjaError) -> CallArguments {
        if arguments.isEmpty { return CallArguments() }
        var result = CallArguments(try evaluate(arguments.positional, activation))
        for (name, value) in arguments.named {
            result.named.append((TrackedText(name), try evaluate(value, activation)))
        }
        if let list = arguments.list {
            result.positional += try elements(of: try evaluate(list, activation))
        }
        if let dict = arguments.dict {
            let value = try evaluate(dict, activation)
            guard case .dict(let dict) = value else {
                throw JinjaError(.type("argument after ** must be a mapping, not \(value.typeName)"))
            }
            for (key, value) in zip(dict.keys, dict.values) {
                guard let name = key.tracked else { throw JinjaError(.type("keywords must be strings")) }
                guard !result.named.contains(where: { $0.name.string.isSameText(as: name.string) }) else {
                    throw JinjaError(.type("got multiple values for keyword argument '\(name.string)'"))
                }
                result.named.append((name, value))
            }
        }
        return result
    }

    func evaluateCall(_ expression: Expression, _ activation: Activation, caller: Value?) throws(JinjaError) -> Value {
        guard case .call(let callee, let arguments) = expression.kind else { return .none }
        let function = try evaluate(callee, activation)
        var values = try evaluate(arguments, activation)
        if let caller { values.named.append(("caller", caller)) }
        line = expression.line
        return try call(function, values)
    }

    func call(_ function: Value, _ arguments: CallArguments) throws(JinjaError) -> Value {
        switch function {
        case .object(let object): return try object.call(arguments, self)
        case .undefined(let undefined): throw undefined.error
        default: throw JinjaError(.type("'\(function.typeName)' object is not callable"))
        }
    }

    private func evaluateFilter(
        _ operand: Expression?, _ name: String, _ arguments: Expression.Arguments, _ activation: Activation,
        blockText: Value?, line: Int
    ) throws(JinjaError) -> Value {
        guard let filter = Filters.table[name] else { throw JinjaError(.unknownFilter(name: name), line: line) }
        let value: Value
        if let operand {
            value = try evaluate(operand, activation, blockText: blockText)
        } else {
            value = blockText ?? .emptyText
        }
        let arguments = try evaluate(arguments, activation)
        self.line = line
        return try filter(value, arguments, self)
    }

    private func evaluateTest(
        _ operand: Expression, _ name: String, _ arguments: Expression.Arguments, _ activation: Activation, line: Int
    ) throws(JinjaError) -> Value {
        guard let test = Tests.table[name] else { throw JinjaError(.unknownTest(name: name), line: line) }
        let value = try evaluate(operand, activation)
        let arguments = try evaluate(arguments, activation)
        self.line = line
        return .bool(try test(value, arguments, self))
    }
}

extension Value {
    /// Whether `*` repeats the value.
    fileprivate var isRepeatable: Bool {
        switch self {
        case .string, .markup, .list, .tuple: true
        default: false
        }
    }
}
