import FoundationModels
import Synchronization

/// What a scripted model does, and what was done with it.
final class Script: Sendable {
    enum Source: Sendable {
        case turns([[ScriptedStep]])
        case computed(@Sendable (LanguageModelExecutorGenerationRequest, Int) throws -> [ScriptedStep])
    }

    struct Record: Sendable {
        var requests: [LanguageModelExecutorGenerationRequest] = []
        var prewarmedTranscripts: [Transcript] = []
        var executorCount = 0
        var cancellationCount = 0
    }

    private let source: Source
    private let state = Mutex(Record())

    init(_ source: Source) { self.source = source }

    var record: Record { state.withLock { $0 } }

    func change(_ change: (inout Record) -> Void) { state.withLock { change(&$0) } }

    /// The steps for the next call.
    func steps(for request: LanguageModelExecutorGenerationRequest) throws -> [ScriptedStep] {
        let index = state.withLock { record in
            record.requests.append(request)
            return record.requests.count - 1
        }
        switch source {
        case .computed(let turn): return try turn(request, index)
        case .turns(let turns):
            guard index < turns.count else { throw ScriptExhaustedError(turnCount: turns.count) }
            return turns[index]
        }
    }
}
