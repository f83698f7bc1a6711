import Foundation
import JSON

/// A key that is whatever the JSON says.
private struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension JSONValue {
    /// Reads any value. The keys of objects come sorted, because decoders do not tell their order.
    package init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: AnyKey.self) {
            var object = JSONObject()
            for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
                object[key.stringValue] = try JSONValue(from: container.superDecoder(forKey: key))
            }
            self = .object(object)
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [JSONValue] = []
            while !container.isAtEnd { elements.append(try JSONValue(from: container.superDecoder())) }
            self = .array(elements)
        } else {
            self = try JSONValue(scalar: decoder.singleValueContainer())
        }
    }

    private init(scalar container: any SingleValueDecodingContainer) throws {
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Int.self) {
            self = .number(JSONNumber(value))
        } else if let double = try? container.decode(Double.self), let number = JSONNumber(double) {
            // A decimal keeps the digits of the text; the two agree unless the number is beyond a decimal's range.
            if let decimal = try? container.decode(Decimal.self), decimal.isFinite,
                JSONNumber(decimal).doubleValue == double
            {
                self = .number(JSONNumber(decimal))
            } else {
                self = .number(number)
            }
        } else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "This is no JSON value.")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let object):
            var container = encoder.container(keyedBy: AnyKey.self)
            for (key, value) in object {
                try value.encode(to: container.superEncoder(forKey: AnyKey(stringValue: key)))
            }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try element.encode(to: container.superEncoder()) }
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .string(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .number(let number):
            var container = encoder.singleValueContainer()
            if let value = Int(number.text) {
                try container.encode(value)
            } else if let value = number.decimalValue, JSONNumber(value) == number {
                try container.encode(value)
            } else {
                try container.encode(number.doubleValue)
            }
        }
    }
}
