import Foundation

extension SystemLanguageModel {
    /// The model of a GGUF file.
    package convenience init(file: URL) { self.init(backend: EngineBackend(file: file)) }

    /// The model of a GGUF file with an adapter.
    package convenience init(file: URL, adapter: Adapter) {
        self.init(
            backend: EngineBackend(file: file).adapted(by: adapter.weights), adapter: adapter.weights.description)
    }
}
