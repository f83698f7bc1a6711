import Foundation

/// How an engine uses the machine.
package struct EngineOptions: Sendable, Equatable {
    /// The threads that compute; nil: one for each processor that the process may use.
    package var threadCount: Int?
    /// The most tokens of prompt and answer together; nil: what the model was trained for, as far as a quarter of the
    /// machine's memory holds its cache.
    package var contextSize: Int?
    /// How keys and values are kept.
    package var cacheType: CacheType
    /// The tokens of finished sequences that are kept so that their beginnings need not be computed again; nil: as many
    /// as the context has.
    package var cachedTokenLimit: Int?
    /// Where prewarmed prefixes lie for later processes, and those of other processes are found; nil: nowhere.
    package var prefixFolder: URL?
    /// The bytes that the folder of prefixes may have, of all models together.
    package var prefixFolderLimit: Int
    /// The tokens of prompts that one step of the model takes.
    package var prefillBatch: Int
    /// The requests that are decoded at the same time; further ones wait.
    package var concurrentRequests: Int

    package init(
        threadCount: Int? = nil, contextSize: Int? = nil, cacheType: CacheType = .f16, cachedTokenLimit: Int? = nil,
        prefixFolder: URL? = nil, prefixFolderLimit: Int = 1 << 30, prefillBatch: Int = 256,
        concurrentRequests: Int = 16
    ) {
        self.threadCount = threadCount
        self.contextSize = contextSize
        self.cacheType = cacheType
        self.cachedTokenLimit = cachedTokenLimit
        self.prefixFolder = prefixFolder
        self.prefixFolderLimit = prefixFolderLimit
        self.prefillBatch = prefillBatch
        self.concurrentRequests = concurrentRequests
    }

    func validate() throws(InferenceError) {
        let counts: [(String, Int?)] = [
            ("threadCount", threadCount), ("contextSize", contextSize), ("prefillBatch", prefillBatch),
            ("concurrentRequests", concurrentRequests),
        ]
        for (name, value) in counts {
            if let value, value < 1 { throw .invalidOption(name: name, reason: "\(value) is less than 1") }
        }
        if let limit = cachedTokenLimit, limit < 0 {
            throw .invalidOption(name: "cachedTokenLimit", reason: "\(limit) is negative")
        }
        if prefixFolderLimit < 0 {
            throw .invalidOption(name: "prefixFolderLimit", reason: "\(prefixFolderLimit) is negative")
        }
        if prefillBatch > 4096 {
            throw .invalidOption(name: "prefillBatch", reason: "\(prefillBatch) is more than 4,096")
        }
    }

    /// Where prefixes lie unless an engine is told otherwise: the folder that `FM_PREFIXES_DIR` names (`0`: none), else
    /// `foundationmodels/prefixes` in the user's cache folder; nil where there is no such folder.
    package static func standardPrefixFolder(environment: [String: String]) -> URL? {
        PrefixSnapshots.standardFolder(environment)
    }

    /// Foundation counts the processors that the process may use.
    var resolvedThreadCount: Int { threadCount ?? max(1, ProcessInfo.processInfo.activeProcessorCount) }

    func resolvedContextSize(_ configuration: ModelConfiguration) throws(InferenceError) -> Int {
        if let contextSize {
            guard contextSize <= configuration.trainedContextSize else {
                throw .invalidOption(
                    name: "contextSize",
                    reason:
                        "\(contextSize) is more than the \(configuration.trainedContextSize) of the model's training")
            }
            return contextSize
        }
        let memory = Int(clamping: ProcessInfo.processInfo.physicalMemory) / 4
        let affordable = max(512, memory / max(1, configuration.cacheBytesPerToken(cacheType)))
        return min(configuration.trainedContextSize, affordable)
    }
}
