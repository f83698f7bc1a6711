internal import JSON

/// A value of the template language, which is Python's: numbers of any size, texts of code points, immutable containers
/// with reference identity, and objects.
enum Value {
    case undefined(Undefined)
    case none
    case bool(Bool)
    case int(Int)
    /// A whole number that `Int` does not hold.
    case big(BigInt)
    case double(Double)
    case string(TrackedText)
    /// A text marked as safe for HTML. It escapes what is added to it.
    case markup(TrackedText)
    case list(List)
    case tuple(List)
    case dict(Dict)
    case object(any Object)
}

/// The value of a name, attribute or element that is not there. It prints as nothing, is false and empty, and any other
/// use of it is an error.
final class Undefined {
    let message: String
    /// Whether the thing exists, but the sandbox does not hand it out.
    let isForbidden: Bool

    init(_ message: String, isForbidden: Bool = false) {
        self.message = message
        self.isForbidden = isForbidden
    }

    convenience init(name: String) { self.init("\(Python.repr(name)) is undefined") }

    /// What is missing on an object: an attribute when the name is a text, an element otherwise.
    convenience init(_ name: Value, of object: Value) {
        if case .string(let text) = name {
            self.init("\(Python.repr(object.typeDescription)) has no attribute \(Python.repr(text.string))")
        } else {
            let element = (try? name.repr(limit: 1000)) ?? "…"
            self.init("\(object.typeDescription) has no element \(element)")
        }
    }

    var error: JinjaError { JinjaError(isForbidden ? .security(message) : .undefined(message)) }
}

/// The elements of a list or a tuple.
final class List {
    let elements: [Value]
    /// How deep containers nest here. Bounded, so that nothing that walks a value, or releases it, runs out of stack.
    let depth: Int
    /// What walking all of it costs (`Value.size`).
    let size: Int

    /// - Throws: A limit error when the nesting is too deep.
    init(_ elements: [Value]) throws(JinjaError) {
        self.elements = elements
        depth = try Value.depth(around: elements)
        size = elements.reduce(1) { Value.saturatingSum($0, $1.size) }
    }
}

/// A dictionary in order of insertion.
final class Dict {
    private(set) var keys: [Value] = []
    private(set) var values: [Value] = []
    private var positions: [Key: Int] = [:]
    private(set) var depth = 1
    /// What walking all of it costs (`Value.size`). A value that another replaces stays counted.
    private(set) var size = 1

    init() {}

    init(_ pairs: some Sequence<(Value, Value)>) throws(JinjaError) {
        for (key, value) in pairs { try set(key, value) }
    }

    /// Only for the making of a dictionary: templates cannot change one.
    func set(_ key: Value, _ value: Value) throws(JinjaError) {
        let hashed = try Key(key)
        depth = max(
            depth, try Value.depth(around: CollectionOfOne(value)), try Value.depth(around: CollectionOfOne(key)))
        size = Value.saturatingSum(size, Value.saturatingSum(key.size, value.size))
        if let position = positions[hashed] {
            values[position] = value
        } else {
            positions[hashed] = keys.count
            keys.append(key)
            values.append(value)
        }
    }

    var count: Int { keys.count }

    func value(of key: Value) throws(JinjaError) -> Value? { positions[try Key(key)].map { values[$0] } }

    func value(of key: String) -> Value? { positions[Key(key)].map { values[$0] } }
}

/// A key of a dictionary: equal to every value that Python finds equal (`1`, `1.0` and `True` are one key).
struct Key: Hashable {
    private enum Form: Hashable {
        case none, undefined
        case int(Int)
        case big(BigInt)
        case double(Double)
        /// The bytes, since Swift finds texts equal that differ in their code points.
        case string([UInt8])
        case tuple([Key])
        case object(ObjectIdentifier)
    }

    private let form: Form

    init(_ text: String) { form = .string(Array(text.utf8)) }

    /// What values may have for a size to be keys, unless they are texts.
    private static let maximumSize = 10_000

    init(_ value: Value) throws(JinjaError) {
        guard value.text != nil || value.size <= Self.maximumSize else {
            throw JinjaError(.limit("a key of more than \(Self.maximumSize) elements"))
        }
        switch value {
        case .none: form = .none
        case .undefined: form = .undefined
        case .bool(let value): form = .int(value ? 1 : 0)
        case .int(let value): form = .int(value)
        case .big(let value): form = .big(value)
        case .double(let value):
            if let int = Int(exactly: value) {
                form = .int(int)
            } else if value.rounded() == value, let big = BigInt(value) {
                form = .big(big)
            } else {
                form = .double(value)
            }
        case .string(let text), .markup(let text): form = .string(Array(text.string.utf8))
        case .tuple(let list):
            var keys: [Key] = []
            for element in list.elements { keys.append(try Key(element)) }
            form = .tuple(keys)
        case .list, .dict: throw JinjaError(.type("unhashable type: '\(value.typeName)'"))
        case .object(let object):
            if let group = object as? Group {
                var keys: [Key] = []
                for element in group.elements { keys.append(try Key(element)) }
                form = .tuple(keys)
            } else {
                form = .object(ObjectIdentifier(object))
            }
        }
    }
}

extension Value {
    /// Containers inside containers, at most.
    static let maximumDepth = 200

