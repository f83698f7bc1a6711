extension SystemLanguageModel: LanguageModel {
    public var capabilities: LanguageModelCapabilities {
        LanguageModelCapabilities(
            backend.reasons ? [.guidedGeneration, .toolCalling, .reasoning] : [.guidedGeneration, .toolCalling])
    }

    public var executorConfiguration: Executor.Configuration {
        Executor.Configuration(model: backend.identifier, adapter: adapter?.identifier)
    }

    /// Answers with the engine of this machine. A provider like any other.
    public struct Executor: LanguageModelExecutor {
        public typealias Model = SystemLanguageModel

        public struct Configuration: Hashable, Sendable {
            let model: String
            let adapter: String?
        }

        public init(configuration: Configuration) {}
    }
}
