import Foundation
import FoundationModels
import Inference

extension Command.Option {
    static let model = Command.Option(
        "--model", "-m", value: "NAME|PATH", help: "The model, by its name or the path of a GGUF file.")
    static let anyModel = Command.Option(
        "--model", "-m", value: "NAME|PATH",
        help: "The model, by its name or the path of a GGUF file; pcc: the server of Private Cloud Compute.")
    static let noPull = Command.Option(
        "--no-pull", help: "Fail when the model is not here, instead of fetching it.")
}

/// Finds the model that a command line asks for, fetching it when it is not here.
struct ModelChoice {
    let context: Context
    let arguments: Arguments

    /// For commands to which a server will do as well. A model file of its name goes before it.
    func findAny() async throws -> ChosenModel {
        if arguments["--model"] == ChosenModel.privateCloudName,
            try ModelStore(environment: context.environment).installedModel(ChosenModel.privateCloudName) == nil
        {
            return .privateCloud
        }
        return .file(try await find())
    }

    func find() async throws -> ModelStore.Model {
        let store = try ModelStore(environment: context.environment)
        guard store.settings.isEnabled else { throw switchedOff() }
        if let name = arguments["--model"] { return try await find(name, in: store) }
        switch try store.defaultModel() {
        case .ready(let model): return model
        case .notDownloaded(let name): return try await fetch(name, from: store)
        case .switchedOff: throw switchedOff()
        case .tooLittleMemory(let needed, let available):
            throw Failure(
                .unavailable,
                "this machine has \(ByteText.size(available)) of memory, and the smallest model needs "
                    + "\(ByteText.size(needed)). '--model' uses one in spite of that.")
        }
    }

    /// The model that another option than `--model` names.
    func find(_ name: String) async throws -> ModelStore.Model {
        let store = try ModelStore(environment: context.environment)
        guard store.settings.isEnabled else { throw switchedOff() }
        return try await find(name, in: store)
    }

    private func find(_ name: String, in store: ModelStore) async throws -> ModelStore.Model {
        do throws(ModelStoreError) { return try store.resolve(name) } catch {
            guard case .notInstalled(let name) = error else { throw error }
            return try await fetch(name, from: store)
        }
    }

    private func switchedOff() -> Failure {
        let path = ModelSettings.configurationPath(environment: context.environment)
        return Failure(.unavailable, "models are switched off: \"enabled\" is false in \(path).")
    }

    private func fetch(_ name: String, from store: ModelStore) async throws -> ModelStore.Model {
        if arguments.has("--no-pull") { throw ModelStoreError.notInstalled(name) }
        let size = store.catalogue[name].map { " (\(ByteText.size($0.size)))" } ?? ""
        context.messages.line("fm: fetching the model '\(name)'\(size), once")
        return try await store.pullShowingProgress(name, isQuiet: false, context).model
    }
}
