import Foundation

extension LanguageModelSession {
    /// Loads the model and lets it read the instructions, the tools and the conversation so far, so that the next request is answered
    /// sooner. Returns at once.
    ///
    /// - Parameter promptPrefix: What the next prompt is going to begin with, where known.
    public func prewarm(promptPrefix: Prompt? = nil) {
        do {
            let profile = try sessionProperties.read(in: self) { try self.profile.resolve() }
            guard let model = profile.model else { throw ConfigurationError.missingModel }
            var transcript = currentTranscript
            if let segments = profile.instructions {
                _ = transcript.setInstructions(segments, definitions: profile.tools.map(\.definition))
            }
            if let promptPrefix {
                transcript.append(.prompt(Transcript.Prompt(segments: promptPrefix.segments)))
            }
            try SessionTrace.$current.withValue(trace) {
                try executors.prewarm(model, transcript: transcript)
            }
        } catch {
            // What is wrong shows when a request is made.
            trace.note("The session could not be prewarmed: \(error.localizedDescription)")
        }
    }
}

extension ExecutorStore {
    func prewarm<Model: LanguageModel>(_ model: Model, transcript: Transcript) throws {
        try executor(for: model).prewarm(model: model, transcript: transcript)
    }
}
