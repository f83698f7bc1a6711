import Foundation
import FoundationModels
import FoundationModelsTesting
import Inference
import TestSupport
import fm

/// Runs commands in this process, with a scripted model and outputs that are kept.
struct CommandFixture {
    let folder = ScratchFolder()

    struct Outcome {
        var output: String
        var messages: String
        var code: ExitCode
    }

    /// Installs a file that passes for a model.
    func installModel(_ name: String = "sample") { folder.write(modelBytes(1000), "models/\(name).gguf") }

    /// Beside those that every test has.
    var variables: [String: String] = [:]

    var environment: [String: String] {
        ["HOME": folder.path, "FM_MODELS_DIR": "\(folder.path)/models", "FM_MODEL": "sample"]
            .merging(variables) { $1 }
    }

    func context(_ model: ScriptedLanguageModel) -> (Context, () -> (String, String)) {
        context { _ in model }
    }

    func context(
        _ makeModel: @escaping @Sendable (ChosenModel) -> any LanguageModel
    ) -> (Context, () -> (String, String)) {
        func file(_ name: String) -> Int32 { open("\(folder.path)/\(name)", O_RDWR | O_CREAT | O_TRUNC, 0o600) }
        let descriptors = (file("output"), file("messages"))
        let context = Context(
            environment: environment, output: Output(descriptor: descriptors.0, environment: [:]),
            messages: Output(descriptor: descriptors.1, environment: [:]), makeModel: makeModel)
        return (
            context,
            {
                close(descriptors.0)
                close(descriptors.1)
                func text(_ name: String) -> String { String(decoding: folder.read(name) ?? [], as: UTF8.self) }
                return (text("output"), text("messages"))
            }
        )
    }

    func run(_ words: [String], _ turns: [[ScriptedStep]] = []) async -> Outcome {
        let model = ScriptedLanguageModel(turns: turns)
        return await run(words) { _ in model }
    }

    func run(
        _ words: [String], makeModel: @escaping @Sendable (ChosenModel) -> any LanguageModel
    ) async -> Outcome {
        let (context, finish) = self.context(makeModel)
        var code = ExitCode.success
        var message = ""
        do {
            guard let (command, arguments) = try CommandTable.parse(words) else { fatalError("help") }
            try await command.run(arguments, context)
        } catch {
            let failure = Failure(error)
            code = failure.code
            message = failure.message
        }
        let (output, messages) = finish()
        return Outcome(output: output, messages: messages + message, code: code)
    }
}
