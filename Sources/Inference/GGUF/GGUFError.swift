/// Why a file cannot be read as GGUF, naming the part that is wrong.
package enum GGUFError: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable(path: String, reason: String)
    /// The first four bytes are not `GGUF`.
    case notGGUF
    case bigEndian
    case unsupportedVersion(UInt32)
    /// The file ends inside `part`.
    case truncated(part: String, offset: Int)
    /// A count, length or offset that cannot be right, whatever follows it.
    case implausible(part: String, value: UInt64, limit: UInt64)
    case invalidUTF8(part: String)
    case invalidKey(String)
    case duplicateKey(String)
    case unknownValueType(key: String, type: UInt32)
    case invalidBool(key: String)
    case nestingTooDeep(key: String)
    /// The metadata takes more memory than any real file's.
    case metadataTooLarge(limit: Int)
    case invalidAlignment(UInt64)
    case duplicateTensor(String)
    case unknownTensorType(tensor: String, type: UInt32)
    case invalidShape(tensor: String, reason: String)
    case invalidOffset(tensor: String, offset: UInt64, reason: String)
    case overlappingTensors(String, String)

    package var description: String {
        switch self {
        case .unreadable(let path, let reason): "cannot read \(path): \(reason)"
        case .notGGUF: "not a GGUF file: it does not begin with the letters GGUF"
        case .bigEndian: "a big-endian GGUF file; only little-endian files are read"
        case .unsupportedVersion(let version): "GGUF version \(version); versions 2 and 3 are read"
        case .truncated(let part, let offset):
            "the file ends inside \(part), at byte \(offset): it is incomplete, fetch it again"
        case .implausible(let part, let value, let limit):
            "\(part) is \(value), more than the \(limit) that the file can hold: the file is damaged"
        case .invalidUTF8(let part): "\(part) is not valid UTF-8: the file is damaged"
        case .invalidKey(let key): "the metadata key \(key.debugDescription) is empty or longer than 65,535 bytes"
        case .duplicateKey(let key): "the metadata key \(key) stands twice"
        case .unknownValueType(let key, let type): "the value of \(key) has the unknown type \(type)"
        case .invalidBool(let key): "the value of \(key) is a Boolean that is neither 0 nor 1"
        case .nestingTooDeep(let key): "the value of \(key) nests arrays too deeply"
        case .metadataTooLarge(let limit): "the metadata takes more than \(limit >> 20) MiB"
        case .invalidAlignment(let value):
            "general.alignment is \(value); it must be a power of two from 8 to 1,048,576"
        case .duplicateTensor(let name): "the tensor \(name) stands twice"
        case .unknownTensorType(let tensor, let type):
            "the tensor \(tensor) has the type \(type), which is not supported"
        case .invalidShape(let tensor, let reason): "the shape of the tensor \(tensor) is wrong: \(reason)"
        case .invalidOffset(let tensor, let offset, let reason):
            "the data of the tensor \(tensor) at offset \(offset) is wrong: \(reason)"
        case .overlappingTensors(let first, let second): "the data of the tensors \(first) and \(second) overlap"
        }
    }
}
