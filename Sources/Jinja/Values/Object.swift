/// A value that is none of the language's own: ranges, views of dictionaries, functions, the `loop` variable.
protocol Object: AnyObject {
    /// The name of the Python type.
    var typeName: String { get }
    /// How deep containers nest here.
    var depth: Int { get }
    /// What walking all of it costs (`Value.size`).
    var size: Int { get }
    /// `len(object)`; nil when the object has no length.
    var length: Int? { get }
    var isIterable: Bool { get }
    var isSequence: Bool { get }
    var isCallable: Bool { get }
    func iterator() throws(JinjaError) -> ValueIterator?
    /// Nil to look at the elements one by one.
    func contains(_ element: Value) throws(JinjaError) -> Bool?
    func isEqual(to other: any Object) -> Bool
    func writeRepr(to writer: inout ReprWriter) throws(JinjaError)
    /// `object.name`; nil when there is none.
    func attribute(_ name: String) throws(JinjaError) -> Value?
    /// `object[key]`; nil when there is none.
    func item(_ key: Value) throws(JinjaError) -> Value?
    func call(_ arguments: CallArguments, _ renderer: Renderer) throws(JinjaError) -> Value
}

extension Object {
    var depth: Int { 0 }
    var size: Int { 1 }
    var length: Int? { nil }
    var isIterable: Bool { false }
    var isSequence: Bool { false }
    var isCallable: Bool { false }
    func iterator() throws(JinjaError) -> ValueIterator? { nil }
    func contains(_ element: Value) throws(JinjaError) -> Bool? { nil }
    func isEqual(to other: any Object) -> Bool { self === other }
    func writeRepr(to writer: inout ReprWriter) throws(JinjaError) { try writer.write("<\(typeName)>") }
    func attribute(_ name: String) throws(JinjaError) -> Value? { nil }
    func item(_ key: Value) throws(JinjaError) -> Value? { nil }
    func call(_ arguments: CallArguments, _ renderer: Renderer) throws(JinjaError) -> Value {
        throw JinjaError(.type("'\(typeName)' object is not callable"))
    }
}

/// What a call gives to a function.
struct CallArguments {
    var positional: [Value] = []
    /// Names come from the template, or with `**` from a dictionary.
    var named: [(name: TrackedText, value: Value)] = []

    init(_ positional: [Value] = [], named: [(name: TrackedText, value: Value)] = []) {
        self.positional = positional
        self.named = named
    }

    /// The arguments in the order of the parameters, nil for those not given.
    ///
    /// - Parameters:
    ///   - required: How many of the first parameters must be given.
    ///   - allowsNames: Whether arguments may come by name.
    func bind(
        _ function: String, _ parameters: [String], required: Int = 0, allowsNames: Bool = true
    ) throws(JinjaError) -> [Value?] {
        guard positional.count <= parameters.count else {
            throw JinjaError(
                .type(
                    "\(function)() takes at most \(parameters.count) arguments (\(positional.count) given)"))
        }
        var bound: [Value?] = positional
        bound += Array(repeating: nil, count: parameters.count - positional.count)
        for (name, value) in named.map({ ($0.name.string, $0.value) }) {
            guard allowsNames, let index = parameters.firstIndex(of: name) else {
                throw JinjaError(.type("\(function)() got an unexpected keyword argument '\(name)'"))
            }
            guard bound[index] == nil else {
                throw JinjaError(.type("\(function)() got multiple values for argument '\(name)'"))
            }
            bound[index] = value
        }
        for index in 0..<required where bound[index] == nil {
            throw JinjaError(.type("\(function)() missing required argument '\(parameters[index])'"))
        }
        return bound
    }
}

/// A function of the library, or a method of a value.
final class Function: Object {
    private let name: String
    private let body: (CallArguments, Renderer) throws(JinjaError) -> Value
    let depth: Int

    /// - Parameter depth: How deep containers nest in what the function holds.
    init(
        _ name: String, depth: Int = 0, _ body: @escaping (CallArguments, Renderer) throws(JinjaError) -> Value
    ) {
        self.name = name
        self.body = body
        self.depth = depth
    }

    var typeName: String { "function" }
    var isCallable: Bool { true }
    func writeRepr(to writer: inout ReprWriter) throws(JinjaError) { try writer.write("<function \(name)>") }
    func call(_ arguments: CallArguments, _ renderer: Renderer) throws(JinjaError) -> Value {
        try body(arguments, renderer)
    }
}

/// Values that come once, as from a Python generator.
final class Generator: Object {
    private let source: ValueIterator
    let depth: Int

