import CKernels
import Foundation
import JSON

/// What a safetensors file says of itself. The tensors' data stay in the file.
///
/// Eight bytes with the length of the header, the header as a JSON object from names to types, shapes and places, and the
/// data, of which every byte belongs to exactly one tensor.
/// Source: the safetensors specification (huggingface/safetensors, README, "Format").
struct SafetensorsFile: Sendable {
    struct Tensor: Sendable {
        let name: String
        let type: ElementType
        /// Slowest first.
        let shape: [Int]
        /// The first byte in the file.
        fileprivate(set) var offset: Int
        let byteCount: Int
    }

    enum ElementType: String, Sendable {
        case float64 = "F64"
        case float32 = "F32"
        case float16 = "F16"
        case bfloat16 = "BF16"

        var byteCount: Int {
            switch self {
            case .float64: 8
            case .float32: 4
            case .float16, .bfloat16: 2
            }
        }
    }

    let url: URL
    /// In the order of their data.
    let tensors: [Tensor]
    private let file: OpenFile

    /// Adapters have a few hundred tensors of about 150 bytes each.
    private static let headerLimit = 16 << 20

    init(_ url: URL) throws(AdapterError) {
        self.url = url
        func damaged(_ reason: String) -> AdapterError { .invalidSafetensors(path: url.path, reason: reason) }
        let file = try OpenFile(url)
        self.file = file
        let prefix = try file.read(at: 0, count: 8)
        let length = prefix.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
        guard length <= UInt64(Self.headerLimit), length <= UInt64(max(0, file.size - 8)) else {
            throw damaged("its header has \(length) bytes, more than the file or than \(Self.headerLimit >> 20) MiB")
        }
        let json: JSONValue
        do { json = try JSONValue(parsing: try file.read(at: 8, count: Int(length)), depthLimit: 8) } catch let error
            as AdapterError
        {
            throw error
        } catch { throw damaged("its header: \(error)") }
        guard let header = json.objectValue else { throw damaged("its header is no JSON object") }

        var tensors: [Tensor] = []
        for (name, description) in header where name != "__metadata__" {
            tensors.append(try Self.tensor(name, description, damaged))
        }
        tensors.sort { ($0.offset, $0.byteCount) < ($1.offset, $1.byteCount) }
        var end = 0
        for index in tensors.indices {
            guard tensors[index].offset == end else {
                throw damaged("the data of \(tensors[index].name) do not begin where those before end")
            }
            end += tensors[index].byteCount
            guard end <= file.size else { throw damaged("it ends inside the data of \(tensors[index].name)") }
            tensors[index].offset += 8 + Int(length)
        }
        guard end == file.size - 8 - Int(length) else { throw damaged("its data are not as long as its header says") }
        self.tensors = tensors
    }

    private static func tensor(
        _ name: String, _ description: JSONValue, _ damaged: (String) -> AdapterError
    ) throws(AdapterError) -> Tensor {
        guard let typeName = description["dtype"]?.stringValue,
            let extents = description["shape"]?.arrayValue?.map({ $0.numberValue?.intValue }),
            let offsets = description["data_offsets"]?.arrayValue, offsets.count == 2,
            let begin = offsets[0].numberValue?.intValue, let end = offsets[1].numberValue?.intValue
        else { throw damaged("the tensor \(name) has no dtype, shape and data_offsets") }
        guard let type = ElementType(rawValue: typeName) else {
            throw damaged("the tensor \(name) has the type \(typeName); floating-point numbers are read")
        }
        var shape: [Int] = []
        var byteCount = type.byteCount
        for extent in extents {
            guard let extent, extent > 0,
                case let (product, overflow) = byteCount.multipliedReportingOverflow(by: extent),
                !overflow
            else { throw damaged("the shape of the tensor \(name) is impossible") }
            shape.append(extent)
            byteCount = product
        }
        guard begin >= 0, case let (length, overflow) = end.subtractingReportingOverflow(begin), !overflow,
            length == byteCount
        else { throw damaged("the data of the tensor \(name) are not as long as its shape says") }
        return Tensor(name: name, type: type, shape: shape, offset: begin, byteCount: byteCount)
    }

    func floats(of tensor: Tensor) throws(AdapterError) -> [Float] {
        let bytes = try file.read(at: tensor.offset, count: tensor.byteCount)
        let count = tensor.byteCount / tensor.type.byteCount
        return bytes.withUnsafeBytes { bytes in
            guard tensor.type != .float64 else {
                return bytes.withMemoryRebound(to: Double.self) { $0.map { Float($0) } }
            }
            let type: ck_type =
                switch tensor.type {
                case .float16: CK_F16
                case .bfloat16: CK_BF16
                case .float32, .float64: CK_F32
                }
            return [Float](unsafeUninitializedCapacity: count) { floats, initialized in
                ck_dequantize(type, bytes.baseAddress, floats.baseAddress, Int64(count))
                initialized = count
            }
        }
    }
}

/// A file that is read in places.
private final class OpenFile: Sendable {
    private let descriptor: Int32
    private let path: String
    /// In bytes.
    let size: Int

    init(_ url: URL) throws(AdapterError) {
        path = url.path
        // Without blocking, so that a pipe of this name holds nobody up.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .unreadable(path: path, reason: "it is not a regular file")
        }
        size = Int(status.st_size)
    }

    deinit { close(descriptor) }

    func read(at offset: Int, count: Int) throws(AdapterError) -> [UInt8] {
        guard count <= max(0, size - offset) else { throw .invalidSafetensors(path: path, reason: "it is too short") }
        var bytes = [UInt8](repeating: 0, count: count)
        let got = bytes.withUnsafeMutableBytes { FileBytes.read(descriptor, at: offset, into: $0) }
        if let error = got.error { throw .unreadable(path: path, reason: String(cString: strerror(error))) }
        // It has become shorter since it was opened.
        guard got.count == count else { throw .invalidSafetensors(path: path, reason: "it is too short") }
        return bytes
    }
}
