import Dispatch
import Foundation
import Synchronization
import Tokenizers

/// Prewarmed prefixes on the disk, so that a new process need not compute them again: one file each, in a folder that
/// all processes and models share. Files of other models, of other versions and damaged ones are passed over, with a note
/// in the trace; nothing that stands in a file is used before it is checked.
final class PrefixSnapshots: Sendable {
    /// One file.
    final class Snapshot: Sendable {
        let path: String
        let header: SnapshotHeader

        init(_ path: String, _ header: SnapshotHeader) {
            self.path = path
            self.header = header
        }
    }

    private struct Index {
        let tree = PrefixTree<Snapshot>()
    }

    let folder: String
    /// In bytes, of all files of the folder together.
    private let limit: Int
    private let contextSize: Int
    private let trace: Trace?
    private let key: SnapshotKey
    /// The tree of the files of this key; nil until it is needed.
    private let index = Mutex<Index?>(nil)
    /// Writes one snapshot after the other.
    private let writing = DispatchQueue(label: "prefix snapshots", qos: .utility)

    /// Fewer tokens are computed as fast as they are read.
    static let leastTokens = 64
    private static let suffix = ".prefix"
    /// A file that a process which is no more has left behind is removed when it is this old, in seconds.
    private static let staleAge = 600.0

    init(folder: URL, limit: Int, key: SnapshotKey, contextSize: Int, trace: Trace?) {
        self.folder = folder.path
        self.limit = limit
        self.key = key
        self.contextSize = contextSize
        self.trace = trace
    }

    /// The snapshots of what an adapter makes of the model, in the same folder.
    func withAdapter(_ digest: [UInt8]) -> PrefixSnapshots {
        PrefixSnapshots(
            folder: URL(fileURLWithPath: folder), limit: limit, key: key.withAdapter(digest), contextSize: contextSize,
            trace: trace)
    }

    /// Where snapshots lie unless an engine is told otherwise: the folder that `FM_PREFIXES_DIR` names (`0`: none), else
    /// `foundationmodels/prefixes` in the user's cache folder.
    static func standardFolder(_ environment: [String: String]) -> URL? {
        if let folder = environment["FM_PREFIXES_DIR"], !folder.isEmpty {
            return folder == "0" ? nil : URL(fileURLWithPath: folder)
        }
        // Source: XDG Base Directory Specification; a path that is not absolute is to be ignored.
        if let cache = environment["XDG_CACHE_HOME"], cache.hasPrefix("/") {
            return URL(fileURLWithPath: cache).appendingPathComponent("foundationmodels/prefixes")
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return URL(fileURLWithPath: home).appendingPathComponent(".cache/foundationmodels/prefixes")
    }

    // MARK: Reading

    /// The snapshot that has most of a prompt's beginning.
    func longestPrefix(of prompt: [TokenID]) -> (length: Int, snapshot: Snapshot)? {
        index.withLock { index in
            if index == nil { index = scan() }
            let found = index!.tree.longestPrefix(of: prompt)
            // The shortest is read fastest.
            guard let snapshot = found.holders.min(by: { $0.header.tokens.count < $1.header.tokens.count }) else {
                return nil
            }
            return (found.length, snapshot)
        }
    }

    private var filePrefix: String { String(SHA256.hexadecimal(key.bytes).prefix(16)) + "-" }

    private func scan() -> Index {
        let index = Index()
        // Names tell the key, so that the files of other models are not opened.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names.sorted() where name.hasPrefix(filePrefix) && name.hasSuffix(Self.suffix) {
            let path = "\(folder)/\(name)"
            do throws(SnapshotHeader.Fault) {
                let descriptor = try Self.open(path)
                defer { close(descriptor) }
                let header = try SnapshotHeader(descriptor, key: key.bytes, mostTokens: contextSize)
                index.tree.insert(header.tokens, for: Snapshot(path, header))
            } catch {
                trace?.note("The snapshot \(path) is not used: \(error).", .cache)
            }
        }
        return index
    }

