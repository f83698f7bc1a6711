import Inference
import Synchronization

/// What a session noticed and did not throw: options without effect, writes that were ignored, parts of the prompt that moved.
/// They also go into the trace of the process (`FM_TRACE`), if there is one.
package final class SessionTrace: Sendable {
    /// The trace of the session that the current task works for.
    @TaskLocal package static var current: SessionTrace?

    /// How many notes are kept; older ones are dropped.
    private static let limit = 256

    private let storage = Mutex<[String]>([])

    /// The session's row in the trace of the process.
    let track = Trace.shared?.track("session") ?? .engine

    package init() {}

    package func note(_ text: String) {
        storage.withLock { notes in
            if notes.count == Self.limit { notes.removeFirst() }
            notes.append(text)
        }
        Trace.shared?.note(text, .session, on: track)
    }

    package var notes: [String] { storage.withLock { $0 } }
}
