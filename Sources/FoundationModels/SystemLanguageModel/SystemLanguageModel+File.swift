import Foundation

extension SystemLanguageModel {
    /// The model of a GGUF file.
    ///
    /// - Parameters:
    ///   - contextLimit: The most tokens of a conversation; nil: what the model was trained for.
    ///   - adapter: What changes the model.
    package convenience init(file: URL, contextLimit: Int? = nil, adapter: AdapterWeights? = nil) {
        let backend = EngineBackend(file: file, contextLimit: contextLimit)
        self.init(
            backend: adapter.map { backend.adapted(by: $0) } ?? backend, adapter: adapter?.description)
    }

    /// The model of a GGUF file with an adapter.
    package convenience init(file: URL, adapter: Adapter) { self.init(file: file, adapter: adapter.weights) }
}
