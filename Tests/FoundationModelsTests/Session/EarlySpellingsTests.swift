import Foundation
import FoundationModels
import FoundationModelsTesting
import Testing

/// What programs of the first articles say compiles and does the obvious thing.
@Suite struct EarlySpellingsTests {
    private static let recipe = #"{"name": "Bread", "steps": ["Mix."], "minutes": 90}"#

    @Test func aResponseStandsForItsContent() async throws {
        let session = LanguageModelSession(model: ScriptedLanguageModel(alwaysAnswering: Self.recipe))
        let review = try await session.respond(to: "Hi", generating: Recipe.self)
        #expect(review.name == "Bread")
        #expect(review.minutes == 90)
    }

    @Test(arguments: [(3, "length"), (100, "complete")])
    func finishReasons(_ maximum: Int, _ reason: String) async throws {
        let session = LanguageModelSession(
            model: ScriptedLanguageModel(turns: [[.text("a b c"), .usage(input: 5, output: 3)]]))
        let response = try await session.respond(
            to: "Hi", options: GenerationOptions(maximumResponseTokens: maximum))
        switch response.finishReason {
        case .complete: #expect(reason == "complete")
        case .length: #expect(reason == "length")
        case .stop: Issue.record("never")
        }
    }

    @available(*, deprecated)
    @Test func usageByItsEarlyNames() async throws {
        let session = LanguageModelSession(
            model: ScriptedLanguageModel { _, index in [.text("a"), .usage(input: 10 + index, output: 2)] })
        let usage = try await session.respond(to: "Hi").usage
        #expect(usage.promptTokens == 10 && usage.completionTokens == 2 && usage.totalTokens == 12)
        #expect(session.transcriptTokenCount == 12)
        try await session.respond(to: "Hi")
        #expect(session.transcriptTokenCount == 13)
    }

    @available(*, deprecated)
    @Test func snapshotsHaveText() async throws {
        let session = LanguageModelSession(model: ScriptedLanguageModel(alwaysAnswering: "ok"))
        for try await partial in session.streamResponse(to: "Hi") { #expect(partial.text == "ok") }
    }

    @available(*, deprecated)
    @Test func errorsByTheirEarlyNames() async throws {
        let model = ScriptedLanguageModel { _, index in
            let faults: [any Error] = [
                LanguageModelError.contextSizeExceeded(.init(contextSize: 1, tokenCount: 2, debugDescription: "")),
                LanguageModelError.unsupportedLanguageOrLocale(
                    .init(languageCode: .init("am"), debugDescription: "")),
                Fault(),
            ]
            return [.fail(faults[index])]
        }
        let session = LanguageModelSession(model: model)
        var caught: [String] = []
        for _ in 0..<3 {
            do {
                try await session.respond(to: "Hi")
            } catch LanguageModelError.contextWindowExceeded {
                caught.append("context")
            } catch LanguageModelError.unsupportedLanguage {
                caught.append("language")
            } catch {
                caught.append("other")
            }
        }
        #expect(caught == ["context", "language", "other"])
    }

    @available(*, deprecated)
    @Test func optionsSayWhetherTheSchemaIsShown() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: Self.recipe)
        let session = LanguageModelSession(model: model)
        try await session.respond(
            to: "Hi", generating: Recipe.self, options: GenerationOptions(includeSchemaInPrompt: false))
        #expect(model.requests[0].contextOptions.includeSchemaInPrompt == false)
        #expect(model.requests[0].generationOptions == GenerationOptions())
        let options = GenerationOptions(sampling: .greedy)
        #expect(options == GenerationOptions(samplingMode: .greedy))
    }

    @Test func toolOutputsNameTheirSources() async throws {
        let model = ScriptedLanguageModel(turns: [[.toolCall("lookUp", arguments: "{}")], [.text("ok")]])
        let session = LanguageModelSession(model: model, tools: [LookUpTool()])
        try await session.respond(to: "Hi")
        let output = try #require(session.transcript.first { $0.kind == "toolOutput" })
        #expect(output.text.contains("12 degrees"))
        #expect(output.text.contains("Source: Weather Service <https://weather.example/oslo>"))
    }
}

private struct LookUpTool: Tool {
    let name = "lookUp"
    let description = "Looks something up."

    @Generable
    struct Arguments {}

    func call(arguments: Arguments) async throws -> ToolOutput {
        ToolOutput(
            "12 degrees",
            source: ToolOutput.Source(name: "Weather Service", url: URL(string: "https://weather.example/oslo")))
    }
}
