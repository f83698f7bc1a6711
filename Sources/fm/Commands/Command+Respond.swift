import Foundation
import FoundationModels
import Inference

extension Command {
    package static let respond = Command(
        name: "respond",
        summary: "Answer one prompt.",
        usage: ["[OPTION ...] [PROMPT ...] [-]"],
        options: [
            .model, .instructions, .file,
            Option("--schema", value: "FILE", help: "Answer with JSON that follows the JSON Schema of a file."),
        ] + SamplingOptions.options + [
            Option("--json", help: "Write the answer, token counts and times as one JSON object."),
            Option("--stats", help: "Tell token counts and times on standard error at the end."),
            .noPull,
        ],
        operands: .any,
        discussion: """
            The prompt is made of the arguments, then of the files; '-' stands for standard input, which is
            also read when there is no other prompt. The answer is written as it comes.
            """
    ) { arguments, context in
        // Everything that can be wrong with the command line is found before a model is looked for.
        let options = try SamplingOptions.read(arguments)
        let schema = try arguments["--schema"].map(SchemaFile.read)
        let prompt = try PromptInput.read(arguments)
        let model = try await ModelChoice(context: context, arguments: arguments).find()
        let instructions = arguments["--instructions"]
        let asJSON = arguments.has("--json")
        let answer = try await Interrupts.shared.cancelling {
            let session = context.makeSession(model, instructions: instructions)
            if let schema { return try await Answer.json(session, prompt, schema, options) }
            var endsLine = true
            do {
                let answer = try await Answer.text(session, prompt, options) { piece in
                    guard !asJSON else { return }
                    context.output.write(piece)
                    endsLine = piece.hasSuffix("\n")
                }
                if !endsLine { context.output.write("\n") }
                return answer
            } catch {
                // What came before the failure stays on a line of its own.
                if !endsLine { context.output.write("\n") }
                throw error
            }
        }
        if asJSON {
            context.output.line(answer.json(model: model.name))
        } else if schema != nil {
            context.output.line(answer.text)
        }
        if arguments.has("--stats") { context.messages.line(answer.statistics) }
    }
}
