internal import Foundation

enum BinaryOperator: String {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case floorDivide = "//"
    case remainder = "%"
    case power = "**"
}

extension Value {
    /// `left symbol right` of two numbers.
    static func arithmetic(_ symbol: BinaryOperator, _ left: Value, _ right: Value) throws(JinjaError) -> Value {
        if case .undefined(let undefined) = left { throw undefined.error }
        if case .undefined(let undefined) = right { throw undefined.error }
        guard let a = left.number, let b = right.number else {
            throw JinjaError(
                .type(
                    "unsupported operand type(s) for \(symbol.rawValue): '\(left.typeName)' and '\(right.typeName)'"))
        }
        if case .int(let a) = a, case .int(let b) = b, let result = try smallArithmetic(symbol, a, b) { return result }
        if let a = a.bigValue, let b = b.bigValue { return try bigArithmetic(symbol, a, b) }
        return .double(try floatArithmetic(symbol, a.doubleValue, b.doubleValue))
    }

    /// Nil when the result needs larger numbers.
    private static func smallArithmetic(_ symbol: BinaryOperator, _ a: Int, _ b: Int) throws(JinjaError) -> Value? {
        func exact(_ result: (partialValue: Int, overflow: Bool)) -> Value? {
            result.overflow ? nil : .int(result.partialValue)
        }
        switch symbol {
        case .add: return exact(a.addingReportingOverflow(b))
        case .subtract: return exact(a.subtractingReportingOverflow(b))
        case .multiply: return exact(a.multipliedReportingOverflow(by: b))
        case .floorDivide, .remainder:
            guard b != 0 else { throw divisionByZero("integer division or modulo by zero") }
            if b == -1 { return symbol == .remainder ? .int(0) : exact(0.subtractingReportingOverflow(a)) }
            let (quotient, rest) = a.quotientAndRemainder(dividingBy: b)
            let isBelow = rest != 0 && (rest < 0) != (b < 0)
            return .int(symbol == .remainder ? (isBelow ? rest + b : rest) : (isBelow ? quotient - 1 : quotient))
        case .divide:
            guard b != 0 else { throw divisionByZero("division by zero") }
            guard a.magnitude < 1 << 53, b.magnitude < 1 << 53 else { return nil }
            return .double(Double(a) / Double(b))
        case .power: return nil
        }
    }

    private static func bigArithmetic(_ symbol: BinaryOperator, _ a: BigInt, _ b: BigInt) throws(JinjaError) -> Value {
        switch symbol {
        case .add: return .integer(try bounded(a + b))
        case .subtract: return .integer(try bounded(a - b))
        case .multiply:
            guard a.bitWidth + b.bitWidth <= BigInt.maximumBits else { throw tooLarge }
            return .integer(a * b)
        case .floorDivide, .remainder:
            guard b != BigInt(0) else { throw divisionByZero("integer division or modulo by zero") }
            let (quotient, rest) = a.floorDivided(by: b)
            return .integer(symbol == .remainder ? rest : quotient)
        case .divide:
            guard b != BigInt(0) else { throw divisionByZero("division by zero") }
            let result = a.divided(by: b)
            guard result.isFinite else { throw JinjaError(.value("integer division result too large for a float")) }
            return .double(result)
        case .power:
            if b.isNegative {
                guard a != BigInt(0) else {
                    throw divisionByZero("0.0 cannot be raised to a negative power")
                }
                return .double(try floatArithmetic(.power, a.doubleValue, b.doubleValue))
            }
            if a == BigInt(0) || a == BigInt(1) { return .integer(b == BigInt(0) ? BigInt(1) : a) }
            if a == BigInt(-1) { return .int(b.isOdd ? -1 : 1) }
            guard let exponent = b.intValue, exponent <= BigInt.maximumBits,
                a.bitWidth * exponent <= BigInt.maximumBits
            else { throw tooLarge }
            return .integer(a.power(exponent))
        }
    }

    private static func floatArithmetic(_ symbol: BinaryOperator, _ a: Double, _ b: Double) throws(JinjaError) -> Double
    {
        switch symbol {
        case .add: return a + b
        case .subtract: return a - b
        case .multiply: return a * b
        case .divide:
            guard b != 0 else { throw divisionByZero("float division by zero") }
            return a / b
        case .remainder, .floorDivide:
            guard b != 0 else {
                throw divisionByZero(symbol == .remainder ? "float modulo" : "float floor division by zero")
            }
            var rest = fmod(a, b)
            var quotient = (a - rest) / b
            if rest != 0 {
                if (b < 0) != (rest < 0) {
                    rest += b
                    quotient -= 1
                }
            } else {
                rest = Double(signOf: b, magnitudeOf: 0)
            }
            if symbol == .remainder { return rest }
            guard quotient != 0 else { return Double(signOf: a / b, magnitudeOf: 0) }
            let floored = quotient.rounded(.down)
            return quotient - floored > 0.5 ? floored + 1 : floored
        case .power:
            guard a != 0 || b >= 0 else { throw divisionByZero("0.0 cannot be raised to a negative power") }
            guard a >= 0 || !b.isFinite || b.rounded() == b else {
                throw JinjaError(.value("the power is a complex number"))
            }
            let result = pow(a, b)
            guard result.isFinite || !a.isFinite || !b.isFinite else {
                throw JinjaError(.value("(34, 'Numerical result out of range')"))
            }
            return result
        }
    }

    private static func bounded(_ value: BigInt) throws(JinjaError) -> BigInt {
        guard value.bitWidth <= BigInt.maximumBits else { throw tooLarge }
        return value
    }

    private static var tooLarge: JinjaError {
        JinjaError(.limit("a number of more than \(BigInt.maximumBits) bits"))
    }

    private static func divisionByZero(_ message: String) -> JinjaError { JinjaError(.value(message)) }

    /// `-value` or `+value`.
    func signed(negative: Bool) throws(JinjaError) -> Value {
        if case .undefined(let undefined) = self { throw undefined.error }
        switch number {
        case .int(let value):
            guard negative else { return .int(value) }
            let (result, overflow) = 0.subtractingReportingOverflow(value)
            return overflow ? .big(-BigInt(value)) : .int(result)
        case .big(let value): return .integer(negative ? -value : value)
        case .double(let value): return .double(negative ? -value : value)
        case nil:
            throw JinjaError(.type("bad operand type for unary \(negative ? "-" : "+"): '\(typeName)'"))
        }
    }

    /// The value as an index or a count: an integer or a bool. Larger ones than any text or list has places are cut
    /// off at ±2⁶², so that sums of two of them do not overflow.
    func index(_ what: @autoclosure () -> String = "an integer is required") throws(JinjaError) -> Int {
        let bound = 1 << 62
        switch number {
        case .int(let value): return min(max(value, -bound), bound)
        case .big(let value): return value.isNegative ? -bound : bound
        default:
            if case .undefined(let undefined) = self { throw undefined.error }
            throw JinjaError(.type("\(what()), not '\(typeName)'"))
        }
    }
}
