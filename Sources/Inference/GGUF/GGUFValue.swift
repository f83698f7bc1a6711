import Tokenizers

/// A metadata value of a GGUF file, in the type that the file gives it.
package enum GGUFValue: Hashable, Sendable {
    case uint8(UInt8)
    case int8(Int8)
    case uint16(UInt16)
    case int16(Int16)
    case uint32(UInt32)
    case int32(Int32)
    case uint64(UInt64)
    case int64(Int64)
    case float32(Float)
    case float64(Double)
    case bool(Bool)
    case string(String)
    // Arrays of one element type are kept as such: a vocabulary has hundreds of thousands of elements.
    case strings(StringTable)
    case floats([Float])
    case integers([Int64])
    case bools([Bool])
    case arrays([GGUFValue])

    /// The value when it is an integer of any width that fits an `Int`.
    package var intValue: Int? {
        switch self {
        case .uint8(let value): Int(value)
        case .int8(let value): Int(value)
        case .uint16(let value): Int(value)
        case .int16(let value): Int(value)
        case .uint32(let value): Int(value)
        case .int32(let value): Int(value)
        case .uint64(let value): Int(exactly: value)
        case .int64(let value): Int(value)
        default: nil
        }
    }

    /// The value when it is a number.
    package var floatValue: Float? {
        switch self {
        case .float32(let value): value
        case .float64(let value): Float(value)
        default: intValue.map(Float.init)
        }
    }

    package var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    package var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var stringsValue: StringTable? {
        if case .strings(let values) = self { values } else { nil }
    }

    package var integersValue: [Int64]? {
        if case .integers(let values) = self { values } else { nil }
    }

    package var boolsValue: [Bool]? {
        if case .bools(let values) = self { values } else { nil }
    }

    /// The value when it is an array of numbers.
    package var floatsValue: [Float]? {
        switch self {
        case .floats(let values): values
        case .integers(let values): values.map(Float.init)
        default: nil
        }
    }
}

/// The value types as the format numbers them.
enum GGUFValueType: UInt32 {
    case uint8 = 0
    case int8 = 1
    case uint16 = 2
    case int16 = 3
    case uint32 = 4
    case int32 = 5
    case float32 = 6
    case bool = 7
    case string = 8
    case array = 9
    case uint64 = 10
    case int64 = 11
    case float64 = 12

    /// The fewest bytes that a value of the type takes in a file.
    var minimumBytes: Int {
        switch self {
        case .uint8, .int8, .bool: 1
        case .uint16, .int16: 2
        case .uint32, .int32, .float32: 4
        case .uint64, .int64, .float64, .string: 8
        case .array: 12
        }
    }
}