    /// - Parameter origin: The value that the generated ones are made from.
    init(over origin: Value, _ next: @escaping () throws(JinjaError) -> Value?) throws(JinjaError) {
        depth = try Value.depth(around: CollectionOfOne(origin))
        source = ValueIterator(next)
    }

    var typeName: String { "generator" }
    var isIterable: Bool { true }
    func iterator() throws(JinjaError) -> ValueIterator? {
        let source = source
        return ValueIterator { () throws(JinjaError) in try source.next() }
    }
}

/// `range(start, stop, step)`.
final class RangeObject: Object {
    let start: Int
    let stop: Int
    let step: Int
    let count: Int
    /// What the sandbox of jinja2 allows.
    static let maximumCount = 100_000

    /// - Parameter step: Not 0.
    init(start: Int, stop: Int, step: Int) throws(JinjaError) {
        self.start = start
        self.stop = stop
        self.step = step
        // Both ends are within ±2⁶², so their distance is an Int.
        let distance = step > 0 ? stop - start : start - stop
        count = distance <= 0 ? 0 : (distance - 1) / Int(clamping: step.magnitude) + 1
        guard count <= Self.maximumCount else {
            throw JinjaError(
                .limit(
                    "Range too big. The sandbox blocks ranges larger than MAX_RANGE (\(Self.maximumCount))."))
        }
    }

    var typeName: String { "range" }
    var size: Int { 1 + count }
    var length: Int? { count }
    var isIterable: Bool { true }
    var isSequence: Bool { true }
    var elements: [Value] { (0..<count).map { .int(start + $0 * step) } }

    func iterator() throws(JinjaError) -> ValueIterator? {
        let (start, step, count) = (start, step, count)
        var index = 0
        return ValueIterator(count: count) { () throws(JinjaError) -> Value? in
            guard index < count else { return nil }
            defer { index += 1 }
            return .int(start + index * step)
        }
    }

    func isEqual(to other: any Object) -> Bool {
        guard let other = other as? RangeObject, count == other.count else { return false }
        return count == 0 || start == other.start && (count == 1 || step == other.step)
    }

    func writeRepr(to writer: inout ReprWriter) throws(JinjaError) {
        try writer.write("range(\(start), \(stop)" + (step == 1 ? ")" : ", \(step))"))
    }

    func attribute(_ name: String) throws(JinjaError) -> Value? {
        switch name {
        case "start": .int(start)
        case "stop": .int(stop)
        case "step": .int(step)
        case "count", "index": ListMethods.method(name, of: elements, typeName: "range")
        default: nil
        }
    }

    func item(_ key: Value) throws(JinjaError) -> Value? {
        guard case .int(let key)? = key.number else { return nil }
        let index = key < 0 ? key + count : key
        return (0..<count).contains(index) ? .int(start + index * step) : nil
    }
}

/// `dict.keys()`, `dict.values()` and `dict.items()`.
final class DictView: Object {
    enum Kind: String { case keys, values, items }

    private let dict: Dict
    private let kind: Kind

    init(_ dict: Dict, _ kind: Kind) {
        self.dict = dict
        self.kind = kind
    }

    var typeName: String { "dict_\(kind.rawValue)" }
    var depth: Int { dict.depth }
    var size: Int { dict.size }
    var length: Int? { dict.count }
    var isIterable: Bool { true }

    private func element(_ index: Int) throws(JinjaError) -> Value {
        switch kind {
        case .keys: dict.keys[index]
        case .values: dict.values[index]
        case .items: try .tuple([dict.keys[index], dict.values[index]])
        }
    }

    func elements() throws(JinjaError) -> [Value] {
        var elements: [Value] = []
        for index in 0..<dict.count { elements.append(try element(index)) }
        return elements
    }

    func iterator() throws(JinjaError) -> ValueIterator? {
        var index = 0
        return ValueIterator(count: dict.count) { () throws(JinjaError) -> Value? in
            guard index < self.dict.count else { return nil }
            defer { index += 1 }
            return try self.element(index)
        }
    }

    func contains(_ element: Value) throws(JinjaError) -> Bool? {
        kind == .keys ? try dict.value(of: element) != nil : nil
    }

    func isEqual(to other: any Object) -> Bool {
        guard let other = other as? DictView, kind != .values, kind == other.kind else { return self === other }
        return kind == .keys
            ? dict.count == other.dict.count && dict.keys.allSatisfy { (try? other.dict.value(of: $0)) != nil }
            : Value.dict(dict).isEqual(to: .dict(other.dict))
    }

