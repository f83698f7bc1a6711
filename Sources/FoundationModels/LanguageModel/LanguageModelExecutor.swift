/// Carries out requests for a model. A session makes one executor for each configuration and keeps it as long as it lives.
public protocol LanguageModelExecutor: Sendable {
    associatedtype Configuration: Hashable, Sendable
    associatedtype Model: LanguageModel

    /// Loads the model and computes what it can of a transcript that a request is going to begin with. Returns at once.
    ///
    /// The signature must be exactly this one: a method that differs in a label leaves the default in place, which does nothing.
    func prewarm(model: Model, transcript: Transcript)

    init(configuration: Configuration) throws

    /// Generates one turn of the model and sends it into the channel piece by piece.
    ///
    /// The turn ends when the method returns. The session runs the tools that were called and asks again.
    /// What the method throws reaches the one who asked.
    func respond(
        to request: LanguageModelExecutorGenerationRequest, model: Model,
        streamingInto channel: LanguageModelExecutorGenerationChannel
    ) async throws
}

extension LanguageModelExecutor {
    public func prewarm(model: Model, transcript: Transcript) {
        SessionTrace.current?.note("\(Self.self) has no prewarm(model:transcript:) of its own: nothing was loaded.")
    }
}
