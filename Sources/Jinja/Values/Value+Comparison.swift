extension Value {
    /// The value as a number of one of the three kinds; bools are integers.
    enum Number {
        case int(Int)
        case big(BigInt)
        case double(Double)

        var doubleValue: Double {
            switch self {
            case .int(let value): Double(value)
            case .big(let value): value.doubleValue
            case .double(let value): value
            }
        }

        /// Nil for a fraction.
        var bigValue: BigInt? {
            switch self {
            case .int(let value): BigInt(value)
            case .big(let value): value
            case .double: nil
            }
        }
    }

    var number: Number? {
        switch self {
        case .bool(let value): .int(value ? 1 : 0)
        case .int(let value): .int(value)
        case .big(let value): .big(value)
        case .double(let value): .double(value)
        default: nil
        }
    }

    /// `value == other`.
    func isEqual(to other: Value) -> Bool {
        switch (self, other) {
        case (.none, .none), (.undefined, .undefined): return true
        case (.list(let left), .list(let right)), (.tuple(let left), .tuple(let right)):
            return left === right || Self.areEqual(left.elements, right.elements)
        case (.dict(let left), .dict(let right)):
            if left === right { return true }
            guard left.count == right.count else { return false }
            for (key, value) in zip(left.keys, left.values) {
                guard let found = try? right.value(of: key), value.isIdenticalOrEqual(to: found) else { return false }
            }
            return true
        case (.object(let left), .object(let right)): return left.isEqual(to: right)
        case (.object(let left as Group), .tuple(let right)): return Self.areEqual(left.elements, right.elements)
        case (.tuple(let left), .object(let right as Group)): return Self.areEqual(left.elements, right.elements)
        default:
            if let left = text, let right = other.text { return left.isSameText(as: right) }
            if let left = number, let right = other.number { return Self.order(left, right) == .equal }
            return false
        }
    }

    /// What containers ask: not-a-number is found where it lies.
    func isIdenticalOrEqual(to other: Value) -> Bool { isSame(as: other) || isEqual(to: other) }

    private static func areEqual(_ left: [Value], _ right: [Value]) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { $0.isIdenticalOrEqual(to: $1) }
    }

    enum Order {
        case less, equal, greater
        /// One of the two is not a number.
        case none
    }

    private static func order(_ left: Number, _ right: Number) -> Order {
        if case .int(let left) = left, case .int(let right) = right {
            return left < right ? .less : left == right ? .equal : .greater
        }
        if let left = left.bigValue, let right = right.bigValue {
            return left < right ? .less : left == right ? .equal : .greater
        }
        let (a, b) = (left.doubleValue, right.doubleValue)
        if a.isNaN || b.isNaN { return .none }
        // A large integer and a float are compared exactly.
        if a.magnitude >= 0x1p53, a.isFinite, b.isFinite,
            let left = left.bigValue ?? BigInt(a), let right = right.bigValue ?? BigInt(b), left != right
        {
            return left < right ? .less : .greater
        }
        return a < b ? .less : a == b ? .equal : .greater
    }

    /// The order of two values of which the language knows one.
    ///
    /// - Parameter symbol: The operator, for the error message.
    func order(_ other: Value, symbol: String) throws(JinjaError) -> Order {
        if case .undefined(let undefined) = self { throw undefined.error }
        if case .undefined(let undefined) = other { throw undefined.error }
        if let left = number, let right = other.number { return Self.order(left, right) }
        if let left = text, let right = other.text {
            return left.isSameText(as: right) ? .equal : left.precedesText(right) ? .less : .greater
        }
        switch (self, other) {
        case (.list(let left), .list(let right)), (.tuple(let left), .tuple(let right)):
            for (a, b) in zip(left.elements, right.elements) where !a.isIdenticalOrEqual(to: b) {
                return try a.order(b, symbol: symbol)
            }
            let (a, b) = (left.elements.count, right.elements.count)
            return a < b ? .less : a == b ? .equal : .greater
        default:
            throw JinjaError(
                .type("'\(symbol)' not supported between instances of '\(typeName)' and '\(other.typeName)'"))
        }
    }

    /// `element in self`.
    func contains(_ element: Value) throws(JinjaError) -> Bool {
        switch self {
        case .string(let text), .markup(let text):
            if case .undefined(let undefined) = element, undefined.isForbidden { throw undefined.error }
            guard let part = element.text else {
                throw JinjaError(
                    .type("'in <string>' requires string as left operand, not \(element.typeName)"))
            }
            return part.isEmpty || TextSearch(part.utf8).first(in: Array(text.string.utf8)) != nil
        case .list(let list), .tuple(let list): return list.elements.contains { element.isIdenticalOrEqual(to: $0) }
        case .dict(let dict): return try dict.value(of: element) != nil
        case .undefined: return false
        case .object(let object):
            if let answer = try object.contains(element) { return answer }
            let iterator = try self.iterator()
            while let next = try iterator.next() {
                if element.isIdenticalOrEqual(to: next) { return true }
            }
            return false
        default: throw JinjaError(.type("argument of type '\(typeName)' is not iterable"))
        }
    }
}
