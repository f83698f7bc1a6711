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

    @Test func C7_aWindowOfWholeTurnsOrphansNothingAndForgetsNothing() async throws {
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

    /// Entries without what they answer: a response, thoughts or calls before any prompt, an output whose call is not there.
    private static func orphans(_ transcript: Transcript) -> [String] {
        var hasPrompt = false
        var calls: Set<String> = []
        var orphans: [String] = []
        for entry in transcript {
            switch entry {
            case .instructions: continue
            case .prompt: hasPrompt = true
            case .toolCalls(let round):
                calls.formUnion(round.map(\.id))
                if !hasPrompt { orphans.append("calls") }
            case .toolOutput(let output): if !calls.contains(output.id) { orphans.append("output \(output.id)") }
            case .response, .reasoning: if !hasPrompt { orphans.append("response") }
            }
        }
        return orphans
    }

    @Test(arguments: [Int.min, 0, 1, 2, 3, 7, Int.max])
    func C7_windowsOfWholeTurnsOrphanNothingInLongTalks(turns: Int) async throws {
        let model = Self.model()
        let session = LanguageModelSession(
            profile: LanguageModelSession.Profile {
                Instructions("Be brief.")
                Lookup()
            }.rollingWindow(wholeTurns: turns).model(model))
        let prompts = ["look 0", "look 1", "b", "c", "look 4", "d", "look 6", "look 7"]
        for text in prompts { try await session.respond(to: text) }
        for (index, request) in model.requests.enumerated() {
            #expect(Self.orphans(request.transcript) == [], "request \(index)")
            let shown = request.transcript.history.short.filter { $0.hasPrefix("p:") }
            let asked = model.requests[index].transcript.history.short.last { $0.hasPrefix("p:") }
            let number = prompts.firstIndex(of: String(asked?.dropFirst(2) ?? "")) ?? -1
            #expect(shown.count == min(number + 1, max(1, turns)), "request \(index)")
        }
        // The transcript keeps what the model does not see.
        #expect(session.transcript.history.short.filter { $0.hasPrefix("p:") }.count == prompts.count)
    }

    @Test func C7_aHistoryIsSummedUpInTheTurnAfterOneWithTools() async throws {
        let model = Self.model()
        let writer = ScriptedLanguageModel(alwaysAnswering: "They asked.")
        let session = LanguageModelSession(
            profile: LanguageModelSession.Profile { Lookup() }
                .summarizeHistory(entryThreshold: 3, model: writer, summaryPostamble: "").model(model))
        try await session.respond(to: "look 1")
        #expect(writer.requests.isEmpty)
        try await session.respond(to: "look 2")
        #expect(writer.requests.count == 1)
        try await session.respond(to: "b")
        #expect(writer.requests.count == 2)
        #expect(
            session.transcript.history.short == [
                "p:Summary of the conversation so far:\nThey asked.\n\n|b", "r:answer 4",
            ])
    }

    @Test(arguments: [true, false])
    func C7_modifiersWorkTogetherAndInEachOrder(isModelFirst: Bool) async throws {
        let model = Self.model()
        let writer = ScriptedLanguageModel(alwaysAnswering: "They said a.")
        let plain = LanguageModelSession.Profile {
            Instructions("Be brief.")
            Lookup()
        }
        let session =
            isModelFirst
            ? LanguageModelSession(
                profile: plain.model(model).summarizeHistory(entryThreshold: 6, model: writer, summaryPostamble: "")
                    .droppingCompletedToolCalls().rollingWindow(wholeTurns: 2))
            : LanguageModelSession(
                profile: plain.rollingWindow(wholeTurns: 2).droppingCompletedToolCalls()
                    .summarizeHistory(entryThreshold: 6, model: writer, summaryPostamble: "").model(model))
        for text in ["look 1", "b", "c", "d"] { try await session.respond(to: text) }
        // Calls that are done with were dropped; the history of the fourth prompt was long enough to be summed up.
        let seen = Self.seen(model)
        #expect(seen[2] == ["p:look 1", "r:answer 1", "p:b"])
        #expect(seen[3] == ["p:b", "r:answer 2", "p:c"])
        #expect(seen[4] == ["p:Summary of the conversation so far:\nThey said a.\n\n|d"])
        #expect(writer.requests.count == 1)
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
