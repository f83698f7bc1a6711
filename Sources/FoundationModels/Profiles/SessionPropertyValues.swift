import Observation
import Synchronization

/// A value that tools, instructions and profiles of a session share, by its type.
///
/// Declare one with ``SessionPropertyEntry()`` in an extension of ``SessionPropertyValues``.
public protocol SessionPropertyKey: SendableMetatype {
    associatedtype Value

    /// The value as long as nothing was written.
    static var defaultValue: Value { get }
}

/// The values that tools, instructions and profiles of a session share.
public final class SessionPropertyValues: Sendable {
    private struct Storage: @unchecked Sendable {
        var values: [ObjectIdentifier: Any] = [:]
        weak var session: LanguageModelSession?
    }

    private let storage = Mutex(Storage())
    private let registrar = ObservationRegistrar()

    init() {}

    func attach(to session: LanguageModelSession) {
        storage.withLock { $0.session = session }
    }
}

extension SessionPropertyValues: nonisolated Observable {}

extension SessionPropertyValues {
    /// The value of a key. A change by `+=` reads and writes: of two at the same time, one may be lost.
    public subscript<Key: SessionPropertyKey>(key: Key.Type) -> Key.Value {
        get {
            registrar.access(self, keyPath: \.observedValues)
            nonisolated(unsafe) var value: Key.Value?
            storage.withLock { value = $0.values[ObjectIdentifier(key)] as? Key.Value }
            return value ?? Key.defaultValue
        }
        set {
            nonisolated(unsafe) let value = newValue
            registrar.withMutation(of: self, keyPath: \.observedValues) {
                storage.withLock { $0.values[ObjectIdentifier(key)] = value }
            }
        }
        _modify {
            var value = self[key]
            yield &value
            self[key] = value
        }
    }

    /// Stands for all values in the observation.
    private var observedValues: Int { 0 }

    /// The conversation without its instructions. Callbacks of a profile may change it; tools and instructions may only read it, their
    /// writes are ignored and noted in the trace.
    public var history: Transcript.HistoryView {
        get {
            storage.withLock { $0.session }?.transcript.history ?? Transcript.HistoryView()
        }
        set {
            guard let session = storage.withLock({ $0.session }) else { return }
            switch SessionContext.current?.access {
            case .read where SessionContext.current?.values === self:
                session.trace.note("A tool or dynamic instructions wrote to the history; the write is ignored.")
            case .write where SessionContext.current?.values === self:
                session.replaceHistory(with: newValue)
            default: session.transcript.history = newValue
            }
        }
    }
}

/// For which session code of the program runs at the moment, and what it may do.
struct SessionContext: Sendable {
    enum Access: Sendable {
        case read
        case write
    }

    @TaskLocal static var current: SessionContext?

    let values: SessionPropertyValues
    let access: Access
}

extension SessionPropertyValues {
    /// Evaluates a body of the session.
    func read<Value>(in session: LanguageModelSession, _ body: () throws -> Value) rethrows -> Value {
        try SessionContext.$current.withValue(SessionContext(values: self, access: .read)) {
            try SessionTrace.$current.withValue(session.trace, operation: body)
        }
    }

    /// Runs a tool of the session.
    @concurrent
    func readFromTool<Value: Sendable>(
        in session: LanguageModelSession, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await SessionContext.$current.withValue(SessionContext(values: self, access: .read)) {
            try await SessionTrace.$current.withValue(session.trace, operation: body)
        }
    }

    /// Runs a callback of the session.
    nonisolated(nonsending) func write(
        in session: LanguageModelSession, _ body: nonisolated(nonsending) () async throws -> Void
    ) async throws {
        try await SessionContext.$current.withValue(SessionContext(values: self, access: .write)) {
            try await SessionTrace.$current.withValue(session.trace) { try await body() }
        }
    }
}

extension LanguageModelSession {
    /// A change of the history by a callback of the request at work.
    func replaceHistory(with history: Transcript.HistoryView) {
        registrar.withMutation(of: self, keyPath: \.transcript) {
            state.withLock { state in
                guard state.activeResponse?.isInterrupted != true else { return }
                state.transcript.history = history
            }
        }
    }
}
