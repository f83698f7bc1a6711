import FoundationModels
import Inference

extension Command {
    package static let tokenCount = Command(
        name: "token-count",
        summary: "Count the tokens of a text.",
        usage: ["[OPTION ...] [TEXT ...] [-]"],
        options: [
            .model, .file,
            Option("--schema", value: "FILE", help: "Count the tokens of a JSON Schema as a prompt has it."),
            .noPull,
        ],
        operands: .any,
        discussion: "The text is found as 'fm respond' finds its prompt."
    ) { arguments, context in
        let schema = try arguments["--schema"].map(SchemaFile.read)
        if schema != nil, !arguments.operands.isEmpty || arguments.has("--file") {
            throw UsageError("--schema is counted by itself: give a text or a schema")
        }
        let text = schema == nil ? try PromptInput.read(arguments) : ""
        let file = try await ModelChoice(context: context, arguments: arguments).find()
        let count = try await Interrupts.shared.cancelling {
            // Nothing is cached, whatever the settings say of it.
            let model = SystemLanguageModel(file: file.url, cacheType: .f16)
            if let schema { return try await model.tokenCount(for: schema) }
            return try await model.tokenCount(for: Prompt(text))
        }
        context.output.line("\(count)")
    }
}
