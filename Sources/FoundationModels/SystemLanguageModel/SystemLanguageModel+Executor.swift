extension SystemLanguageModel.Executor {
    public func prewarm(model: SystemLanguageModel, transcript: Transcript) {
        model.backend.prewarm(LocalPrompt(transcript: transcript))
    }

    public nonisolated(nonsending) func respond(
        to request: LanguageModelExecutorGenerationRequest, model: SystemLanguageModel,
        streamingInto channel: LanguageModelExecutorGenerationChannel
    ) async throws {
        guard model.isAvailable else {
            throw SystemLanguageModel.Error.assetsUnavailable(
                .init(debugDescription: model.backend.unavailabilityExplanation))
        }
        fatalError()
    }
}
