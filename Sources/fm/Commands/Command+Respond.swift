import Foundation
import FoundationModels
import Inference

extension Command {
    package static let respond = Command(
        name: "respond",
        summary: "Answer one prompt.",
        usage: ["[OPTION ...] [PROMPT ...] [-]"],
        options: [
            .anyModel, .instructions, .file,
            Option("--schema", value: "FILE", help: "Answer with JSON that follows the JSON Schema of a file."),
            .adapter, .tool, .image, .transcript, .reasoning, .context, .cacheType,
        ] + SamplingOptions.options + [
            Option("--json", help: "Write the answer, token counts and times as one JSON object."),
            Option("--stats", help: "Tell token counts and times on standard error at the end."),
            .noPull,
        ],
        operands: .any,
        discussion: """
            The prompt is made of the arguments, then of the files; '-' stands for standard input, which is
            also read when there is no other prompt. The answer is written as it comes. One under --schema
            is written when it is whole; what came of one that --max-tokens cuts off goes to standard error,
            or with --json into "unfinished_content", and the exit status is 10.

            A tool is a program that gets its arguments as one JSON object on standard input and writes what
            the model is to know to standard output; another exit status than 0 is a failure. PROGRAM.json says
            what it is: {"description": "Tells the weather.", "parameters": {a JSON Schema}, "name": "weather"}.
            """
    ) { arguments, context in
        // Everything that can be wrong with the command line is found before a model is looked for.
        let options = try SamplingOptions.read(arguments)
        let reasoning = try ReasoningOption.read(arguments)
        let modelOptions = try ModelOptions(arguments)
        let schema = try arguments["--schema"].map(SchemaFile.read)
        let tools = try ExecutableTool.all(arguments)
        let text = try PromptInput.read(arguments)
        let kept = try arguments["--transcript"].map(TranscriptFile.init)
        let transcript = try kept?.read()
        let instructions = arguments["--instructions"]
        if transcript != nil, instructions != nil {
            throw UsageError(
                "--instructions goes with a new conversation; '\(arguments["--transcript"] ?? "")' has its own")
        }
        let model = try await ModelChoice(context: context, arguments: arguments).findAny()
        let context = try await modelOptions.apply(to: context, model)
        let prompt = try RespondPrompt.prompt(text, images: arguments.values("--image"), model, context)
        let asJSON = arguments.has("--json")
        let spinner = Spinner(context.messages, "thinking")
        defer { spinner.stop() }
        let (answer, entries) = try await Interrupts.shared.cancelling {
            let session =
                transcript.map { context.makeSession(model, tools: tools, transcript: $0) }
                ?? context.makeSession(model, tools: tools, instructions: instructions)
            if let schema {
                do {
                    return (try await Answer.json(session, prompt, schema, options, reasoning), session.transcript)
                } catch let unfinished as UnfinishedAnswer {
                    spinner.stop()
                    if asJSON {
                        context.output.line(unfinished.answer.json(model: model.name, isUnfinished: true))
                    } else if !unfinished.answer.text.isEmpty {
                        // Half a value is no result, and nothing that came is lost.
                        context.messages.line(unfinished.answer.text)
                    }
                    throw unfinished
                }
            }
            var endsLine = true
            do {
                let answer = try await Answer.text(session, prompt, options, reasoning) { piece in
                    spinner.stop()
                    guard !asJSON else { return }
                    context.output.write(piece)
                    endsLine = piece.hasSuffix("\n")
                }
                if !endsLine { context.output.write("\n") }
                return (answer, session.transcript)
            } catch {
                spinner.stop()
                // What came before the failure stays on a line of its own.
                if !endsLine { context.output.write("\n") }
                throw error
            }
        }
        spinner.stop()
        if asJSON {
            context.output.line(answer.json(model: model.name))
        } else if schema != nil {
            context.output.line(answer.text)
        }
        if schema == nil, answer.text.isEmpty {
            context.messages.line("fm: the answer is empty: the model ended it at once.")
        }
        if arguments.has("--stats") { context.messages.line(answer.statistics) }
        try kept?.write(entries)
    }
}

/// The prompt of a command line.
enum RespondPrompt {
    static func prompt(
        _ text: String, images: [String], _ model: ChosenModel, _ context: Context
    ) throws -> Prompt {
        guard !images.isEmpty else { return Prompt(text) }
        guard context.makeModel(model).capabilities.contains(.vision) else {
            throw Failure(
                .unavailable, "the model '\(model.name)' reads text alone: --image needs a model that sees images")
        }
        for path in images where !FileManager.default.isReadableFile(atPath: path) {
            throw UsageError("cannot read '\(path)'")
        }
        return Prompt {
            text
            for path in images { Attachment(imageURL: URL(fileURLWithPath: path)) }
        }
    }
}
