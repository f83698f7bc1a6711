/// The `loop` variable.
final class Loop: Object {
    private var source: ValueIterator
    /// The sequence's own length, when it has one.
    private var knownLength: Int?
    private let recurse: ((Value, Int) throws(JinjaError) -> Value)?
    private let depth0: Int
    let depth: Int
    private var index0 = -1
    /// The next value, when it has been looked at already; `.some(nil)` at the end.
    private var ahead: Value??
    private var current: Value?
    private var before: Value?
    private var lastChanged: [Value]?

    /// - Parameter recurse: Renders the loop's body over other values, one level deeper.
    init(
        _ source: ValueIterator, over sequence: Value, length: Int?, depth0: Int,
        recurse: ((Value, Int) throws(JinjaError) -> Value)?
    ) throws(JinjaError) {
        self.source = source
        depth = try Value.depth(around: CollectionOfOne(sequence))
        knownLength = length
        self.depth0 = depth0
        self.recurse = recurse
    }

    var typeName: String { "LoopContext" }
    var isCallable: Bool { true }

    func next() throws(JinjaError) -> Value? {
        let value: Value?
        if let ahead {
            value = ahead
            self.ahead = nil
        } else {
            value = try source.next()
        }
        guard let value else { return nil }
        index0 += 1
        before = current
        current = value
        return value
    }

    /// Drops what the loop was given to compare, which may be the loop itself.
    func finish() { lastChanged = nil }

    private func peek() throws(JinjaError) -> Value? {
        if let ahead { return ahead }
        let value = try source.next()
        ahead = .some(value)
        return value
    }

    private func fullLength() throws(JinjaError) -> Int {
        if let knownLength { return knownLength }
        var rest: [Value] = []
        if let ahead, let value = ahead { rest.append(value) }
        while let value = try source.next() {
            rest.append(value)
            guard rest.count <= RangeObject.maximumCount * 40 else { throw JinjaError(.limit("a loop without end")) }
        }
        ahead = nil
        source = ValueIterator(rest)
        let length = rest.count + index0 + 1
        knownLength = length
        return length
    }

    func attribute(_ name: String) throws(JinjaError) -> Value? {
        switch name {
        case "index": return .int(index0 + 1)
        case "index0": return .int(index0)
        case "length": return .int(try fullLength())
        case "revindex": return .int(try fullLength() - index0)
        case "revindex0": return .int(try fullLength() - index0 - 1)
        case "first": return .bool(index0 == 0)
        case "last": return .bool(try peek() == nil)
        case "depth": return .int(depth0 + 1)
        case "depth0": return .int(depth0)
        case "previtem":
            if index0 > 0, let before { return before }
            return .undefined(Undefined("there is no previous item"))
        case "nextitem": return try peek() ?? .undefined(Undefined("there is no next item"))
        case "cycle":
            let index = index0
            return .object(
                Function("cycle") { (arguments, _) throws(JinjaError) in
                    guard arguments.named.isEmpty else {
                        throw JinjaError(.type("cycle() takes no keyword arguments"))
                    }
                    guard !arguments.positional.isEmpty else {
                        throw JinjaError(.type("no items for cycling given"))
                    }
                    return arguments.positional[index % arguments.positional.count]
                })
        case "changed":
            return .object(
                Function("changed") { (arguments, renderer) throws(JinjaError) in
                    guard arguments.named.isEmpty else {
                        throw JinjaError(.type("changed() takes no keyword arguments"))
                    }
                    let values = arguments.positional
                    var isChanged = self.lastChanged?.count != values.count
                    for (last, value) in zip(self.lastChanged ?? [], values) where !isChanged {
                        isChanged = try !renderer.isIdenticalOrEqual(last, to: value)
                    }
                    if isChanged { self.lastChanged = values }
                    return .bool(isChanged)
                })
        default: return nil
        }
    }

    func call(_ arguments: CallArguments, _ renderer: Renderer) throws(JinjaError) -> Value {
        guard let iterable = try arguments.bind("loop", ["iterable"], required: 1)[0] else { return .none }
        guard let recurse else {
            throw JinjaError(.type("The loop must have the 'recursive' marker to be called recursively."))
        }
        return try recurse(iterable, depth0 + 1)
    }

    var length: Int? { try? fullLength() }

    func writeRepr(to writer: inout ReprWriter) throws(JinjaError) {
        try writer.write("<LoopContext \(index0 + 1)/\(try fullLength())>")
    }
}
