import Foundation
import FoundationModels

/// A model that does what a script says: exactly these events, these delays, these faults. With it an app tests what it does with a
/// model's answers, without weights and without chance.
///
/// ```swift
/// let model = ScriptedLanguageModel(turns: [
///     [.toolCall("findContacts", arguments: #"{"query": "Ann"}"#)],
///     [.text("Her number is "), .wait(.milliseconds(20)), .text("555-0100.")],
/// ])
/// let session = LanguageModelSession(model: model, tools: [FindContacts()])
/// let answer = try await session.respond(to: "What is Ann's number?").content
/// #expect(model.requests.count == 2)
/// ```
///
/// Each call of the model takes the next turn. Copies of a model share its script and what it recorded.
public struct ScriptedLanguageModel: LanguageModel {
    public let capabilities: LanguageModelCapabilities
    let script: Script

    /// - Parameters:
    ///   - capabilities: What the model says it can do; everything unless said otherwise.
    ///   - turns: What it does, call by call. A call beyond the last fails with ``ScriptExhaustedError``.
    public init(
        capabilities: LanguageModelCapabilities = .everything, turns: [[ScriptedStep]]
    ) {
        self.capabilities = capabilities
        script = Script(.turns(turns))
    }

    /// - Parameters:
    ///   - capabilities: What the model says it can do; everything unless said otherwise.
    ///   - turn: Works out what to do from the request and its number, counted from 0.
    public init(
        capabilities: LanguageModelCapabilities = .everything,
        turn:
            @escaping @Sendable (_ request: LanguageModelExecutorGenerationRequest, _ index: Int) throws ->
            [ScriptedStep]
    ) {
        self.capabilities = capabilities
        script = Script(.computed(turn))
    }

    /// A model that answers every call with the same text.
    public init(capabilities: LanguageModelCapabilities = .everything, alwaysAnswering text: String) {
        self.init(capabilities: capabilities) { _, _ in [.text(text)] }
    }

    public var executorConfiguration: Executor.Configuration { Executor.Configuration(script: script) }
}

extension ScriptedLanguageModel {
    /// The requests that the model was called with, in their order.
    public var requests: [LanguageModelExecutorGenerationRequest] { script.record.requests }

    /// The transcripts that the model was prewarmed with.
    public var prewarmedTranscripts: [Transcript] { script.record.prewarmedTranscripts }

    /// How many executors were made for the model.
    public var executorCount: Int { script.record.executorCount }

    /// How many calls ended because their task was cancelled.
    public var cancellationCount: Int { script.record.cancellationCount }
}

extension ScriptedLanguageModel {
    public struct Executor: LanguageModelExecutor {
        public typealias Model = ScriptedLanguageModel

        public struct Configuration: Hashable, Sendable {
            let script: Script

            public static func == (left: Configuration, right: Configuration) -> Bool { left.script === right.script }
            public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(script)) }
        }

        public init(configuration: Configuration) {
            configuration.script.change { $0.executorCount += 1 }
        }

        public func prewarm(model: ScriptedLanguageModel, transcript: Transcript) {
            model.script.change { $0.prewarmedTranscripts.append(transcript) }
        }

        public nonisolated(nonsending) func respond(
            to request: LanguageModelExecutorGenerationRequest, model: ScriptedLanguageModel,
            streamingInto channel: LanguageModelExecutorGenerationChannel
        ) async throws {
            do {
                for step in try model.script.steps(for: request) { try await step.perform(into: channel) }
            } catch {
                if error is CancellationError { model.script.change { $0.cancellationCount += 1 } }
                throw error
            }
        }
    }
}

extension LanguageModelCapabilities {
    /// All capabilities that there are.
    public static var everything: LanguageModelCapabilities {
        LanguageModelCapabilities([.vision, .guidedGeneration, .reasoning, .toolCalling])
    }
}

/// The model was called more often than its script has turns.
public struct ScriptExhaustedError: LocalizedError, Hashable {
    public let turnCount: Int

    public init(turnCount: Int) { self.turnCount = turnCount }

    public var errorDescription: String? { "The script has \(turnCount) turns, and the model was called once more." }
}
