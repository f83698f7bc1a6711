import Foundation
import FoundationModels
import Inference

extension Command.Option {
    static let context = Command.Option(
        "--context", value: "TOKENS", help: "The most tokens of a conversation; what the model was trained for.")
    static let cacheType = Command.Option(
        "--cache-type", value: "f16|q8_0",
        help: "How the context is kept in memory; q8_0 takes about half. f16 unless said otherwise.")
    static let adapter = Command.Option(
        "--adapter", value: "PATH",
        help:
            "Change the model by LoRA weights: a .fmadapter, a folder that peft has saved, or a GGUF or safetensors file."
    )
}

extension Arguments {
    /// The value of `--cache-type`, else what the settings of the machine say.
    func cacheType(_ context: Context) throws -> CacheType {
        try cacheType() ?? ModelSettings(environment: context.environment).cacheType
    }

    fileprivate func cacheType() throws(UsageError) -> CacheType? {
        guard let name = self["--cache-type"] else { return nil }
        guard let type = CacheType(rawValue: name) else {
            throw UsageError("--cache-type takes \(CacheType.names), not '\(name)'")
        }
        return type
    }
}

/// How a model of this machine is to differ from its file: a shorter context, an adapter; and how its context is kept.
package struct ModelOptions: Sendable {
    private let contextSize: Int?
    private let cacheType: CacheType?
    private let adapter: AdapterWeights?

    package init() {
        contextSize = nil
        cacheType = nil
        adapter = nil
    }

    package init(_ arguments: Arguments) throws {
        contextSize = try arguments.integer("--context", in: 16...Int.max)
        cacheType = try arguments.cacheType()
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
        let given = [
            contextSize.map { _ in "--context" }, cacheType.map { _ in "--cache-type" },
            adapter.map { _ in "--adapter" },
        ].compactMap(\.self)
        // The engine would find it wrong too, with the prompt in its hands.
        if case .file = model, cacheType == nil { _ = try ModelSettings(environment: context.environment).cacheType }
        guard let first = given.first else { return context }
        guard case .file(let file) = model, context.makeModel(model) is SystemLanguageModel else {
            throw UsageError("\(first) is for models of this machine, which '\(model.name)' is not")
        }
        if let contextSize { try Self.check(contextSize, file) }
        _ = try await adapter?.adapter(for: file.url)
        var changed = context
        let makeModel = context.makeModel
        changed.makeModel = { [contextSize, cacheType, adapter] model in
            if case .file(let file) = model {
                SystemLanguageModel(
                    file: file.url, contextLimit: contextSize, cacheType: cacheType, adapter: adapter)
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
