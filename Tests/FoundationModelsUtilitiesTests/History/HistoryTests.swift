import FoundationModels
import FoundationModelsTesting
import FoundationModelsUtilities
import TestSupport
import Testing

private struct Lookup: Tool {
    @Generable struct Arguments { var key: String }
    let name = "lookup"
    let description = "Looks a key up."
    func call(arguments: Arguments) async throws -> String { "value of \(arguments.key)" }
}

@Suite struct HistoryTests {
    /// Answers each prompt with a call of the tool first when the prompt says so.
    private static func model() -> ScriptedLanguageModel {
        ScriptedLanguageModel { request, index in
            if case .prompt(let prompt)? = request.transcript.last,
                prompt.segments.contains(where: { $0.text?.contains("look") == true })
            {
                return [.toolCall("lookup", arguments: "{\"key\": \"k\(index)\"}")]
            }
            return [.text("answer \(index)")]
        }
    }

    private static func seen(_ model: ScriptedLanguageModel) -> [[String]] {
        model.requests.map { $0.transcript.history.short }
    }

    @Test func aRollingWindowKeepsTheLastEntries() async throws {
        let model = Self.model()
        let session = LanguageModelSession(
            profile: LanguageModelSession.Profile { Instructions("Be brief.") }.rollingWindow(entries: 2).model(model))
        for text in ["a", "b", "c"] { try await session.respond(to: text) }
        #expect(Self.seen(model) == [["p:a"], ["r:answer 0", "p:b"], ["r:answer 1", "p:c"]])
        #expect(session.transcript.short == ["i:Be brief.", "r:answer 1", "p:c", "r:answer 2"])
    }

    @Test(arguments: [0, -3, 1])
    func aRollingWindowKeepsThePrompt(entries: Int) async throws {
        let model = Self.model()
        let session = LanguageModelSession(
            profile: LanguageModelSession.Profile { Instructions("Be brief.") }
                .rollingWindow(size: .entries(entries)).model(model))
        for text in ["a", "b"] { try await session.respond(to: text) }
        #expect(Self.seen(model) == [["p:a"], ["p:b"]])
    }

    @Test func aWindowOfWholeTurnsOrphansNothingAndForgetsNothing() async throws {
        let model = Self.model()
        let session = LanguageModelSession(
            profile: LanguageModelSession.Profile {
                Instructions("Be brief.")
                Lookup()
            }.rollingWindow(wholeTurns: 2).model(model))
        for text in ["look 1", "b", "look 2"] { try await session.respond(to: text) }
        let last = Self.seen(model)
        #expect(
            last == [
                ["p:look 1"], ["p:look 1", "c:lookup", "o:value of k0"],
                ["p:look 1", "c:lookup", "o:value of k0", "r:answer 1", "p:b"], ["p:b", "r:answer 2", "p:look 2"],
                ["p:b", "r:answer 2", "p:look 2", "c:lookup", "o:value of k3"],
            ])
        #expect(session.transcript.count == 11)
    }

    @Test func completedToolCallsAreDropped() async throws {
        let model = Self.model()
        let session = LanguageModelSession(
            profile: LanguageModelSession.Profile {
                Instructions("Be brief.")
                Lookup()
            }.droppingCompletedToolCalls().model(model))
        for text in ["look 1", "look 2"] { try await session.respond(to: text) }
        #expect(
            Self.seen(model) == [
                ["p:look 1"], ["p:look 1", "c:lookup", "o:value of k0"], ["p:look 1", "r:answer 1", "p:look 2"],
                ["p:look 1", "r:answer 1", "p:look 2", "c:lookup", "o:value of k2"],
            ])
    }

    @Test func aLongHistoryIsSummedUp() async throws {
        let model = Self.model()
        let writer = ScriptedLanguageModel(alwaysAnswering: "They said a and b.")
        let session = LanguageModelSession(
            profile: LanguageModelSession.Profile {
                Instructions("Be brief.")
                Lookup()
            }.summarizeHistory(entryThreshold: 4, model: writer, summaryPostamble: "Go on.").model(model))
        for text in ["a", "b"] { try await session.respond(to: text) }
        #expect(writer.requests.isEmpty, "four entries are not more than four")
        try await session.respond(to: "look", options: GenerationOptions(temperature: 0.5))
        #expect(writer.requests.count == 1, "a round of tool calls is not summed up again")
        #expect(
            writer.requests.first?.transcript.history.short == [
                """
                p:Summarize this conversation:

                User: a
                Assistant: answer 0
                User: b
                Assistant: answer 1
                User: look
                """
            ])
        #expect(
            session.transcript.short == [
                "i:Be brief.", "p:Summary of the conversation so far:\nThey said a and b.\n\nGo on.\n\n|look",
                "c:lookup",
                "o:value of k2", "r:answer 3",
            ])
        guard case .prompt(let prompt) = session.transcript[1] else {
            Issue.record("no prompt")
            return
        }
        #expect(prompt.options.temperature == 0.5)
    }

    @Test func aFailingSummaryFailsTheRequest() async throws {
        struct Fault: Error {}
        let writer = ScriptedLanguageModel { _, _ in [.fail(Fault())] }
        let session = LanguageModelSession(
            profile: LanguageModelSession.Profile { Instructions("Be brief.") }
                .summarizeHistory(entryThreshold: 0, model: writer).model(Self.model()))
        await #expect(throws: Fault.self) { try await session.respond(to: "a") }
        #expect(session.transcript.history.isEmpty)
    }

    @Test func theOtherModelIsUsedWhenTheFirstCannotBe() async throws {
        let isUsable = Flag()
        let local = ScriptedLanguageModel(alwaysAnswering: "local")
        let remote = ScriptedLanguageModel(alwaysAnswering: "remote")
        let session = LanguageModelSession(
            profile: FallbackProfile(local, or: remote, when: { isUsable.isSet }) { Instructions("Be brief.") })
        #expect(try await session.respond(to: "a").content == "remote")
        isUsable.set()
        #expect(try await session.respond(to: "b").content == "local")
        #expect(local.requests.first?.transcript.short == ["i:Be brief.", "p:a", "r:remote", "p:b"])
    }
}
