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
    case string(String)
    /// A text marked as safe for HTML. It escapes what is added to it.
    case markup(String)
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
            self.init("\(Python.repr(object.typeDescription)) has no attribute \(Python.repr(text))")
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

    /// - Throws: A limit error when the nesting is too deep.
    init(_ elements: [Value]) throws(JinjaError) {
        self.elements = elements
        depth = try Value.depth(around: elements)
    }

    init(empty: Void) {
        elements = []
        depth = 1
    }
}

/// A dictionary in order of insertion.
final class Dict {
    private(set) var keys: [Value] = []
    private(set) var values: [Value] = []
    private var positions: [Key: Int] = [:]
    private(set) var depth = 1

    init() {}

    init(_ pairs: some Sequence<(Value, Value)>) throws(JinjaError) {
        for (key, value) in pairs { try set(key, value) }
    }

    /// Only for the making of a dictionary: templates cannot change one.
    func set(_ key: Value, _ value: Value) throws(JinjaError) {
        let hashed = try Key(key)
        depth = max(
            depth, try Value.depth(around: CollectionOfOne(value)), try Value.depth(around: CollectionOfOne(key)))
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

    init(_ value: Value) throws(JinjaError) {
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
        case .string(let text), .markup(let text): form = .string(Array(text.utf8))
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

    static var emptyText: Value { .string("") }

    static func list(_ elements: [Value]) throws(JinjaError) -> Value { .list(try List(elements)) }
    static func tuple(_ elements: [Value]) throws(JinjaError) -> Value { .tuple(try List(elements)) }

    static func integer(_ value: BigInt) -> Value { value.intValue.map(Value.int) ?? .big(value) }

    /// A JSON value as Python's `json.loads` has it: a number without point and exponent is an integer.
    init(_ json: JSONValue, depth: Int = 0) throws(JinjaError) {
        guard depth < Self.maximumDepth else {
            throw JinjaError(.limit("values nested deeper than \(Self.maximumDepth)"))
        }
        switch json {
        case .null: self = .none
        case .bool(let value): self = .bool(value)
        case .string(let text): self = .string(text)
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
            for element in elements { values.append(try Value(element, depth: depth + 1)) }
            self = .list(try List(values))
        case .object(let object):
            let dict = Dict()
            for (key, value) in object { try dict.set(.string(key), try Value(value, depth: depth + 1)) }
            self = .dict(dict)
        }
    }

    // MARK: - Kinds

    var isUndefined: Bool { if case .undefined = self { true } else { false } }
    var isNone: Bool { if case .none = self { true } else { false } }

    /// The text of a text, marked as safe or not.
    var text: String? {
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
        case (.string(let left), .string(let right)): left.isSameText(as: right)
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
        case .string(let text), .markup(let text): text.unicodeScalars.count
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
