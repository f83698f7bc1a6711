import Foundation
import Inference
import Synchronization

/// The engines of this process: one for each model file, however many sessions and models there are.
final class EngineLibrary: Sendable {
    static let shared = EngineLibrary()

    /// What tells the engines of one file apart.
    struct Settings: Hashable {
        /// The most tokens of a conversation; nil: what the model was trained for.
        var contextSize: Int?
        var cacheType = CacheType.f16
    }

    private struct Key: Hashable {
        var path: String
        var settings: Settings
    }

    private struct State {
        var engines: [Key: Task<Engine, any Error>] = [:]
        var contextSizes: [Key: Int] = [:]
        var facts: [String: ModelFacts] = [:]
        var loadCounts: [String: Int] = [:]
        var signatures: [String: Task<String, any Error>] = [:]
    }

    private let state = Mutex(State())

    /// How many times the weights of a file were loaded.
    func loadCount(of file: URL) -> Int { state.withLock { $0.loadCounts[file.path, default: 0] } }

    /// The engine for a file, loaded when it is first asked for. A load that failed is tried again.
    func engine(for file: URL, _ settings: Settings) async throws -> Engine {
        let key = Key(path: file.path, settings: settings)
        let task = state.withLock { state in
            if let task = state.engines[key] { return task }
            state.loadCounts[file.path, default: 0] += 1
            let task = Task.detached { try await Self.load(file, settings) }
            state.engines[key] = task
            return task
        }
        do {
            return try await task.value
        } catch {
            state.withLock { state in
                if state.engines[key] == task { state.engines[key] = nil }
            }
            throw error
        }
    }

    /// Loads on a thread of its own: reading the weights blocks.
    private static func load(_ file: URL, _ settings: Settings) async throws -> Engine {
        try await onThread {
            let folder = EngineOptions.standardPrefixFolder(environment: ProcessInfo.processInfo.environment)
            let options = EngineOptions(
                contextSize: settings.contextSize, cacheType: settings.cacheType, prefixFolder: folder)
            return try Engine.load(file, options: options)
        }
    }

    /// What adapters know a model by: the first 40 hexadecimal digits of its file's SHA-256. Takes about a second for a
    /// gigabyte, once in a process.
    func signature(of file: URL) async throws -> String {
        let task = state.withLock { state in
            if let task = state.signatures[file.path] { return task }
            let task = Task.detached { try await onThread { String(try SHA256.digest(of: file).prefix(40)) } }
            state.signatures[file.path] = task
            return task
        }
        do {
            return try await task.value
        } catch {
            state.withLock { state in
                if state.signatures[file.path] == task { state.signatures[file.path] = nil }
            }
            throw error
        }
    }

    /// The context size of a file, read from its metadata once.
    func contextSize(of file: URL, _ settings: Settings) throws -> Int {
        let key = Key(path: file.path, settings: settings)
        if let known = state.withLock({ $0.contextSizes[key] }) { return known }
        let options = EngineOptions(contextSize: settings.contextSize, cacheType: settings.cacheType)
        let size = try Engine.contextSize(of: file, options: options)
        state.withLock { $0.contextSizes[key] = size }
        return size
    }

    /// What is known of a file's model, by the file's metadata, which is read once.
    func facts(of file: URL) throws -> ModelFacts {
        if let known = state.withLock({ $0.facts[file.path] }) { return known }
        let facts = ModelFacts(try GGUFFile(file).metadata)
        state.withLock { $0.facts[file.path] = facts }
        return facts
    }
}
