import Foundation

extension Engine {
    /// The most tokens of prompt and answer together that an engine for a file would have, told without loading its weights.
    package static func contextSize(
        of file: URL, options: EngineOptions = EngineOptions()
    ) throws(InferenceError) -> Int {
        try options.validate()
        let gguf: GGUFFile
        do { gguf = try GGUFFile(file) } catch { throw .gguf(error) }
        return try options.resolvedContextSize(ModelConfiguration(gguf))
    }
}
