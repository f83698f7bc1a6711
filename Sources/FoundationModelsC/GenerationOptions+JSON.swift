import Foundation
import FoundationModels

extension GenerationOptions {
    /// Reads options from the JSON that C writes them in.
    init(json pointer: UnsafePointer<CChar>?) throws(InvalidArgument) {
        self.init()
        guard let json = try optionalText(pointer, "JSON of the options"), !json.isEmpty else { return }
        let fields = Fields(try Self.object(in: json), "options")
        try fields.refuse(allBut: ["sampling", "temperature", "maximum_response_tokens"])
        temperature = try fields.number("temperature")
        maximumResponseTokens = try fields.integer("maximum_response_tokens")
        guard let sampling = try fields.object("sampling") else { return }
        try sampling.refuse(allBut: ["mode", "top_k", "top_p", "seed"])
        let top: Int? = try sampling.integer("top_k")
        let threshold = try sampling.number("top_p")
        let seed: UInt64? = try sampling.integer("seed")
        switch (try sampling.string("mode"), top, threshold) {
        case ("greedy", nil, nil) where seed == nil: samplingMode = .greedy
        case ("random", let top?, nil): samplingMode = .random(top: top, seed: seed)
        case ("random", nil, let threshold?): samplingMode = .random(probabilityThreshold: threshold, seed: seed)
        // All tokens, by their probabilities.
        case ("random", nil, nil): samplingMode = .random(probabilityThreshold: 1, seed: seed)
        case ("random", _?, _?):
            throw InvalidArgument("Sampling is from the top_k or from the top_p tokens, not from both.")
        case ("greedy", _, _):
            throw InvalidArgument("Greedy sampling takes the likeliest token: it has no top_k, top_p or seed.")
        case (let mode, _, _):
            throw InvalidArgument("The sampling mode is \"greedy\" or \"random\", not \"\(mode ?? "")\".")
        }
    }

    private static func object(in json: String) throws(InvalidArgument) -> [String: JSONField] {
        do {
            if case .object(let members) = try JSONDecoder().decode(JSONField.self, from: Data(json.utf8)) {
                return members
            }
        } catch {
            throw InvalidArgument("The options are not JSON.")
        }
        throw InvalidArgument("The options are not an object of JSON.")
    }
}

/// A value of JSON. Zero and false are not the same, as they are to `JSONSerialization`.
private enum JSONField: Decodable {
    case null
    case bool(Bool)
    case unsigned(UInt64)
    case signed(Int64)
    case number(Double)
    case text(String)
    case object([String: JSONField])
    case array([JSONField])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let unsigned = try? value.decode(UInt64.self) {
            self = .unsigned(unsigned)
        } else if let signed = try? value.decode(Int64.self) {
            self = .signed(signed)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let members = try? value.decode([String: JSONField].self) {
            self = .object(members)
        } else {
            self = .array(try value.decode([JSONField].self))
        }
    }
}

/// The members of an object, with names for messages. Numbers may also be given as strings, as Apple's package does.
private struct Fields {
    private let members: [String: JSONField]
    private let name: String

    init(_ members: [String: JSONField], _ name: String) {
        self.members = members
        self.name = name
    }

    func refuse(allBut known: Set<String>) throws(InvalidArgument) {
        guard let other = members.keys.filter({ !known.contains($0) }).min() else { return }
        throw InvalidArgument(
            "The \(name) have no member \"\(other)\"; there are \(known.sorted().joined(separator: ", ")).")
    }

    private func member(_ key: String) -> JSONField? {
        if case .null? = members[key] { nil } else { members[key] }
    }

    private func wrong(_ key: String, _ kind: String) -> InvalidArgument {
        InvalidArgument("\"\(key)\" of the \(name) is to be \(kind).")
    }

    func number(_ key: String) throws(InvalidArgument) -> Double? {
        guard let value = member(key) else { return nil }
        let number: Double? =
            switch value {
            case .unsigned(let number): Double(number)
            case .signed(let number): Double(number)
            case .number(let number): number
            case .text(let text): Double(text)
            default: nil
            }
        guard let number, number.isFinite else { throw wrong(key, "a number") }
        return number
    }

    func integer<Integer: FixedWidthInteger>(_ key: String) throws(InvalidArgument) -> Integer? {
        guard let value = member(key) else { return nil }
        let integer: Integer? =
            switch value {
            case .unsigned(let number): Integer(exactly: number)
            case .signed(let number): Integer(exactly: number)
            case .text(let text): Integer(text)
            default: nil
            }
        guard let integer else { throw wrong(key, "an integer from \(Integer.min) to \(Integer.max)") }
        return integer
    }

    func string(_ key: String) throws(InvalidArgument) -> String? {
        guard let value = member(key) else { return nil }
        guard case .text(let text) = value else { throw wrong(key, "a string") }
        return text
    }

    func object(_ key: String) throws(InvalidArgument) -> Fields? {
        guard let value = member(key) else { return nil }
        guard case .object(let object) = value else { throw wrong(key, "an object") }
        return Fields(object, key)
    }
}
