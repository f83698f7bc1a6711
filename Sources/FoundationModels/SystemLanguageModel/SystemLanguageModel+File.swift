import Foundation
import Inference

extension SystemLanguageModel {
    /// The model of a GGUF file.
    ///
    /// - Parameters:
    ///   - contextLimit: The most tokens of a conversation; nil: what the model was trained for.
    ///   - cacheType: How keys and values are kept; nil: as the settings of this machine say.
    ///   - adapter: What changes the model.
    package convenience init(
        file: URL, contextLimit: Int? = nil, cacheType: CacheType? = nil, adapter: AdapterWeights? = nil
    ) {
        let backend = EngineBackend(file: file, contextLimit: contextLimit, cacheType: cacheType)
        self.init(
            backend: adapter.map { backend.adapted(by: $0) } ?? backend, adapter: adapter?.description)
    }

    /// The model of a GGUF file with an adapter.
    package convenience init(file: URL, adapter: Adapter) { self.init(file: file, adapter: adapter.weights) }
}
