import Foundation
import FoundationModels
import FoundationModelsTesting
import Testing

@Suite struct ContextTests {
    private static let overflow = LanguageModelError.contextSizeExceeded(
        .init(contextSize: 4096, tokenCount: 168_918, debugDescription: "Content contains 168918 tokens."))

    @Test func C2_overflowLeavesTheSessionAsItWas() async throws {
        let model = ScriptedLanguageModel(turns: [
            [.text("Hi.")], [.text("par"), .fail(Self.overflow)], [.text("Yes.")],
        ])
        let session = LanguageModelSession(model: model, instructions: "Be brief.")
        try await session.respond(to: "Hello")
        let before = session.transcript
        await #expect(throws: LanguageModelError.self) { try await session.respond(to: "Long") }
        #expect(session.transcript == before)
        #expect(try await session.respond(to: "Short").content == "Yes.")
        #expect(model.requests[2].transcript.kinds == ["instructions", "prompt", "response", "prompt"])
    }

    @Test func preservePolicyKeepsThePromptAndWhatHasCome() async throws {
        let model = ScriptedLanguageModel(turns: [[.text("par"), .fail(Self.overflow)]])
        let session = LanguageModelSession(model: model)
        #expect(session.transcriptErrorHandlingPolicy == nil)
        session.transcriptErrorHandlingPolicy = .preserveTranscript
        await #expect(throws: LanguageModelError.self) { try await session.respond(to: "Long") }
        #expect(session.transcript.kinds == ["prompt", "response"])
        #expect(session.transcript[1].text == "par")
    }

    @Test func C6_aProfileCanShowASmallerModelLess() async throws {
        // The small model reads at most three entries and says so.
        let small = ScriptedLanguageModel { request, _ in
            if request.transcript.history.count > 3 { throw Self.overflow }
            return [.text("small")]
        }
        let large = ScriptedLanguageModel(alwaysAnswering: "large")
        let session = LanguageModelSession(profile: SwitchingProfile(small: small, large: large))
        for _ in 0..<3 { try await session.respond(to: "Hi") }
        session.properties.usesSmallModel = true
        await #expect(throws: LanguageModelError.self) { try await session.respond(to: "Hi") }
        session.properties.trimsHistory = true
        #expect(try await session.respond(to: "Hi").content == "small")
        // The transcript itself is whole.
        #expect(session.transcript.history.count == 8)
    }

    @Test func C8_transformsNeverDoubleThePrompt() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(
            profile: LanguageModelSession.Profile { Instructions("Be brief.") }
                .model(model)
                .historyTransform { Array($0.suffix(1)) })
        try await session.respond(to: "First")
        try await session.respond(to: "Second")
        #expect(model.requests[1].transcript.kinds == ["instructions", "prompt"])
        #expect(model.requests[1].transcript[1].text == "Second")
    }

    @Test func P6_compactionByANewSessionAndInPlace() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let first = LanguageModelSession(model: model, instructions: "Be brief.")
        for word in ["one", "two", "three"] { try await first.respond(to: word) }
        // 26: a new session from the entries that count.
        let second = LanguageModelSession(
            model: model, transcript: Transcript(entries: [first.transcript[0]] + first.transcript.suffix(2)))
        try await second.respond(to: "four")
        #expect(model.requests.last?.transcript.kinds == ["instructions", "prompt", "response", "prompt"])
        // 27: the history of the same session.
        first.transcript.history = first.transcript.history.suffix(2)
        try await first.respond(to: "five")
        #expect(first.transcript.kinds == ["instructions", "prompt", "response", "prompt", "response"])
        #expect(model.requests.last?.transcript.kinds == ["instructions", "prompt", "response", "prompt"])
    }
}

extension SessionPropertyValues {
    @SessionPropertyEntry var usesSmallModel: Bool = false
    @SessionPropertyEntry var trimsHistory: Bool = false
}

private struct SwitchingProfile: LanguageModelSession.DynamicProfile {
    let small: ScriptedLanguageModel
    let large: ScriptedLanguageModel
    @SessionProperty(\.usesSmallModel) var usesSmallModel
    @SessionProperty(\.trimsHistory) var trimsHistory

    var body: some DynamicProfile {
        if usesSmallModel {
            if trimsHistory {
                Profile { Instructions("Small.") }.model(small).historyTransform { Array($0.suffix(3)) }
            } else {
                Profile { Instructions("Small.") }.model(small)
            }
        } else {
            Profile { Instructions("Large.") }.model(large)
        }
    }
}