    private static func open(_ path: String) throws(SnapshotHeader.Fault) -> Int32 {
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadable(String(cString: strerror(errno))) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .foreign
        }
        return descriptor
    }

    /// Fills the first `count` slots of a cache. False when the file is not what it was or is damaged; it is not offered
    /// again, and the cache holds nothing of use.
    func read(_ snapshot: Snapshot, count: Int, into cache: KeyValueCache) -> Bool {
        let start = trace?.now
        do throws(SnapshotHeader.Fault) {
            try fill(cache, count, from: snapshot)
        } catch {
            trace?.note("The snapshot \(snapshot.path) is not used: \(error).", .cache)
            index.withLock { $0?.tree.remove(snapshot, tokens: snapshot.header.tokens) }
            return false
        }
        // The least recently used go first.
        utimensat(AT_FDCWD, snapshot.path, nil, 0)
        if let trace, let start {
            trace.span("read snapshot", .cache, from: start, [("tokens", .init(count))])
        }
        return true
    }

    private func fill(_ cache: KeyValueCache, _ count: Int, from snapshot: Snapshot) throws(SnapshotHeader.Fault) {
        let descriptor = try Self.open(snapshot.path)
        defer { close(descriptor) }
        // The file may have been replaced since its header was read.
        let header = try SnapshotHeader(descriptor, key: key.bytes, mostTokens: contextSize)
        guard header.tokens == snapshot.header.tokens, count <= header.tokens.count else { throw .foreign }
        guard header.payloadLength == cache.byteCount(header.tokens.count) else { throw .damaged("its length") }
        let length = cache.pieceLength(header.tokens.count)

        let hash = SHA256()
        var buffer = [UInt8](repeating: 0, count: length)
        var offset = SnapshotHeader.length(tokenCount: header.tokens.count)
        for piece in cache.pieces(count) {
            let (got, error) = buffer.withUnsafeMutableBytes { buffer in
                let result = FileBytes.read(descriptor, at: offset, into: buffer)
                hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<result.count]))
                piece.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<min(piece.count, result.count)]))
                return result
            }
            if let error { throw .unreadable(String(cString: strerror(error))) }
            guard got == length else { throw .damaged("its length") }
            offset += length
        }
        guard hash.bytes() == header.payloadDigest else { throw .damaged("its content") }
    }

    // MARK: Writing

    /// Writes a sequence, unless a file has it already. The bytes are copied at once; the rest happens elsewhere.
    /// - Parameter completion: Called when the file stands there or could not be written.
    func save(_ tokens: [TokenID], _ cache: KeyValueCache, completion: @escaping @Sendable () -> Void) {
        guard tokens.count >= Self.leastTokens, cache.byteCount(tokens.count) <= limit else {
            return completion()
        }
        if let (length, snapshot) = longestPrefix(of: tokens), length == tokens.count,
            utimensat(AT_FDCWD, snapshot.path, nil, 0) == 0
        {
            return completion()
        }
        var payload: [UInt8] = []
        payload.reserveCapacity(cache.byteCount(tokens.count))
        for piece in cache.pieces(tokens.count) { payload.append(contentsOf: piece) }
        writing.async { [self, payload] in
            write(tokens, payload)
            completion()
        }
    }

    private func write(_ tokens: [TokenID], _ payload: [UInt8]) {
        let start = trace?.now
        let hash = SHA256()
        payload.withUnsafeBytes { hash.update($0) }
        let header = SnapshotHeader(
            key: key.bytes, tokens: tokens, payloadLength: payload.count, payloadDigest: hash.bytes())
        let tokensHash = SHA256()
        tokens.withUnsafeBytes { tokensHash.update($0) }
        let path = "\(folder)/\(filePrefix)\(tokensHash.digest().prefix(16))\(Self.suffix)"
        if let reason = place(header.encoded, payload, at: path) {
            trace?.note("The snapshot \(path) could not be written: \(reason).", .cache)
            return
        }
        let snapshot = Snapshot(path, header)
        let covered = index.withLock { index -> [Snapshot] in
            if index == nil { index = scan() }
            let covered = index!.tree.all.filter {
                $0.path == path || tokens.starts(with: $0.header.tokens)
            }
            for other in covered { index!.tree.remove(other, tokens: other.header.tokens) }
            index!.tree.insert(tokens, for: snapshot)
            return covered
        }
        // What the new one says in full is of no more use.
        for other in covered where other.path != path { unlink(other.path) }
        evict(sparing: path)
        if let trace, let start {
            trace.span(
                "write snapshot", .cache, from: start,
                [("tokens", .init(tokens.count)), ("bytes", .init(payload.count))])
        }
    }

    /// Writes a file in one step, as far as others can see. Prompts are private: only the user may read them.
    /// - Returns: Why it could not be done.
    private func place(_ header: [UInt8], _ payload: [UInt8], at path: String) -> String? {
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            return error.localizedDescription
        }
        func reason() -> String { String(cString: strerror(errno)) }
        let temporary = "\(folder)/.\(UUID().uuidString)"
        let descriptor = Foundation.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return reason() }
        let isWritten =
            header.withUnsafeBytes { FileBytes.write(descriptor, at: 0, $0) }
            && payload.withUnsafeBytes { FileBytes.write(descriptor, at: header.count, $0) }
        var fault = isWritten ? nil : reason()
        if close(descriptor) != 0 { fault = fault ?? reason() }
        if fault == nil, rename(temporary, path) != 0 { fault = reason() }
        if fault != nil { unlink(temporary) }
        return fault
    }

    /// Removes the least recently used files until the folder is within its limit.
    private func evict(sparing spared: String) {
        var files: [(path: String, bytes: Int, date: Double)] = []
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            let path = "\(folder)/\(name)"
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            let date = Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) * 1e-9
            if name.hasPrefix(".") {
                if Date().timeIntervalSince1970 - date > Self.staleAge { unlink(path) }
            } else if name.hasSuffix(Self.suffix) {
                files.append((path, Int(status.st_size), date))
            }
        }
        var total = files.reduce(0) { $0 + $1.bytes }
        for file in files.sorted(by: { $0.date < $1.date }) where total > limit && file.path != spared {
            unlink(file.path)
            total -= file.bytes
            index.withLock { index in
                for snapshot in index?.tree.all ?? [] where snapshot.path == file.path {
                    index?.tree.remove(snapshot, tokens: snapshot.header.tokens)
                }
            }
        }
    }
}
