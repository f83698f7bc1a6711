import Foundation
import JSON

/// The model files of this machine: what is there, where it comes from, and which one is meant when none is named.
package struct ModelStore: Sendable {
    package let settings: ModelSettings
    package let catalogue: ModelCatalogue
    let environment: [String: String]

    /// The store that the environment and the configuration file describe.
    package init(
        environment: [String: String] = ProcessInfo.processInfo.environment, catalogue: ModelCatalogue = .standard
    ) throws(ModelStoreError) {
        self.init(settings: try ModelSettings(environment: environment), catalogue: catalogue, environment: environment)
    }

    package init(settings: ModelSettings, catalogue: ModelCatalogue, environment: [String: String]) {
        self.settings = settings
        self.catalogue = catalogue
        self.environment = environment
    }

    package var directory: String { settings.directory }

    /// A model file that can be loaded.
    package struct Model: Hashable, Sendable {
        /// The name in the store; for a file elsewhere its name without the extension.
        package var name: String
        package var path: String
        /// Bytes.
        package var size: Int64

        package init(name: String, path: String, size: Int64) {
            self.name = name
            self.path = path
            self.size = size
        }

        package var url: URL { URL(fileURLWithPath: path) }
    }

    // Files of the folder: `NAME.gguf`, beside it `NAME.json` with what is known of it, and `.incomplete/` for what is
    // being fetched.
    func path(of name: String) -> String { "\(directory)/\(name).gguf" }
    func recordPath(of name: String) -> String { "\(directory)/\(name).json" }
    var incompleteDirectory: String { "\(directory)/.incomplete" }
    func partialPath(of name: String) -> String { "\(incompleteDirectory)/\(name).partial" }
    /// Of a model that comes in an archive: the file that is unpacked from it.
    func memberPath(of name: String) -> String { "\(incompleteDirectory)/\(name).member" }
    func lockPath(of name: String) -> String { "\(incompleteDirectory)/\(name).lock" }

    /// The models that are on this machine, by name.
    package func installed() -> [Model] {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return files.filter { $0.hasSuffix(".gguf") && !$0.hasPrefix(".") }.sorted().compactMap { file in
            installedModel(String(file.dropLast(5)))
        }
    }

    /// The model of this name in the store, if its file is there.
    package func installedModel(_ name: String) -> Model? {
        guard Self.isValidName(name) else { return nil }
        let path = path(of: name)
        guard let size = Self.fileSize(path) else { return nil }
        return Model(name: name, path: path, size: size)
    }

    /// The model that a name or a path means.
    package func resolve(_ nameOrPath: String) throws(ModelStoreError) -> Model {
        if let model = installedModel(nameOrPath) { return model }
        if ModelSource.looksLikePath(nameOrPath) || (catalogue[nameOrPath] == nil && Self.fileSize(nameOrPath) != nil) {
            let path = (nameOrPath as NSString).expandingTildeInPath
            return try Self.file(path)
        }
        if catalogue[nameOrPath] != nil { throw .notInstalled(nameOrPath) }
        throw .unknownModel(nameOrPath, nearest: nearestName(nameOrPath))
    }

    /// A GGUF file anywhere, after a look at its first bytes.
    static func file(_ path: String) throws(ModelStoreError) -> Model {
        guard let size = fileSize(path) else {
            var isDirectory: ObjCBool = false
            if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) {
                throw .unreadableFile(path: path, reason: "it is no file")
            }
            throw .noSuchFile(path)
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(reading: path) }
        defer { close(descriptor) }
        var magic = [UInt8](repeating: 0, count: 4)
        guard read(descriptor, &magic, 4) == 4, magic == ggufMagic else { throw .notAModel(path) }
        let name = ModelSource.file(path).suggestedName
        return Model(name: name, path: path, size: size)
    }

    static let ggufMagic = Array("GGUF".utf8)

    /// Bytes of a regular file, nil when there is none.
    static func fileSize(_ path: String) -> Int64? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int64(status.st_size)
    }

    /// The name of the catalogue or the store that resembles a text most, if any does.
    package func nearestName(_ name: String) -> String? {
        EditDistance.nearest(to: name, among: catalogue.entries.map(\.name) + installed().map(\.name))
    }

    /// Names are file names: no separators, no leading dot or dash, nothing invisible.
    package static func isValidName(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first != ".", first != "-", name.utf8.count <= 200 else {
            return false
        }
        return name.unicodeScalars.allSatisfy {
            $0 != "/" && $0 != "\\" && $0.value > 0x20 && !(0x7f...0x9f).contains($0.value)
        }
    }

    /// Takes a model away, with what an interrupted fetch of it has left.
    ///
    /// - Returns: Bytes that were freed.
    @discardableResult
    package func remove(_ name: String) throws(ModelStoreError) -> Int64 {
        let partial = partialPath(of: name)
        let model = installedModel(name)
        guard Self.isValidName(name), model != nil || Self.fileSize(partial) != nil else {
            if Self.isValidName(name), catalogue[name] != nil { throw .notInstalled(name) }
            throw .unknownModel(name, nearest: EditDistance.nearest(to: name, among: installed().map(\.name)))
        }
        try prepareDirectories()
        guard let lock = try FileLock.tryAcquire(lockPath(of: name)) else { throw .busy(name) }
        return try withExtendedLifetime(lock) { () throws(ModelStoreError) in
            var freed: Int64 = 0
            for path in [path(of: name), partial, memberPath(of: name)] {
                guard let size = Self.fileSize(path) else { continue }
                guard unlink(path) == 0 else { throw .system(writing: path) }
                freed += size
            }
            unlink(recordPath(of: name))
            unlink("\(partial).json")
            unlink("\(memberPath(of: name)).json")
            lock.removeFile()
            return freed
        }
    }

    func prepareDirectories() throws(ModelStoreError) {
        try Folder.create(incompleteDirectory)
    }
}
