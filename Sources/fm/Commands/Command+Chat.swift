import Foundation
import FoundationModels
import Inference

extension Command {
    package static let chat = Command(
        name: "chat",
        summary: "Hold a conversation.",
        usage: ["[OPTION ...]"],
        options: [.anyModel, .instructions, .adapter, .tool, .reasoning, .context, .cacheType] + SamplingOptions.options
            + [
                .transcript,
                Option("--load", value: "FILE", help: "Go on with a conversation that /save has written."),
                Option("--stats", help: "Tell token counts and times after each answer."),
                .noPull,
            ],
        discussion: """
            Ctrl-C stops the answer, Ctrl-D or /quit ends the conversation. A line that ends with \\ goes on in
            the next one. In the conversation:

            \(Chat.helpText.dropLast())
            """
    ) { arguments, context in
        let options = try SamplingOptions.read(arguments)
        let reasoning = try ReasoningOption.read(arguments)
        let modelOptions = try ModelOptions(arguments)
        let tools = try ExecutableTool.all(arguments)
        try arguments.requireAtMostOne(of: "--load", "--transcript")
        let kept = try arguments["--transcript"].map(TranscriptFile.init)
        let transcript = try kept?.read() ?? arguments["--load"].map(TranscriptFile.read)
        let model = try await ModelChoice(context: context, arguments: arguments).findAny()
        var chat = Chat(
            context: try await modelOptions.apply(to: context, model), modelOptions: modelOptions, options: options,
            reasoning: reasoning, tools: tools,
            showsStatistics: arguments.has("--stats"), model: model, instructions: arguments["--instructions"],
            transcript: transcript, kept: kept)
        try await chat.run(LineEditor(historyPath: LineEditor.historyPath(environment: context.environment)))
    }
}

/// A conversation in the terminal.
package struct Chat {
    static let helpText = Command.table([
        ("/help", "Show these commands."), ("/save FILE", "Write the conversation to a file."),
        ("/load FILE", "Go on with a conversation from a file."),
        ("/model [NAME|PATH]", "Show the model, or go on with another one."),
        ("/clear", "Begin anew, with the same instructions."), ("/quit", "End."),
    ])

    private var context: Context
    private let modelOptions: ModelOptions
    private let options: GenerationOptions
    private let reasoning: ContextOptions
    private let tools: [any Tool]
    /// The file that each turn is written to.
    private let kept: TranscriptFile?
    private let showsStatistics: Bool
    private let instructions: String?
    private var model: ChosenModel
    private var session: LanguageModelSession

    package init(
        context: Context, modelOptions: ModelOptions = ModelOptions(), options: GenerationOptions,
        reasoning: ContextOptions = ContextOptions(), tools: [any Tool] = [], showsStatistics: Bool, model: ChosenModel,
        instructions: String?, transcript: Transcript? = nil, kept: TranscriptFile? = nil
    ) {
        self.context = context
        self.modelOptions = modelOptions
        self.options = options
        self.reasoning = reasoning
        self.tools = tools
        self.showsStatistics = showsStatistics
        self.model = model
        self.instructions = instructions
        self.kept = kept
        session =
            transcript.map { context.makeSession(model, tools: tools, transcript: $0) }
            ?? context.makeSession(model, tools: tools, instructions: instructions)
    }

    /// Answers line by line until the input ends.
    ///
    /// - Throws: What a signal that ends the program asks for, and when the conversation could not be written at the end.
    package mutating func run(_ lines: some InputLines) async throws {
        if context.messages.isTerminal {
            context.messages.line(context.messages.styled("\(model.name). /help shows the commands.", .dim))
        }
        var pending = ""
        while true {
            switch lines.read(prompt: pending.isEmpty ? "> " : ". ") {
            case .end:
                try kept?.write(session.transcript)
                return
            case .interrupted:
                if pending.isEmpty { context.messages.line("(/quit or Ctrl-D ends the conversation)") }
                pending = ""
            case .text(let line):
                if line.hasSuffix("\\") {
                    pending += line.dropLast() + "\n"
                    continue
                }
                let text = pending + line
                pending = ""
                guard !text.allSatisfy(\.isWhitespace) else { continue }
                if text.hasPrefix("/") {
                    guard await command(text) else {
                        try kept?.write(session.transcript)
                        return
                    }
                } else {
                    await answer(text)
                    do { try kept?.write(session.transcript) } catch { tell(error) }
                    if let ending = Interrupts.shared.ending { throw Failure(ending, "") }
                }
            }
        }
    }

    private func tell(_ error: any Error) {
        context.messages.failure(Failure(error).message)
    }

    /// Carries out a command; false ends the conversation. A failure is told and changes nothing.
    private mutating func command(_ text: String) async -> Bool {
        let words = text.split(separator: " ", maxSplits: 1).map(String.init)
        let operand = words.count > 1 ? words[1].trimmingCharacters(in: .whitespaces) : ""
        do {
            switch words[0] {
            case "/quit", "/exit", "/bye": return false
            case "/help": context.messages.write(Self.helpText)
            case "/clear":
                session = context.makeSession(model, tools: tools, instructions: instructions)
            case "/save":
                guard !operand.isEmpty else { throw UsageError("/save needs a file") }
                try (kept?.isFile(operand) == true ? kept : TranscriptFile(operand))?.write(session.transcript)
                context.messages.line("saved to \(operand)")
            case "/load":
                guard !operand.isEmpty else { throw UsageError("/load needs a file") }
                try load(operand)
                context.messages.line("\(session.transcript.count) entries from \(operand)")
            case "/model":
                if operand.isEmpty {
                    context.messages.line("\(model.name) (\(model.place))")
                } else {
                    let arguments = Arguments([.option("--model", value: operand)])
                    let other = try await ModelChoice(context: context, arguments: arguments).findAny()
                    context = try await modelOptions.apply(to: context, other)
                    model = other
                    session = context.makeSession(model, tools: tools, transcript: session.transcript)
                    context.messages.line("the conversation goes on with \(model.name)")
                }
            default:
                let commands = ["/help", "/save", "/load", "/model", "/clear", "/quit"]
                let nearest = EditDistance.nearest(to: words[0], among: commands)
                throw UsageError(
                    "there is no command \(words[0])"
                        + (nearest.map { ", did you mean \($0)?" } ?? "; /help lists them"))
            }
        } catch { tell(error) }
        return true
    }

    mutating func load(_ path: String) throws {
        session = context.makeSession(model, tools: tools, transcript: try TranscriptFile.read(path))
    }

    private func answer(_ prompt: String) async {
        do {
            let spinner = Spinner(context.messages, "thinking")
            defer { spinner.stop() }
            let answer = try await Interrupts.shared.cancelling { [session, options, reasoning, context] in
                try await Answer.text(session, Prompt(prompt), options, reasoning) { piece in
                    spinner.stop()
                    context.output.write(piece)
                }
            }
            if !answer.text.hasSuffix("\n") { context.output.write("\n") }
            if showsStatistics { context.messages.line(context.messages.styled(answer.statistics, .dim)) }
        } catch is CancellationError {
            if Interrupts.shared.ending != nil { return }
            context.output.write("\n")
            context.messages.line("(stopped)")
        } catch {
            tell(error)
            if Failure(error).code == .contextOverflow { context.messages.line("/clear begins anew.") }
        }
    }
}
