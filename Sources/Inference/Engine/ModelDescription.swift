import Foundation

/// What a loaded model is.
package struct ModelDescription: Sendable {
    package let url: URL
    /// `general.name` of the file, or the file's own.
    package let name: String
    package let architecture: String
    package let parameterCount: Int
    /// In bytes.
    package let fileSize: Int
    package let vocabularySize: Int
    package let layerCount: Int
    package let trainedContextSize: Int
    /// What one token takes in the cache, in bytes.
    package let cacheBytesPerToken: Int

    init(_ file: GGUFFile, _ configuration: ModelConfiguration, cacheType: CacheType, parameterCount: Int) {
        url = file.url
        name = file.metadata["general.name"]?.stringValue ?? file.url.deletingPathExtension().lastPathComponent
        architecture = configuration.architecture.name
        self.parameterCount = parameterCount
        fileSize = file.fileSize
        vocabularySize = configuration.vocabularySize
        layerCount = configuration.layerCount
        trainedContextSize = configuration.trainedContextSize
        cacheBytesPerToken = configuration.cacheBytesPerToken(cacheType)
    }
}
