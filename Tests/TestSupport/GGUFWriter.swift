import Foundation

/// Writes GGUF files for tests, right ones and, by its parts, wrong ones.
package struct GGUFWriter {
    package enum Value {
        case uint8(UInt8), int8(Int8), uint16(UInt16), int16(Int16), uint32(UInt32), int32(Int32)
        case uint64(UInt64), int64(Int64), float32(Float), float64(Double), bool(Bool), string(String)
        case strings([String]), floats([Float]), int32s([Int32]), uint8s([UInt8]), bools([Bool]), nested([Value])
        /// Any type number and any bytes.
        case raw(type: UInt32, [UInt8])
    }

    package struct Tensor {
        package var name: String
        /// Fastest first.
        package var shape: [UInt64]
        package var type: UInt32
        package var data: [UInt8]
        /// Overrides the place that the writer would choose.
        package var offset: UInt64?

        package init(_ name: String, _ shape: [Int], type: UInt32 = 0, data: [UInt8]) {
            self.name = name
            self.shape = shape.map { UInt64($0) }
            self.type = type
            self.data = data
        }

        package init(_ name: String, _ shape: [Int], _ floats: [Float]) {
            // The machines that run the tests are little-endian, as the format is.
            self.init(name, shape, data: floats.withUnsafeBytes { Array($0) })
        }
    }

    package var version: UInt32 = 3
    package var alignment = 32
    package var pairs: [(key: String, value: Value)] = []
    package var tensors: [Tensor] = []
    /// Override the true counts.
    package var tensorCount: UInt64?
    package var pairCount: UInt64?

    package init() {}

    package func data() -> Data {
        var out = Array("GGUF".utf8)
        out += bytes(version)
        out += bytes(tensorCount ?? UInt64(tensors.count))
        out += bytes(pairCount ?? UInt64(pairs.count))
        for (key, value) in pairs {
            out += string(key)
            out += bytes(typeNumber(value))
            out += payload(value)
        }
        var body: [UInt8] = []
        for tensor in tensors {
            while body.count % alignment != 0 { body.append(0) }
            out += string(tensor.name)
            out += bytes(UInt32(tensor.shape.count))
            for extent in tensor.shape { out += bytes(extent) }
            out += bytes(tensor.type)
            out += bytes(tensor.offset ?? UInt64(body.count))
            body += tensor.data
        }
        while out.count % alignment != 0 { out.append(0) }
        return Data(out + body)
    }

    /// Writes the file into a folder of its own, which the caller removes.
    package func write(to url: URL) throws { try data().write(to: url) }

    private func string(_ text: String) -> [UInt8] { bytes(UInt64(text.utf8.count)) + Array(text.utf8) }

    private func typeNumber(_ value: Value) -> UInt32 {
        switch value {
        case .uint8: 0
        case .int8: 1
        case .uint16: 2
        case .int16: 3
        case .uint32: 4
        case .int32: 5
        case .float32: 6
        case .bool: 7
        case .string: 8
        case .strings, .floats, .int32s, .uint8s, .bools, .nested: 9
        case .uint64: 10
        case .int64: 11
        case .float64: 12
        case .raw(let type, _): type
        }
    }

    private func payload(_ value: Value) -> [UInt8] {
        func array<Element>(_ type: UInt32, _ values: [Element], _ encode: (Element) -> [UInt8]) -> [UInt8] {
            bytes(type) + bytes(UInt64(values.count)) + values.flatMap(encode)
        }
        return switch value {
        case .uint8(let number): bytes(number)
        case .int8(let number): bytes(number)
        case .uint16(let number): bytes(number)
        case .int16(let number): bytes(number)
        case .uint32(let number): bytes(number)
        case .int32(let number): bytes(number)
        case .uint64(let number): bytes(number)
        case .int64(let number): bytes(number)
        case .float32(let number): bytes(number.bitPattern)
        case .float64(let number): bytes(number.bitPattern)
        case .bool(let value): [value ? 1 : 0]
        case .string(let text): string(text)
        case .strings(let texts): array(8, texts, string)
        case .floats(let numbers): array(6, numbers) { bytes($0.bitPattern) }
        case .int32s(let numbers): array(5, numbers) { bytes($0) }
        case .uint8s(let numbers): array(0, numbers) { [$0] }
        case .bools(let values): array(7, values) { [$0 ? 1 : 0] }
        case .nested(let values): array(9, values, payload)
        case .raw(_, let bytes): bytes
        }
    }
}

/// A number as a file has it.
package func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
