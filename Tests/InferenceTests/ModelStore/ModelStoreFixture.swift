import Foundation

import Inference
import TestSupport

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
