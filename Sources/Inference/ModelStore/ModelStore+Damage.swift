import Foundation
import Synchronization

extension ModelStore {
    /// Why a file is not a whole GGUF file with tensors; nil when it is one. Reads its header alone, as loading does.
    static func damage(ofFile path: String) -> String? {
        do { return try damage(of: GGUFFile(URL(fileURLWithPath: path))) } catch { return "\(error)" }
    }

    private static func damage(of file: GGUFFile) -> String? { file.tensors.isEmpty ? "it has no tensors" : nil }

    /// As `damage(ofFile:)`, and whether it is of an architecture that can be loaded.
    private static func verdict(onFile path: String) -> Verdict {
        do {
            let file = try GGUFFile(URL(fileURLWithPath: path))
            if let damage = damage(of: file) { return Verdict(damage: damage) }
            let name = try file.require("general.architecture", as: "a string", \.stringValue)
            return Verdict(makesEmbeddings: try Architecture.named(name).purpose == .embeddings)
        } catch {
            return Verdict(damage: "\(error)")
        }
    }

    /// Why a model that is here cannot be loaded, as far as the file's header says; nil when nothing speaks against it.
    ///
    /// What the catalogue knows was verified when it came, so that only its length is looked at. Another file's header is
    /// read, once for each state of the file.
    package func damage(of model: Model) -> String? {
        verdict(on: model).damage
    }

    /// Why a model that is here cannot write text, to be said behind its name: it is damaged, or it is one for embeddings. Nil
    /// when nothing speaks against it.
    package func textFault(of model: Model) -> String? {
        let verdict = verdict(on: model)
        if let damage = verdict.damage { return "cannot be read as a model: \(damage)" }
        return verdict.makesEmbeddings ? "makes embeddings and writes no text" : nil
    }

    private func verdict(on model: Model) -> Verdict {
        if let entry = catalogue[model.name], model.path == path(of: model.name) {
            let isWhole = entry.size == model.size
            return Verdict(
                damage: isWhole ? nil : "it has \(model.size) bytes, and should have \(entry.size)",
                makesEmbeddings: entry.purpose == .embeddings)
        }
        var status = stat()
        guard stat(model.path, &status) == 0 else { return Verdict(damage: String(cString: strerror(errno))) }
        let state = FileState(
            path: model.path, size: Int64(status.st_size), seconds: status.st_mtim.tv_sec,
            nanoseconds: status.st_mtim.tv_nsec)
        if let known = Self.damages.withLock({ $0[state] }) { return known }
        let verdict = Self.verdict(onFile: model.path)
        Self.damages.withLock { $0[state] = verdict }
        return verdict
    }

    private struct FileState: Hashable {
        var path: String
        var size: Int64
        var seconds: Int
        var nanoseconds: Int
    }

    private struct Verdict {
        var damage: String?
        var makesEmbeddings = false
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
