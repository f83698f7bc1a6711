import Foundation
import FoundationModels
import Inference

extension Command {
    package static let chat = Command(
        name: "chat",
        summary: "Hold a conversation.",
        usage: ["[OPTION ...]"],
        options: [.model, .instructions] + SamplingOptions.options + [
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
        let model = try await ModelChoice(context: context, arguments: arguments).find()
        var chat = Chat(
            context: context, options: options, showsStatistics: arguments.has("--stats"), model: model,
            instructions: arguments["--instructions"])
        if let path = arguments["--load"] { try chat.load(path) }
        await chat.run(LineEditor(historyPath: LineEditor.historyPath(environment: context.environment)))
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

    private let context: Context
    private let options: GenerationOptions
    private let showsStatistics: Bool
    private let instructions: String?
    private var model: ModelStore.Model
    private var session: LanguageModelSession

    package init(
        context: Context, options: GenerationOptions, showsStatistics: Bool, model: ModelStore.Model,
        instructions: String?
    ) {
        self.context = context
        self.options = options
        self.showsStatistics = showsStatistics
        self.model = model
        self.instructions = instructions
        session = context.makeSession(model, instructions: instructions)
    }

    /// Answers line by line until the input ends.
    package mutating func run(_ lines: some InputLines) async {
        if context.messages.isTerminal {
            context.messages.line(context.messages.styled("\(model.name). /help shows the commands.", .dim))
        }
        var pending = ""
        while true {
            switch lines.read(prompt: pending.isEmpty ? "> " : ". ") {
            case .end: return
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
                    guard await command(text) else { return }
                } else {
                    await answer(text)
                }
            }
        }
    }

    private func tell(_ error: any Error) {
        context.messages.line(context.messages.styled("fm:", .red) + " \(Failure(error).message)")
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
                session = context.makeSession(model, instructions: instructions)
            case "/save":
                guard !operand.isEmpty else { throw UsageError("/save needs a file") }
                try save(operand)
                context.messages.line("saved to \(operand)")
            case "/load":
                guard !operand.isEmpty else { throw UsageError("/load needs a file") }
                try load(operand)
                context.messages.line("\(session.transcript.count) entries from \(operand)")
            case "/model":
                if operand.isEmpty {
                    context.messages.line("\(model.name) (\(model.path))")
                } else {
                    let arguments = Arguments([.option("--model", value: operand)])
                    model = try await ModelChoice(context: context, arguments: arguments).find()
                    session = context.makeSession(model, transcript: session.transcript)
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

    private func save(_ path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(session.transcript), as: UTF8.self)
        do throws(ModelStoreError) {
            try AtomicFile.write(text + "\n", to: (path as NSString).expandingTildeInPath)
        } catch .cannotWrite(let path, let reason) {
            throw Failure(.storage, "cannot write '\(path)': \(reason)")
        }
    }

    mutating func load(_ path: String) throws {
        let text = try PromptInput.text(ofFile: (path as NSString).expandingTildeInPath)
        let transcript: Transcript
        do { transcript = try JSONDecoder().decode(Transcript.self, from: Data(text.utf8)) } catch {
            throw Failure(.usage, "'\(path)' is no saved conversation: \(Self.explanation(error))")
        }
        session = context.makeSession(model, transcript: transcript)
    }

    private static func explanation(_ error: any Error) -> String {
        switch error {
        case DecodingError.dataCorrupted(let context), DecodingError.keyNotFound(_, let context),
            DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
            return path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)"
        default: return "\(error)"
        }
    }

    private func answer(_ prompt: String) async {
        do {
            let answer = try await Interrupts.shared.cancelling { [session, options, context] in
                try await Answer.text(session, prompt, options) { piece in context.output.write(piece) }
            }
            if !answer.text.hasSuffix("\n") { context.output.write("\n") }
            if showsStatistics { context.messages.line(context.messages.styled(answer.statistics, .dim)) }
        } catch is CancellationError {
            context.output.write("\n")
            context.messages.line("(stopped)")
        } catch {
            tell(error)
            if Failure(error).code == .contextOverflow { context.messages.line("/clear begins anew.") }
        }
    }
}
