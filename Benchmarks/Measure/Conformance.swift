import Foundation
import FoundationModels
import FoundationModelsTesting
import FoundationModelsUtilities

/// `measure conformance scripted`, `measure conformance system FILE`, `measure conformance chat URL MODEL [plain]`: runs the checks that
/// a provider's author runs, and prints what was wrong as a JSON list of texts. Of a `plain` server no usage is asked and no schema.
func measureConformance(_ arguments: [String]) async throws {
    let violations: [LanguageModelViolation]
    switch (arguments.first, arguments.count) {
    case ("scripted", 1): violations = await checkLanguageModel(wellBehavedModel())
    case ("system", 2):
        violations = await checkLanguageModel(SystemLanguageModel(file: URL(fileURLWithPath: arguments[1])))
    case ("chat", 3), ("chat", 4):
        let isPlain = arguments.last == "plain"
        guard let url = URL(string: arguments[1]), isPlain == (arguments.count == 4) else {
            throw MeasureError.usage("conformance chat URL MODEL [plain]")
        }
        violations = await checkLanguageModel(
            ChatCompletionsLanguageModel(name: arguments[2], url: url, supportsGuidedGeneration: !isPlain),
            reportsUsage: !isPlain)
    default: throw MeasureError.usage("conformance scripted | system FILE | chat URL MODEL [plain]")
    }
    print(String(decoding: try JSONEncoder().encode(violations.map(\.description)), as: UTF8.self))
}

/// A model that does by a script what the checks ask for.
private func wellBehavedModel() -> ScriptedLanguageModel {
    ScriptedLanguageModel { request, _ in
        let prompt = request.transcript.last?.segments.compactMap(\.text).joined() ?? ""
        if request.generationOptions.toolCallingMode?.kind == .required, let tool = request.enabledToolDefinitions.first
        {
            return [.toolCall(tool.name, arguments: #"{"city": "Oslo"}"#)]
        }
        if request.schema != nil {
            return [.text(#"{"city": "Oslo", "population": 700000, "size": "large"}"#), .usage(input: 9, output: 9)]
        }
        if prompt.contains("thousand") { return [.text("one"), .wait(.seconds(30)), .text(" two")] }
        return [.text("One, two, "), .text("three."), .usage(input: 9, cached: 3, output: 4)]
    }
}
