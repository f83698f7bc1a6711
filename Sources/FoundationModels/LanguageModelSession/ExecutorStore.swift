import Synchronization

/// The executors of one session, one for each kind and configuration.
final class ExecutorStore: Sendable {
    private struct Key: Hashable, @unchecked Sendable {
        let executor: ObjectIdentifier
        let configuration: AnyHashable
    }

    private let executors = Mutex<[Key: any LanguageModelExecutor]>([:])

    /// The executor of a model, made when there is none for its configuration yet.
    func executor<Model: LanguageModel>(for model: Model) throws -> Model.Executor {
        let configuration = model.executorConfiguration
        let key = Key(executor: ObjectIdentifier(Model.Executor.self), configuration: AnyHashable(configuration))
        if let known = executors.withLock({ $0[key] }) as? Model.Executor { return known }
        // Made outside the lock: an executor may take its time, and another may be made meanwhile. The first one stays.
        let made = try Model.Executor(configuration: configuration)
        return executors.withLock { executors in
            if let known = executors[key] as? Model.Executor { return known }
            executors[key] = made
            return made
        }
    }
}
