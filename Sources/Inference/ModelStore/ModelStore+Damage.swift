import Foundation
import Synchronization

extension ModelStore {
    /// Why a file is not a whole GGUF file with tensors; nil when it is one. Reads its header alone, as loading does.
    /// - Parameter forLoading: Whether it must also be of an architecture that can be loaded.
    static func damage(ofFile path: String, forLoading: Bool = false) -> String? {
        do {
            let file = try GGUFFile(URL(fileURLWithPath: path))
            guard !file.tensors.isEmpty else { return "it has no tensors" }
            if forLoading {
                _ = try Architecture.named(file.require("general.architecture", as: "a string", \.stringValue))
            }
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// Why a model that is here cannot be loaded, as far as the file's header says; nil when nothing speaks against it.
    ///
    /// What the catalogue knows was verified when it came, so that only its length is looked at. Another file's header is
    /// read, once for each state of the file.
    package func damage(of model: Model) -> String? {
        if let entry = catalogue[model.name], model.path == path(of: model.name) {
            return entry.size == model.size ? nil : "it has \(model.size) bytes, and should have \(entry.size)"
        }
        var status = stat()
        guard stat(model.path, &status) == 0 else { return String(cString: strerror(errno)) }
        let state = FileState(
            path: model.path, size: Int64(status.st_size), seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec)
        if let known = Self.damages.withLock({ $0[state] }) { return known.reason }
        let reason = Self.damage(ofFile: model.path, forLoading: true)
        Self.damages.withLock { $0[state] = Verdict(reason: reason) }
        return reason
    }

    private struct FileState: Hashable {
        var path: String
        var size: Int64
        var seconds: Int
        var nanoseconds: Int
    }

    private struct Verdict {
        var reason: String?
    }

    private static let damages = Mutex<[FileState: Verdict]>([:])
}

extension SHA256 {
    /// The digest of a whole file.
    static func digest(ofFile path: String) throws(ModelStoreError) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(reading: path) }
        defer { close(descriptor) }
        let hash = SHA256()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(reading: path) }
            guard count > 0 else { return hash.digest() }
            hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }
}
