import Foundation
import Tokenizers

/// Reads the parts of a GGUF file in order, through a small buffer, with every length checked against what is left.
struct GGUFReader: ~Copyable {
    /// More than any model's vocabulary and template take, so that a hostile file cannot claim memory at will.
    static let metadataLimit = 512 << 20
    static let stringLimit = 64 << 20
    static let arrayDepthLimit = 4

    let fileSize: Int
    private let descriptor: Int32
    private let path: String
    private var buffer: [UInt8] = []
    /// The place of `buffer` in the file.
    private var bufferStart = 0
    /// The next byte, counted from the start of the file.
    private(set) var position = 0
    private var metadataBytes = 0

    init(_ url: URL) throws(GGUFError) {
        path = url.path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            close(descriptor)
            throw .unreadable(path: path, reason: String(cString: strerror(errno)))
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .unreadable(path: path, reason: "it is not a regular file")
        }
        fileSize = Int(status.st_size)
    }

    deinit { close(descriptor) }

    private var remaining: Int { fileSize - position }

    /// Makes the next `count` bytes lie in the buffer and returns their place in it.
    private mutating func require(_ count: Int, in part: @autoclosure () -> String) throws(GGUFError) -> Int {
        guard count <= remaining else { throw .truncated(part: part(), offset: fileSize) }
        if position + count > bufferStart + buffer.count {
            let length = min(max(count, 1 << 18), remaining)
            buffer = [UInt8](repeating: 0, count: length)
            bufferStart = position
            var filled = 0
            while filled < length {
                let got = buffer.withUnsafeMutableBytes {
                    pread(descriptor, $0.baseAddress! + filled, length - filled, off_t(position + filled))
                }
                if got < 0, errno == EINTR { continue }
                guard got >= 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
                // The file has become shorter since it was opened.
                guard got > 0 else { throw .truncated(part: part(), offset: position + filled) }
                filled += got
            }
        }
        return position - bufferStart
    }

    mutating func bytes(_ count: Int, in part: @autoclosure () -> String) throws(GGUFError) -> [UInt8] {
        let start = try require(count, in: part())
        position += count
        return Array(buffer[start..<start + count])
    }

    mutating func integer<Value: FixedWidthInteger>(
        _ type: Value.Type, in part: @autoclosure () -> String
    ) throws(GGUFError) -> Value {
        let size = MemoryLayout<Value>.size
        let start = try require(size, in: part())
        position += size
        return buffer.withUnsafeBytes { Value(littleEndian: $0.loadUnaligned(fromByteOffset: start, as: Value.self)) }
    }

    /// A count of things that take at least `minimumBytes` each, so that it is bounded by what is left of the file.
    mutating func count(minimumBytes: Int, in part: @autoclosure () -> String) throws(GGUFError) -> Int {
        let value = try integer(UInt64.self, in: part())
        let limit = remaining / minimumBytes
        guard value <= UInt64(limit) else { throw .implausible(part: part(), value: value, limit: UInt64(limit)) }
        return Int(value)
    }

    mutating func string(
        limit: Int = stringLimit, in part: @autoclosure () -> String
    ) throws(GGUFError) -> String {
        let length = try integer(UInt64.self, in: "the length of \(part())")
        let bound = min(limit, remaining)
        guard length <= UInt64(bound) else {
            throw .implausible(part: "the length of \(part())", value: length, limit: UInt64(bound))
        }
        let count = Int(length)
        try charge(count + MemoryLayout<String>.size)
        let start = try require(count, in: part())
        position += count
        let text = buffer.withUnsafeBufferPointer { buffer in
            String(validating: UnsafeBufferPointer(rebasing: buffer[start..<start + count]), as: UTF8.self)
        }
        guard let text else { throw .invalidUTF8(part: part()) }
        return text
    }

    private mutating func charge(_ bytes: Int) throws(GGUFError) {
        metadataBytes += bytes
        guard metadataBytes <= Self.metadataLimit else { throw .metadataTooLarge(limit: Self.metadataLimit) }
    }

    mutating func value(key: String) throws(GGUFError) -> GGUFValue {
        let number = try integer(UInt32.self, in: "the type of \(key)")
        guard let type = GGUFValueType(rawValue: number) else { throw .unknownValueType(key: key, type: number) }
        switch type {
        case .uint8: return .uint8(try integer(UInt8.self, in: key))
        case .int8: return .int8(try integer(Int8.self, in: key))
        case .uint16: return .uint16(try integer(UInt16.self, in: key))
        case .int16: return .int16(try integer(Int16.self, in: key))
        case .uint32: return .uint32(try integer(UInt32.self, in: key))
        case .int32: return .int32(try integer(Int32.self, in: key))
        case .uint64: return .uint64(try integer(UInt64.self, in: key))
        case .int64: return .int64(try integer(Int64.self, in: key))
        case .float32: return .float32(Float(bitPattern: try integer(UInt32.self, in: key)))
        case .float64: return .float64(Double(bitPattern: try integer(UInt64.self, in: key)))
        case .bool: return .bool(try bool(key: key))
        case .string: return .string(try string(in: "the value of \(key)"))
        case .array: return try array(key: key, depth: 0)
        }
    }

    private mutating func bool(key: String) throws(GGUFError) -> Bool {
        switch try integer(UInt8.self, in: key) {
        case 0: return false
        case 1: return true
        default: throw .invalidBool(key: key)
        }
    }

    private mutating func array(key: String, depth: Int) throws(GGUFError) -> GGUFValue {
        guard depth < Self.arrayDepthLimit else { throw .nestingTooDeep(key: key) }
        let number = try integer(UInt32.self, in: "the element type of \(key)")
        guard let type = GGUFValueType(rawValue: number) else { throw .unknownValueType(key: key, type: number) }
        let count = try count(minimumBytes: type.minimumBytes, in: "the number of elements of \(key)")
        if type != .string { try charge(count.multipliedReportingOverflow(by: 8).partialValue) }

        switch type {
        case .uint8: return .integers(try elements(count, UInt8.self, key) { Int64($0) })
        case .int8: return .integers(try elements(count, Int8.self, key) { Int64($0) })
        case .uint16: return .integers(try elements(count, UInt16.self, key) { Int64($0) })
        case .int16: return .integers(try elements(count, Int16.self, key) { Int64($0) })
        case .uint32: return .integers(try elements(count, UInt32.self, key) { Int64($0) })
        case .int32: return .integers(try elements(count, Int32.self, key) { Int64($0) })
        // A value beyond `Int64` is of no use to any key that is read, but no reason to refuse the file.
        case .uint64: return .integers(try elements(count, UInt64.self, key) { Int64(clamping: $0) })
        case .int64: return .integers(try elements(count, Int64.self, key) { $0 })
        case .float32: return .floats(try elements(count, UInt32.self, key) { Float(bitPattern: $0) })
        case .float64: return .floats(try elements(count, UInt64.self, key) { Float(Double(bitPattern: $0)) })
        case .bool:
            var values: [Bool] = []
            values.reserveCapacity(count)
            for _ in 0..<count { values.append(try bool(key: key)) }
            return .bools(values)
        case .string:
            return .strings(try strings(count, key: key))
        case .array:
            try charge(count.multipliedReportingOverflow(by: MemoryLayout<GGUFValue>.size).partialValue)
            var values: [GGUFValue] = []
            for _ in 0..<count { values.append(try array(key: key, depth: depth + 1)) }
            return .arrays(values)
        }
    }

    /// The strings of a vocabulary are kept as bytes: whether they are text is for the tokenizer to say.
    private mutating func strings(_ count: Int, key: String) throws(GGUFError) -> StringTable {
        try charge(count.multipliedReportingOverflow(by: MemoryLayout<Int>.size).partialValue)
        var table = StringTable()
        table.reserveCapacity(count, byteCount: min(remaining, count * 8))
        for index in 0..<count {
            let length = try integer(UInt64.self, in: "the length of element \(index) of \(key)")
            let bound = min(Self.stringLimit, remaining)
            guard length <= UInt64(bound) else {
                throw .implausible(
                    part: "the length of element \(index) of \(key)", value: length, limit: UInt64(bound))
            }
            try charge(Int(length))
            let start = try require(Int(length), in: "element \(index) of \(key)")
            position += Int(length)
            buffer.withUnsafeBytes { table.append(UnsafeRawBufferPointer(rebasing: $0[start..<start + Int(length)])) }
        }
        return table
    }

    private mutating func elements<Stored: FixedWidthInteger, Value>(
        _ count: Int, _ type: Stored.Type, _ key: String, _ convert: (Stored) -> Value
    ) throws(GGUFError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(convert(try integer(type, in: key))) }
        return values
    }

    /// The offset of the tensor that is returned counts from the start of the data.
    mutating func tensor(index: Int, alignment: Int) throws(GGUFError) -> GGUFTensor {
        let name = try string(limit: 65_535, in: "the name of tensor \(index)")
        let part = "the description of the tensor \(name)"
        let dimensionCount = try integer(UInt32.self, in: part)
        guard (1...4).contains(dimensionCount) else {
            throw .invalidShape(tensor: name, reason: "it has \(dimensionCount) dimensions; 1 to 4 are allowed")
        }
        var shape: [Int] = []
        var rows = 1
        for dimension in 0..<dimensionCount {
            let size = try integer(UInt64.self, in: part)
            // No dimension can exceed 32 numbers a byte, which keeps the product below within `Int`'s checks.
            guard let extent = Int(exactly: size), extent > 0 else {
                throw .invalidShape(tensor: name, reason: "dimension \(dimension) is \(size)")
            }
            if dimension > 0 {
                let (product, overflow) = rows.multipliedReportingOverflow(by: extent)
                guard !overflow else { throw .invalidShape(tensor: name, reason: "its size overflows") }
                rows = product
            }
            shape.append(extent)
        }
        let typeNumber = try integer(UInt32.self, in: part)
        guard let type = TensorType(rawValue: typeNumber) else {
            throw .unknownTensorType(tensor: name, type: typeNumber)
        }
        guard let rowBytes = type.rowBytes(shape[0]) else {
            throw .invalidShape(
                tensor: name,
                reason:
                    "rows of \(shape[0]) numbers are no whole blocks of \(type.blockLength) as \(type.name) has them")
        }
        let (byteCount, overflow) = rowBytes.multipliedReportingOverflow(by: rows)
        let (_, countOverflow) = shape[0].multipliedReportingOverflow(by: rows)
        guard !overflow, !countOverflow else { throw .invalidShape(tensor: name, reason: "its size overflows") }
        let offset = try integer(UInt64.self, in: part)
        // Beyond this no file reaches: the number is wrong, and not just the file short.
        guard let place = Int(exactly: offset), place <= 1 << 48 else {
            throw .invalidOffset(tensor: name, offset: offset, reason: "no file reaches that far")
        }
        guard place <= fileSize else { throw .truncated(part: "the data of the tensor \(name)", offset: fileSize) }
        guard place % alignment == 0 else {
            throw .invalidOffset(tensor: name, offset: offset, reason: "it is not a multiple of \(alignment)")
        }
        return GGUFTensor(name: name, type: type, shape: shape, offset: place, byteCount: byteCount)
    }
}
