import Inference
import JSON

/// The members of a JSON object while they are read: each is asked for with the type that it must have, and one that nobody
/// has asked for is an error in the end, so that nothing in a request is silently without effect.
struct Fields {
    let object: JSONObject
    private let path: String
    private var known: Set<String> = []

    init(_ object: JSONObject, path: String = "") {
        self.object = object
        self.path = path
    }

    init(_ value: JSONValue, path: String) throws(APIError) {
        guard let object = value.objectValue else { throw wrongType(value, path, "an object") }
        self.init(object, path: path)
    }

    /// The path of a member from the root of the request.
    func path(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// A member; nil when it is missing or null.
    mutating func value(_ key: String) -> JSONValue? {
        known.insert(key)
        guard let value = object[key], !value.isNull else { return nil }
        return value
    }

    /// Members that have no effect on what is answered.
    mutating func ignore(_ keys: [String]) { known.formUnion(keys) }

    mutating func string(_ key: String) throws(APIError) -> String? {
        guard let value = value(key) else { return nil }
        guard let string = value.stringValue else { throw wrongType(value, path(key), "a string") }
        return string
    }

    mutating func requiredString(_ key: String) throws(APIError) -> String {
        guard let string = try string(key) else { throw missing(key) }
        return string
    }

    mutating func bool(_ key: String) throws(APIError) -> Bool? {
        guard let value = value(key) else { return nil }
        guard let bool = value.boolValue else { throw wrongType(value, path(key), "true or false") }
        return bool
    }

    mutating func integer(_ key: String, in range: ClosedRange<Int>) throws(APIError) -> Int? {
        guard let value = value(key) else { return nil }
        guard let number = value.numberValue else { throw wrongType(value, path(key), "a whole number") }
        guard let integer = number.intValue, range.contains(integer) else {
            let bounds =
                range.upperBound == .max ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
            throw .invalid(path(key), code: "invalid_value", "\(path(key)) must be a whole number, \(bounds).")
        }
        return integer
    }

    mutating func number(_ key: String, in range: ClosedRange<Double>) throws(APIError) -> Double? {
        guard let value = value(key) else { return nil }
        guard let number = value.numberValue else { throw wrongType(value, path(key), "a number") }
        let double = number.doubleValue
        guard range.contains(double) else {
            throw .invalid(
                path(key), code: "invalid_value",
                "\(path(key)) must be a number from \(JSONNumber(range.lowerBound)?.text ?? "") to "
                    + "\(JSONNumber(range.upperBound)?.text ?? ""), not \(number.text.prefix(40)).")
        }
        return double
    }

    mutating func array(_ key: String) throws(APIError) -> [JSONValue]? {
        guard let value = value(key) else { return nil }
        guard let array = value.arrayValue else { throw wrongType(value, path(key), "an array") }
        return array
    }

    mutating func object(_ key: String) throws(APIError) -> Fields? {
        guard let value = value(key) else { return nil }
        return try Fields(value, path: path(key))
    }

    mutating func requiredObject(_ key: String) throws(APIError) -> Fields {
        guard let fields = try object(key) else { throw missing(key) }
        return fields
    }

    func missing(_ key: String) -> APIError {
        .invalid(path(key), code: "missing_required_parameter", "\(path(key)) is missing.")
    }

    /// Refuses a member that would change the answer and has no effect here, unless it has a value that changes nothing.
    mutating func refuse(_ key: String, unless isHarmless: (JSONValue) -> Bool = { _ in false }, hint: String = "")
        throws(APIError)
    {
        guard let value = value(key), !isHarmless(value) else { return }
        throw .invalid(
            path(key), code: "unsupported_parameter",
            "\(path(key)) is not supported by this server\(hint.isEmpty ? "" : ": \(hint)").")
    }

    /// Refuses what nobody has asked for.
    func finish() throws(APIError) {
        guard let key = object.keys.first(where: { !known.contains($0) }) else { return }
        let nearest = EditDistance.nearest(to: key, among: known.sorted())
        throw .invalid(
            path(key), code: "unknown_parameter",
            "\(path(key).prefix(200)) is no parameter of this request\(nearest.map { "; did you mean \($0)?" } ?? ".")")
    }
}

func wrongType(_ value: JSONValue, _ path: String, _ expected: String) -> APIError {
    .invalid(path, code: "invalid_type", "\(path.isEmpty ? "The body" : path) must be \(expected), not \(value.kind).")
}
