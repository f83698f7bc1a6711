import FoundationModels
import FoundationModelsTesting
import JSON
import Testing

/// The kit for providers: what it lets pass and what it finds.
@Suite struct ConformanceTests {
    /// Does all that a provider has to do.
    private static func answer(_ request: LanguageModelExecutorGenerationRequest) -> [ScriptedStep] {
        let usage = ScriptedStep.usage(input: 10, cached: 3, output: 4)
        if request.generationOptions.toolCallingMode == .required, let tool = request.enabledToolDefinitions.first {
            return [.toolCall(tool.name, arguments: #"{"city": "Oslo"}"#), usage]
        }
        if request.schema != nil {
            return [.text(#"{"city": "Oslo", "population": 700000, "size": "large"}"#), usage]
        }
        return ["one ", "two ", "three"].flatMap { [.text($0), .wait(.milliseconds(1))] } + [usage]
    }

    @Test func aGoodProviderPasses() async {
        let model = ScriptedLanguageModel { request, _ in Self.answer(request) }
        #expect(await checkLanguageModel(model).isEmpty)
        let system = SystemLanguageModel(
            backend: ScriptedBackend { generation, _ in
                if generation.choices != nil { return "none" }
                guard let schema = generation.schema else { return "hello" }
                // Calls are asked for as a list of arguments.
                if schema.publishedSchema["type"] == "array" { return #"[{"city":"Oslo"}]"# }
                return schema.debugDescription.contains("population")
                    ? #"{"city":"Oslo","population":700000,"size":"large"}"# : #"{"city":"Oslo"}"#
            })
        #expect(await checkLanguageModel(system).isEmpty)
    }

    @Test(arguments: ["text", "streaming", "guided generation", "tool calling"])
    func faultsAreFound(_ check: String) async {
        let model = ScriptedLanguageModel { request, _ in
            switch check {
            // No tokens are reported.
            case "text" where request.schema == nil && request.enabledToolDefinitions.isEmpty:
                [.text("hello", tokenCount: 0)]
            // What has been said is taken back.
            case "streaming":
                Self.answer(request) + [.event(.response(action: .replaceTextSegment("other", tokenCount: 1)))]
            case "guided generation" where request.schema != nil:
                [.text(#"{"city": "Oslo", "population": 700000, "size": "huge"}"#), .usage(input: 1, output: 1)]
            case "tool calling" where !request.enabledToolDefinitions.isEmpty:
                [.text("no"), .usage(input: 1, output: 1)]
            default: Self.answer(request)
            }
        }
        #expect(await checkLanguageModel(model).contains { $0.check == check })
    }

    @Test func aProviderThatHangsIsFound() async {
        let model = ScriptedLanguageModel { _, _ in [.waitForCancellation] }
        let violations = await checkLanguageModel(model, patience: .milliseconds(50))
        #expect(violations.contains { $0.check == "text" && $0.text.contains("longer") })
    }
}
