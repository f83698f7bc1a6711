import Foundation
import FoundationModels
import FoundationModelsTesting
import Testing

@Suite struct ExecutorTests {
    @Test func W1_oneExecutorForEachConfigurationOfASession() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(model: model)
        for _ in 0..<3 { try await session.respond(to: "Hi") }
        session.prewarm()
        #expect(model.executorCount == 1)
        try await LanguageModelSession(model: model).respond(to: "Hi")
        #expect(model.executorCount == 2)
    }

    @Test func W2_theDefaultPrewarmIsNoted() {
        let session = LanguageModelSession(model: SilentModel())
        session.prewarm()
        #expect(session.trace.notes.contains { $0.contains("has no prewarm") })
    }

    @Test func prewarmSeesWhatARequestWillBeginWith() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(model: model, instructions: "Be brief.")
        session.prewarm(promptPrefix: Prompt("Tell me"))
        #expect(model.prewarmedTranscripts.map { $0.map(\.text) } == [["Be brief.", "Tell me"]])
        #expect(session.transcript.kinds == ["instructions"])
        let dynamic = LanguageModelSession(model: model, dynamicInstructions: Instructions("Dynamic."))
        dynamic.prewarm()
        #expect(model.prewarmedTranscripts.last?.map(\.text) == ["Dynamic."])
    }

    @Test func undeclaredCapabilitiesAreRefusedBeforeTheExecutor() async throws {
        let model = ScriptedLanguageModel(capabilities: LanguageModelCapabilities([]), turns: [])
        func capability(_ body: () async throws -> Void) async -> LanguageModelCapabilities.Capability? {
            do {
                try await body()
            } catch LanguageModelError.unsupportedCapability(let details) {
                return details.capability
            } catch {
                Issue.record(error)
            }
            return nil
        }
        #expect(
            await capability {
                try await LanguageModelSession(model: model, tools: [EchoTool()]).respond(to: "Hi")
            } == .toolCalling)
        #expect(
            await capability {
                try await LanguageModelSession(model: model).respond(to: "Hi", generating: Recipe.self)
            } == .guidedGeneration)
        #expect(
            await capability {
                try await LanguageModelSession(model: model).respond {
                    "What is this?"
                    Attachment(imageURL: URL(fileURLWithPath: "/tmp/a.png"))
                }
            } == .vision)
        #expect(model.requests.isEmpty)
    }

    @Test func reasoningLevelWithoutReasoningIsNoted() async throws {
        let model = ScriptedLanguageModel(capabilities: LanguageModelCapabilities([]), turns: [[.text("ok")]])
        let session = LanguageModelSession(model: model)
        try await session.respond(to: "Hi", contextOptions: ContextOptions(reasoningLevel: .deep))
        #expect(session.trace.notes.contains { $0.contains("reasoning level") })
    }

    @Test func executorFailuresReachTheCaller() async throws {
        let session = LanguageModelSession(model: ScriptedLanguageModel(turns: [[.fail(Fault())]]))
        await #expect(throws: Fault()) { try await session.respond(to: "Hi") }
        await #expect(throws: ScriptExhaustedError(turnCount: 1)) { try await session.respond(to: "Hi") }
    }

    @Test func anAbsentLocalModelIsAnError() async throws {
        let model = SystemLanguageModel(backend: NoLocalModel())
        #expect(model.availability == .unavailable(.modelNotReady))
        await #expect(throws: SystemLanguageModel.Error.self) {
            try await LanguageModelSession(model: model).respond(to: "Hi")
        }
    }

    @Test func anUnconfiguredServerIsAnError() async throws {
        let model = PrivateCloudComputeLanguageModel()
        #expect(model.availability == .unavailable(.deviceNotEligible))
        #expect(!model.isAvailable && !model.quotaUsage.isLimitReached)
        await #expect(throws: PrivateCloudComputeLanguageModel.Error.self) {
            try await LanguageModelSession(model: model).respond(to: "Hi")
        }
        await #expect(throws: PrivateCloudComputeLanguageModel.Error.self) { try await model.contextSize }
    }

    @Test func errorsOfTheFirstGeneration() throws {
        let context = LanguageModelError.contextSizeExceeded(
            .init(contextSize: 1, tokenCount: 2, debugDescription: "long"))
        guard case .exceededContextWindowSize(let details)? = LanguageModelSession.GenerationError(translating: context)
        else {
            Issue.record("not translated")
            return
        }
        #expect(details.debugDescription == "long")
        #expect(LanguageModelSession.GenerationError(translating: Fault()) == nil)
    }

    @Test func refusalsExplainThemselves() async throws {
        let refusal = LanguageModelError.Refusal(explanation: "I would rather not.", debugDescription: "refused")
        #expect(try await refusal.explanation.content == "I would rather not.")
        var last = ""
        for try await snapshot in refusal.explanationStream { last = snapshot.content }
        #expect(last == "I would rather not.")
        let old = try #require(LanguageModelSession.GenerationError(translating: LanguageModelError.refusal(refusal)))
        guard case .refusal(let translated, _) = old else {
            Issue.record("not a refusal")
            return
        }
        #expect(try await translated.explanation.content == "I would rather not.")
    }
}

private struct SilentModel: LanguageModel {
    var capabilities: LanguageModelCapabilities { LanguageModelCapabilities([]) }
    var executorConfiguration: Executor.Configuration { .init() }

    struct Executor: LanguageModelExecutor {
        typealias Model = SilentModel
        struct Configuration: Hashable, Sendable {}

        init(configuration: Configuration) {}

        func respond(
            to request: LanguageModelExecutorGenerationRequest, model: SilentModel,
            streamingInto channel: LanguageModelExecutorGenerationChannel
        ) async throws {}
    }
}
