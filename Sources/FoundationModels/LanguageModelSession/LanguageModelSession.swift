import Foundation
import Synchronization

/// A conversation with a language model.
///
/// A session keeps the transcript, runs the tools that the model calls, and answers one request at a time: a second one while
/// ``isResponding`` is true fails with ``Error/concurrentRequests`` and leaves the first alone.
public final class LanguageModelSession {
    /// What the session knows and what changes.
    struct State {
        var transcript: Transcript
        var errorHandlingPolicy: TranscriptErrorHandlingPolicy?
        var usage: Usage = .zero
        /// What the last call of the model read and wrote, in tokens.
        var lastCallTokenCount = 0
        var activeResponse: ResponseBuffer?
        var activeProfile: ActiveProfile?
    }

    let profile: any ProfileSource
    let state: Mutex<State>
    let executors = ExecutorStore()
    let registrar = ObservationRegistrar()
    let sessionProperties = SessionPropertyValues()

    /// What the session noticed and did not throw.
    package let trace = SessionTrace()

    init(profile: any ProfileSource, transcript: Transcript) {
        self.profile = profile
        state = Mutex(State(transcript: transcript))
        sessionProperties.attach(to: self)
    }
}

extension LanguageModelSession: @unchecked Sendable {}

extension LanguageModelSession: nonisolated Observable {}

extension LanguageModelSession {
    /// Everything that was said, from the instructions on. It grows while the model responds.
    ///
    /// Changing it while ``isResponding`` ends the request with ``Error/transcriptMutationWhileResponding``; the change
    /// stays.
    public var transcript: Transcript {
        get {
            registrar.access(self, keyPath: \.transcript)
            return state.withLock { $0.transcript }
        }
        _modify {
            registrar.access(self, keyPath: \.transcript)
            var copy = state.withLock { $0.transcript }
            yield &copy
            replaceTranscript(with: copy)
        }
    }

    /// What happens to the transcript when a request fails; nil is ``TranscriptErrorHandlingPolicy/revertTranscript``.
    public var transcriptErrorHandlingPolicy: TranscriptErrorHandlingPolicy? {
        get {
            registrar.access(self, keyPath: \.transcriptErrorHandlingPolicy)
            return state.withLock { $0.errorHandlingPolicy }
        }
        set {
            registrar.withMutation(of: self, keyPath: \.transcriptErrorHandlingPolicy) {
                state.withLock { $0.errorHandlingPolicy = newValue }
            }
        }
    }

    /// Whether a request is being answered.
    public var isResponding: Bool {
        registrar.access(self, keyPath: \.isResponding)
        return state.withLock { $0.activeResponse != nil }
    }

    /// The tokens of all requests of the session, those that failed among them.
    public var usage: Usage {
        registrar.access(self, keyPath: \.usage)
        return state.withLock { $0.usage }
    }

    /// The values that tools, instructions and profiles of the session share.
    public var properties: SessionPropertyValues { sessionProperties }
}

extension LanguageModelSession {
    /// A change from outside. A request at work ends with an error, for it no longer knows what it continues.
    func replaceTranscript(with transcript: Transcript) {
        let interrupted = registrar.withMutation(of: self, keyPath: \.transcript) {
            state.withLock { state in
                state.transcript = transcript
                return state.activeResponse
            }
        }
        interrupted?.interrupt(with: Error.transcriptMutationWhileResponding)
    }

    /// A change by the request at work. Nothing happens when the request is no longer the active one.
    @discardableResult
    func update<Value>(for response: ResponseBuffer, _ change: (inout Transcript) throws -> Value) rethrows -> Value? {
        try registrar.withMutation(of: self, keyPath: \.transcript) {
            try state.withLock { state in
                guard state.activeResponse === response, !response.isInterrupted else { return nil }
                return try change(&state.transcript)
            }
        }
    }

    /// The transcript, without telling the observation that it was read.
    var currentTranscript: Transcript { state.withLock { $0.transcript } }
}
