import Foundation
import FoundationModels
import Inference

extension Command.Option {
    static let context = Command.Option(
        "--context", value: "TOKENS", help: "The most tokens of a conversation; what the model was trained for.")
    static let adapter = Command.Option(
        "--adapter", value: "PATH",
        help:
            "Change the model by LoRA weights: a .fmadapter, a folder that peft has saved, or a GGUF or safetensors file."
    )
}

/// How a model of this machine is to differ from its file: a shorter context, an adapter.
package struct ModelOptions: Sendable {
    private let contextSize: Int?
    private let adapter: AdapterWeights?

    package init() {
        contextSize = nil
        adapter = nil
    }

    package init(_ arguments: Arguments) throws {
        contextSize = try arguments.integer("--context", in: 16...Int.max)
        adapter = try Self.adapter(arguments)
    }

    /// The adapter of a command line, of which the headers have been read.
    static func adapter(_ arguments: Arguments) throws -> AdapterWeights? {
        guard let path = arguments["--adapter"] else { return nil }
        let expanded = (path as NSString).expandingTildeInPath
        guard FileManager.default.fileExists(atPath: expanded) else {
            throw UsageError("there is no adapter '\(path)' for --adapter")
        }
        return try AdapterWeights(path: URL(fileURLWithPath: expanded))
    }

    /// The same world with models that differ so, or an error when this one cannot.
    package func apply(to context: Context, _ model: ChosenModel) async throws -> Context {
        guard contextSize != nil || adapter != nil else { return context }
        guard case .file(let file) = model, context.makeModel(model) is SystemLanguageModel else {
            throw contextSize != nil
                ? UsageError("--context is for models of this machine; '\(model.name)' has its own")
                : UsageError("--adapter is for models of this machine, which '\(model.name)' is not")
        }
        if let contextSize { try Self.check(contextSize, file) }
        _ = try await adapter?.adapter(for: file.url)
        var changed = context
        let makeModel = context.makeModel
        changed.makeModel = { [contextSize, adapter] model in
            if case .file(let file) = model {
                SystemLanguageModel(file: file.url, contextLimit: contextSize, adapter: adapter)
            } else {
                makeModel(model)
            }
        }
        return changed
    }

    private static func check(_ contextSize: Int, _ file: ModelStore.Model) throws {
        do throws(InferenceError) {
            _ = try Engine.contextSize(of: file.url, options: EngineOptions(contextSize: contextSize))
        } catch {
            guard case .invalidOption(_, let reason) = error else {
                throw Failure(.unavailable, "the model \(file.path) cannot be loaded: \(error)")
            }
            throw UsageError("--context is wrong: \(reason)")
        }
    }
}
