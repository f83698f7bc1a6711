import Foundation
import Inference

extension Command {
    package static let pull = Command(
        name: "pull",
        summary: "Fetch a model onto this machine.",
        usage: ["NAME", "URL|hf:OWNER/REPOSITORY/FILE.gguf[@REVISION]|PATH [--name NAME] [--sha256 HEX]"],
        options: [
            Option("--name", value: "NAME", help: "The name to give a model that is not in the catalogue."),
            Option("--sha256", value: "HEX", help: "The hash that the file must have."),
            Option("--quiet", "-q", help: "Show no progress."),
        ],
        operands: .one("a model's name, address or path"),
        discussion: """
            A fetch that was interrupted goes on where it was when the same command is run again.
            HF_TOKEN is sent to the model hub, HF_ENDPOINT is its address when it is another one.
            """
    ) { arguments, context in
        let store = try ModelStore(environment: context.environment)
        let reference = arguments.operands[0]
        let quiet = arguments.has("--quiet")
        let result = try await store.pullShowingProgress(
            reference, name: arguments["--name"], sha256: arguments["--sha256"], isQuiet: quiet, context)
        if !quiet {
            context.messages.line(
                result.isNew
                    ? "\(result.model.name): \(ByteText.size(result.model.size)) at \(result.model.path)"
                    : "\(result.model.name) is here already, at \(result.model.path)")
            if let sha256 = result.sha256 { context.messages.line("sha256 \(sha256)") }
        }
    }

    package static let remove = Command(
        name: "rm",
        summary: "Remove a model from this machine.",
        usage: ["NAME"],
        operands: .one("a model's name")
    ) { arguments, context in
        let store = try ModelStore(environment: context.environment)
        let freed = try store.remove(arguments.operands[0])
        context.messages.line("removed \(arguments.operands[0]), \(ByteText.size(freed)) freed")
    }
}

extension ModelStore {
    /// Fetches with progress on standard error; Ctrl-C stops it and keeps what has come.
    package func pullShowingProgress(
        _ reference: String, name: String? = nil, sha256: String? = nil, isQuiet: Bool, _ context: Context
    ) async throws -> PullResult {
        let suggested = try ModelSource(reference: reference)?.suggestedName
        let label = catalogue[reference]?.name ?? name ?? suggested ?? reference
        let reporter = PullReporter(name: label, output: context.messages, isQuiet: isQuiet)
        defer { reporter.finish() }
        return try await Interrupts.shared.cancelling {
            try await pull(reference, name: name, sha256: sha256, onProgress: reporter.report)
        }
    }
}
