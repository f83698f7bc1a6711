/// Why an adapter cannot be used, naming the file or the tensor that is wrong.
package enum AdapterError: Error, Hashable, Sendable, CustomStringConvertible {
    case unreadable(path: String, reason: String)
    case gguf(GGUFError)
    /// A safetensors file that is damaged or of a kind that is not read.
    case invalidSafetensors(path: String, reason: String)
    /// A key of the metadata or of `adapter_config.json`.
    case invalidConfiguration(key: String, reason: String)
    case wrongArchitecture(adapter: String, base: String)
    /// The adapter changes something that the base model has not, or that cannot be changed.
    case unknownTensor(String, reason: String)
    case missingFactor(String)
    case wrongShape(tensor: String, expected: String, actual: [Int])
    case wrongRank(tensor: String, reason: String)
    case notFinite(tensor: String)
    case empty
    /// It was loaded for a model of other widths than the one that is to use it.
    case otherBase
    case outOfMemory(bytes: Int)

    package var description: String {
        switch self {
        case .unreadable(let path, let reason): "cannot read \(path): \(reason)"
        case .gguf(let error): error.description
        case .invalidSafetensors(let path, let reason): "\(path) is no right safetensors file: \(reason)"
        case .invalidConfiguration(let key, let reason): "\(key) is wrong: \(reason)"
        case .wrongArchitecture(let adapter, let base):
            "the adapter was made for a model of the architecture \(adapter.debugDescription), and the model in use is "
                + "of \(base.debugDescription)"
        case .unknownTensor(let name, let reason): "the tensor \(name) cannot be applied: \(reason)"
        case .missingFactor(let name): "the tensor \(name) is missing: the two factors of a product come together"
        case .wrongShape(let tensor, let expected, let actual):
            "the tensor \(tensor) has the shape \(actual); the model in use needs \(expected)"
        case .wrongRank(let tensor, let reason): "the rank of \(tensor) is wrong: \(reason)"
        case .notFinite(let tensor): "the tensor \(tensor) has a value that is not a finite number: it is damaged"
        case .empty: "the adapter has no tensor"
        case .otherBase: "the adapter was loaded for another model than the one that is to use it"
        case .outOfMemory(let bytes): "no memory for the adapter: \(bytes >> 20) MiB are needed"
        }
    }
}
