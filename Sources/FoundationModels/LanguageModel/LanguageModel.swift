/// A model that a session can talk to. A value of it says what the model can do and how to reach it; its executor does the work.
public protocol LanguageModel: Sendable {
    associatedtype Executor: LanguageModelExecutor where Self == Self.Executor.Model

    /// What the model can do. A request that needs more fails before the executor sees it.
    var capabilities: LanguageModelCapabilities { get }

    /// What the executor is made from. Models with equal configurations share one executor within a session.
    var executorConfiguration: Executor.Configuration { get }
}
