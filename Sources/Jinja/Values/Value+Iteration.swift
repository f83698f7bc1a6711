/// Something that gives values until it is used up.
final class ValueIterator {
    private let advance: () throws(JinjaError) -> Value?
    /// How many values are left to give, where that is known.
    let count: Int?

    init(count: Int? = nil, _ advance: @escaping () throws(JinjaError) -> Value?) {
        self.count = count
        self.advance = advance
    }

    convenience init(_ elements: [Value]) {
        var index = 0
        self.init(count: elements.count) { () throws(JinjaError) -> Value? in
            guard index < elements.count else { return nil }
            defer { index += 1 }
            return elements[index]
        }
    }

    func next() throws(JinjaError) -> Value? { try advance() }
}

extension Value {
    /// `iter(value)`.
    func iterator() throws(JinjaError) -> ValueIterator {
        switch self {
        case .list(let list), .tuple(let list): return ValueIterator(list.elements)
        case .dict(let dict): return ValueIterator(dict.keys)
        case .undefined: return ValueIterator([])
        case .string(let text), .markup(let text):
            var scalars = text.scalars
            return ValueIterator { () throws(JinjaError) -> Value? in
                scalars.next().map { .string(TrackedText(CollectionOfOne($0))) }
            }
        case .object(let object):
            if let iterator = try object.iterator() { return iterator }
        default: break
        }
        throw JinjaError(.type("'\(typeName)' object is not iterable"))
    }

    var isIterable: Bool {
        switch self {
        case .list, .tuple, .dict, .undefined, .string, .markup: true
        case .object(let object): object.isIterable
        default: false
        }
    }
}
