/// What `is` asks.
enum Tests {
    typealias Test = @Sendable (Value, CallArguments, Renderer) throws(JinjaError) -> Bool

    private static func simple(_ name: String, _ test: @escaping @Sendable (Value) -> Bool) -> (String, Test) {
        (
            name,
            { (value, arguments, _) throws(JinjaError) in
                _ = try arguments.bind(name, [])
                return test(value)
            }
        )
    }

    private static func comparison(_ names: [String], _ symbol: Expression.Comparison) -> [(String, Test)] {
        names.map { name in
            (
                name,
                { (value, arguments, renderer) throws(JinjaError) in
                    let other = try arguments.bind(name, ["other"], required: 1, allowsNames: false)[0] ?? .none
                    return try renderer.compare(value, symbol, other)
                }
            )
        }
    }

    /// Whether `value % divisor` is a number.
    private static func remainder(_ value: Value, _ divisor: Value, is expected: Int, _ renderer: Renderer)
        throws(JinjaError) -> Bool
    {
        try renderer.binary(.remainder, value, divisor).isEqual(to: .int(expected))
    }

    private static let kinds: [(String, Test)] = [
        simple("defined") { !$0.isUndefined },
        simple("undefined") { $0.isUndefined },
        simple("none") { $0.isNone },
        simple("boolean") { if case .bool = $0 { true } else { false } },
        simple("true") { if case .bool(true) = $0 { true } else { false } },
        simple("false") { if case .bool(false) = $0 { true } else { false } },
        simple("integer") {
            switch $0 {
            case .int, .big: true
            default: false
            }
        },
        simple("float") { if case .double = $0 { true } else { false } },
        simple("number") { $0.number != nil },
        simple("string") { $0.text != nil },
        simple("mapping") { if case .dict = $0 { true } else { false } },
        simple("iterable") { $0.isIterable },
        simple("sequence") {
            switch $0 {
            case .undefined, .string, .markup, .list, .tuple, .dict: true
            case .object(let object): object.isSequence
            default: false
            }
        },
        simple("callable") {
            switch $0 {
            case .undefined: true
            case .object(let object): object.isCallable
            default: false
            }
        },
        simple("escaped") { if case .markup = $0 { true } else { false } },
    ]

    private static let relations: [(String, Test)] = [
        (
            "lower",
            { (value, arguments, renderer) throws(JinjaError) in
                _ = try arguments.bind("lower", [])
                return StringMethods.isLower(try renderer.text(value).string)
            }
        ),
        (
            "upper",
            { (value, arguments, renderer) throws(JinjaError) in
                _ = try arguments.bind("upper", [])
                return StringMethods.isUpper(try renderer.text(value).string)
            }
        ),
        (
            "odd",
            { (value, arguments, renderer) throws(JinjaError) in
                _ = try arguments.bind("odd", [])
                return try remainder(value, .int(2), is: 1, renderer)
            }
        ),
        (
            "even",
            { (value, arguments, renderer) throws(JinjaError) in
                _ = try arguments.bind("even", [])
                return try remainder(value, .int(2), is: 0, renderer)
            }
        ),
        (
            "divisibleby",
            { (value, arguments, renderer) throws(JinjaError) in
                let divisor = try arguments.bind("divisibleby", ["num"], required: 1)[0] ?? .none
                return try remainder(value, divisor, is: 0, renderer)
            }
        ),
        (
            "sameas",
            { (value, arguments, _) throws(JinjaError) in
                let other = try arguments.bind("sameas", ["other"], required: 1)[0] ?? .none
                return value.isSame(as: other)
            }
        ),
        (
            "in",
            { (value, arguments, renderer) throws(JinjaError) in
                let sequence = try arguments.bind("in", ["seq"], required: 1)[0] ?? .none
                return try renderer.compare(value, .in, sequence)
            }
        ),
        (
            "filter",
            { (value, arguments, _) throws(JinjaError) in
                _ = try arguments.bind("filter", [])
                return try isName(value) { Filters.table[$0] != nil }
            }
        ),
        (
            "test",
            { (value, arguments, _) throws(JinjaError) in
                _ = try arguments.bind("test", [])
                return try isName(value) { table[$0] != nil }
            }
        ),
    ]

    static let table: [String: Test] = {
        var all = kinds + relations
        all += comparison(["eq", "==", "equalto"], .equal)
        all += comparison(["ne", "!="], .notEqual)
        all += comparison(["gt", ">", "greaterthan"], .greater)
        all += comparison(["ge", ">="], .greaterOrEqual)
        all += comparison(["lt", "<", "lessthan"], .less)
        all += comparison(["le", "<="], .lessOrEqual)
        return Dictionary(uniqueKeysWithValues: all)
    }()

    /// Whether a table has the value as a key, which must be one that can be.
    private static func isName(_ value: Value, _ contains: (String) -> Bool) throws(JinjaError) -> Bool {
        _ = try Key(value)
        return value.text.map(contains) ?? false
    }
}
