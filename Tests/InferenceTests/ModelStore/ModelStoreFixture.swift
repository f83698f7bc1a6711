import Foundation

import Inference
import Synchronization

/// A folder of its own, removed at the end.
final class ScratchFolder: Sendable {
    let path: String

    init() {
        path = "\(NSTemporaryDirectory())/fm-test-\(UUID().uuidString)"
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func files(_ folder: String = "") -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)")) ?? []).sorted()
    }

    func read(_ name: String) -> [UInt8]? { FileManager.default.contents(atPath: "\(path)/\(name)").map(Array.init) }

    func write(_ bytes: [UInt8], _ name: String) {
        let file = "\(path)/\(name)"
        try? FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        _ = FileManager.default.createFile(atPath: file, contents: Data(bytes))
    }
}

/// Bytes that begin as a model file does and repeat nowhere.
func modelBytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed
    var bytes = Array("GGUF".utf8)
    while bytes.count < count {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes.append(UInt8(truncatingIfNeeded: state >> 33))
    }
    return Array(bytes.prefix(count))
}

func digest(_ bytes: [UInt8]) -> String {
    let hash = SHA256()
    bytes.withUnsafeBytes { hash.update($0) }
    return hash.digest()
}

extension FetchPatience {
    /// So that a test of a broken transfer takes no minutes.
    static var short: FetchPatience {
        var patience = FetchPatience()
        patience.connect = 5
        patience.slowSeconds = 1
        patience.attempts = 3
        patience.progressThatCounts = 1 << 10
        patience.firstPause = 0.01
        return patience
    }
}

extension ModelStore {
    /// A store in a folder, with a catalogue of its own.
    static func scratch(
        _ folder: ScratchFolder, _ entries: [ModelCatalogue.Entry] = [], model: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> ModelStore {
        ModelStore(
            settings: ModelSettings(directory: "\(folder.path)/models", model: model),
            catalogue: ModelCatalogue(entries: entries), environment: environment)
    }

    /// Pulls without the patience that users need.
    func pullQuickly(_ reference: String, name: String? = nil, sha256: String? = nil) async throws(ModelStoreError)
        -> PullResult
    {
        try await pull(reference, name: name, sha256: sha256, patience: .short)
    }
}

extension ModelCatalogue.Entry {
    static func sample(
        _ name: String, _ source: ModelSource, _ bytes: [UInt8], size: Int64? = nil, sha256: String? = nil,
        purpose: Purpose = .general
    ) -> Self {
        Self(
            name: name, summary: name, purpose: purpose, source: source, size: size ?? Int64(bytes.count),
            sha256: sha256 ?? digest(bytes), license: "none")
    }
}

/// Set from any thread.
final class Flag: Sendable {
    private let value = Mutex(false)
    func set() { value.withLock { $0 = true } }
    var isSet: Bool { value.withLock { $0 } }
}