    func writeRepr(to writer: inout ReprWriter) throws(JinjaError) {
        try writer.write(try elements(), between: "\(typeName)([", "])")
    }
}

/// A group of `groupby`: a pair whose parts have names.
final class Group: Object {
    let elements: [Value]
    let depth: Int

    init(_ grouper: Value, _ list: [Value]) throws(JinjaError) {
        elements = [grouper, try .list(list)]
        depth = try Value.depth(around: elements)
    }

    var typeName: String { "_GroupTuple" }
    var size: Int { elements.reduce(1) { Value.saturatingSum($0, $1.size) } }
    var length: Int? { 2 }
    var isIterable: Bool { true }
    var isSequence: Bool { true }
    func iterator() throws(JinjaError) -> ValueIterator? { ValueIterator(elements) }
    func isEqual(to other: any Object) -> Bool {
        guard let other = other as? Group else { return false }
        return zip(elements, other.elements).allSatisfy { $0.isIdenticalOrEqual(to: $1) }
    }
    func writeRepr(to writer: inout ReprWriter) throws(JinjaError) { try writer.write(elements, between: "(", ")") }
    func attribute(_ name: String) throws(JinjaError) -> Value? {
        switch name {
        case "grouper": elements[0]
        case "list": elements[1]
        default: ListMethods.method(name, of: elements, typeName: "tuple")
        }
    }
    func item(_ key: Value) throws(JinjaError) -> Value? {
        guard case .int(let key)? = key.number else { return nil }
        let index = key < 0 ? key + 2 : key
        return (0..<2).contains(index) ? elements[index] : nil
    }
}

/// `namespace()`: the one thing that a template can change.
final class Namespace: Object {
    private var dict: Dict

    init(_ dict: Dict) { self.dict = dict }

    var typeName: String { "Namespace" }
    var size: Int { dict.size }
    func attribute(_ name: String) throws(JinjaError) -> Value? { dict.value(of: name) }
    func set(_ name: String, _ value: Value) throws(JinjaError) {
        guard !name.hasPrefix("_") else {
            throw JinjaError(
                .security(
                    "Chat templates cannot store underscore-prefixed attributes on a namespace, but got "
                        + "\(Python.repr(name)). Please rename the attribute."))
        }
        try dict.set(.plain(name), value)
    }
    /// Drops the values, so that namespaces that hold each other go away.
    func clear() { dict = Dict() }
    func writeRepr(to writer: inout ReprWriter) throws(JinjaError) {
        try writer.write("<Namespace ")
        try writer.write(dict)
        try writer.write(">")
    }
}

/// `cycler(…)`: gives its values one after the other, again and again.
final class Cycler: Object {
    private let items: [Value]
    private var position = 0
    let depth: Int

    init(_ items: [Value]) throws(JinjaError) {
        guard !items.isEmpty else { throw JinjaError(.value("at least one item has to be provided")) }
        self.items = items
        depth = try Value.depth(around: items)
    }

    var typeName: String { "Cycler" }
    func attribute(_ name: String) throws(JinjaError) -> Value? {
        switch name {
        case "items": return try .tuple(items)
        case "pos": return .int(position)
        case "current": return items[position]
        case "next":
            return .object(
                Function("next", depth: depth) { (arguments, _) throws(JinjaError) in
                    _ = try arguments.bind("next", [])
                    defer { self.position = (self.position + 1) % self.items.count }
                    return self.items[self.position]
                })
        case "reset":
            return .object(
                Function("reset", depth: depth) { (arguments, _) throws(JinjaError) in
                    _ = try arguments.bind("reset", [])
                    self.position = 0
                    return .none
                })
        default: return nil
        }
    }
}

/// `joiner(separator)`: nothing at the first call, the separator at all others.
final class Joiner: Object {
    private let separator: Value
    private var isUsed = false
    let depth: Int

    init(_ separator: Value) throws(JinjaError) {
        self.separator = separator
        depth = try Value.depth(around: [separator])
    }

    var typeName: String { "Joiner" }
    var isCallable: Bool { true }
    func attribute(_ name: String) throws(JinjaError) -> Value? {
        switch name {
        case "sep": separator
        case "used": .bool(isUsed)
        default: nil
        }
    }
    func call(_ arguments: CallArguments, _ renderer: Renderer) throws(JinjaError) -> Value {
        _ = try arguments.bind("joiner", [])
        defer { isUsed = true }
        return isUsed ? separator : .emptyText
    }
}
