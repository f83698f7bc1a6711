import Foundation
import Inference
import Synchronization

/// The weights of an adapter. They are read once for a model file, however many sessions use them.
package final class AdapterWeights: Sendable {
    let description: AdapterDescription
    private let file: AdapterFile
    /// For the model file of the last request; the user may choose another while the program runs.
    private let loaded = Mutex<(path: String, task: Task<Adapter, any Swift.Error>)?>(nil)

    typealias AssetError = SystemLanguageModel.Adapter.AssetError

    /// Reads what the files say of themselves.
    init(_ description: AdapterDescription) throws {
        self.description = description
        do throws(AdapterError) {
            file = try AdapterFile(description.weightsFile)
        } catch {
            throw Self.invalid(description, "\(error)")
        }
        if let rank = description.rank, file.rank != rank {
            throw Self.invalid(
                description, "metadata.json says a loraRank of \(rank), the greatest of the weights is \(file.rank)")
        }
    }

    /// - Parameter path: A directory `.fmadapter`, one that `peft` has saved, or a file of weights, of which nothing says which
    ///   base it is for: then its tensors have to fit.
    /// - Throws: `AssetError.invalidAsset`.
    package convenience init(path: URL) throws { try self.init(AdapterDescription(path: path)) }

    private static func invalid(_ description: AdapterDescription, _ reason: String) -> AssetError {
        .invalidAsset(.init(debugDescription: "\(description.location.path): \(reason)."))
    }

    /// The adapter for a model, in memory, checked against the model's file.
    /// - Throws: `AssetError`.
    package func adapter(for model: URL) async throws -> Adapter {
        let task = loaded.withLock { loaded in
            if let loaded, loaded.path == model.path { return loaded.task }
            let task = Task.detached { [description, file] in try await Self.load(description, file, for: model) }
            loaded = (model.path, task)
            return task
        }
        do {
            return try await task.value
        } catch {
            // Tried again when it is asked for again.
            loaded.withLock { if $0?.task == task { $0 = nil } }
            throw error
        }
    }

    private static func load(_ description: AdapterDescription, _ file: AdapterFile, for model: URL) async throws
        -> Adapter
    {
        if let base = description.baseModelSignature {
            let signature = try await EngineLibrary.shared.signature(of: model)
            guard signature == base else {
                throw AssetError.compatibleAdapterNotFound(
                    .init(
                        debugDescription: "The adapter \(description.identifier) was made for the base model "
                            + "\(base); the model in use, \(model.path), is \(signature)."))
            }
        }
        return try await onThread {
            do throws(AdapterError) {
                return try Adapter(file, for: try Self.configuration(of: model))
            } catch {
                throw invalid(description, "\(error)")
            }
        }
    }

    private static func configuration(of model: URL) throws(AdapterError) -> ModelConfiguration {
        do { return try ModelConfiguration(GGUFFile(model)) } catch {
            throw .unreadable(path: model.path, reason: "\(error)")
        }
    }
}

/// Runs work that blocks on a thread of its own, not on one of Swift's pool.
func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}
