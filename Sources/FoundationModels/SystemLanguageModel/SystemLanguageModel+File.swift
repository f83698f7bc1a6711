import Foundation

extension SystemLanguageModel {
    /// The model of a GGUF file.
    ///
    /// - Parameter contextLimit: The most tokens of a conversation; nil: what the model was trained for.
    package convenience init(file: URL, contextLimit: Int? = nil) {
        self.init(backend: EngineBackend(file: file, contextLimit: contextLimit))
    }

    /// The model of a GGUF file with an adapter.
    package convenience init(file: URL, adapter: Adapter) {
        self.init(
            backend: EngineBackend(file: file).adapted(by: adapter.weights), adapter: adapter.weights.description)
    }
}