    static func depth(around elements: some Sequence<Value>) throws(JinjaError) -> Int {
        var depth = 1
        for element in elements {
            switch element {
            case .list(let list), .tuple(let list): depth = max(depth, list.depth + 1)
            case .dict(let dict): depth = max(depth, dict.depth + 1)
            case .object(let object): depth = max(depth, object.depth + 1)
            default: break
            }
        }
        guard depth <= maximumDepth else {
            throw JinjaError(.limit("values nested deeper than \(maximumDepth)"))
        }
        return depth
    }

    /// About how many steps it takes to compare, hash or write the value: one for each element all the way down, however
    /// often the same one comes, and one for each 64 bytes of text. `Int.max` when there are more.
    var size: Int {
        switch self {
        case .string(let text), .markup(let text): 1 + text.byteCount / 64
        case .list(let list), .tuple(let list): list.size
        case .dict(let dict): dict.size
        case .object(let object): object.size
        case .big(let number): 1 + number.bitWidth / 64
        case .undefined, .none, .bool, .int, .double: 1
        }
    }

    static func saturatingSum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? Int.max : sum
    }

    static var emptyText: Value { .string("") }

    /// A text that the template says, or that is made of nothing from the context but numbers.
    static func plain(_ text: String) -> Value { .string(TrackedText(text)) }

    static func list(_ elements: [Value]) throws(JinjaError) -> Value { .list(try List(elements)) }
    static func tuple(_ elements: [Value]) throws(JinjaError) -> Value { .tuple(try List(elements)) }

    static func integer(_ value: BigInt) -> Value { value.intValue.map(Value.int) ?? .big(value) }

    /// A JSON value as Python's `json.loads` has it: a number without point and exponent is an integer. Its texts are
    /// content, but for those that `trusted` names.
    init(_ json: JSONValue, trusting trusted: TrustedPaths, depth: Int = 0) throws(JinjaError) {
        guard depth < Self.maximumDepth else {
            throw JinjaError(.limit("values nested deeper than \(Self.maximumDepth)"))
        }
        switch json {
        case .null: self = .none
        case .bool(let value): self = .bool(value)
        case .string(let text): self = .string(TrackedText(text, isContent: !trusted.containsItself))
        case .number(let number):
            if let value = Int(number.text) {
                self = .int(value)
            } else if !number.text.utf8.contains(where: { $0 == 0x2e || $0 | 0x20 == 0x65 }),
                number.text.utf8.count <= BigInt.maximumDigits, let value = BigInt(number.text)
            {
                self = .integer(value)
            } else {
                self = .double(number.doubleValue)
            }
        case .array(let elements):
            var values: [Value] = []
            values.reserveCapacity(elements.count)
            let inside = trusted[TrustedPaths.anyElement]
            for element in elements { values.append(try Value(element, trusting: inside, depth: depth + 1)) }
            self = .list(try List(values))
        case .object(let object):
            let dict = Dict()
            for (key, value) in object {
                try dict.set(
                    .string(TrackedText(key, isContent: true)),
                    try Value(value, trusting: trusted[key], depth: depth + 1))
            }
            self = .dict(dict)
        }
    }

    // MARK: - Kinds

    var isUndefined: Bool { if case .undefined = self { true } else { false } }
    var isNone: Bool { if case .none = self { true } else { false } }

    /// The text of a text, marked as safe or not; to be looked at, not to be made into another.
    var text: String? { tracked?.string }

    /// The text of a text, marked as safe or not.
    var tracked: TrackedText? {
        switch self {
        case .string(let text), .markup(let text): text
        default: nil
        }
    }

    /// The name of the Python type.
    var typeName: String {
        switch self {
        case .undefined: "Undefined"
        case .none: "NoneType"
        case .bool: "bool"
        case .int, .big: "int"
        case .double: "float"
        case .string: "str"
        case .markup: "Markup"
        case .list: "list"
        case .tuple: "tuple"
        case .dict: "dict"
        case .object(let object): object.typeName
        }
    }

    /// How messages about missing attributes name the object.
    var typeDescription: String { isNone ? "None" : "\(typeName) object" }

    /// `bool(value)`.
    var isTrue: Bool {
        switch self {
        case .undefined, .none: false
        case .bool(let value): value
        case .int(let value): value != 0
        case .big: true
        case .double(let value): value != 0
        case .string(let text), .markup(let text): !text.isEmpty
        case .list(let list), .tuple(let list): !list.elements.isEmpty
        case .dict(let dict): dict.count > 0
        case .object(let object): object.length.map { $0 > 0 } ?? true
        }
    }

    /// `value is other`, as far as Python promises it.
    func isSame(as other: Value) -> Bool {
        switch (self, other) {
        case (.none, .none): true
        case (.bool(let left), .bool(let right)): left == right
        case (.int(let left), .int(let right)): left == right
        case (.string(let left), .string(let right)): left.string.isSameText(as: right.string)
        case (.list(let left), .list(let right)): left === right
        case (.tuple(let left), .tuple(let right)): left === right || left.elements.isEmpty && right.elements.isEmpty
        case (.dict(let left), .dict(let right)): left === right
        case (.object(let left), .object(let right)): left === right
        case (.undefined(let left), .undefined(let right)): left === right
        default: false
        }
    }

    /// `len(value)`; nil when the value has no length.
    var length: Int? {
        switch self {
        case .undefined: 0
        case .string(let text), .markup(let text): text.string.unicodeScalars.count
        case .list(let list), .tuple(let list): list.elements.count
        case .dict(let dict): dict.count
        case .object(let object): object.length
        default: nil
        }
    }
}

extension String {
    /// Whether the code points are equal. Swift's `==` finds canonically equivalent texts equal, too.
    func isSameText(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }

    func precedesText(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
