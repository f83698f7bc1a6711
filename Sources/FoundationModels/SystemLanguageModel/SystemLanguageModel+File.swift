import Foundation

extension SystemLanguageModel {
    /// The model of a GGUF file.
    package convenience init(file: URL) { self.init(backend: EngineBackend(file: file)) }
}
