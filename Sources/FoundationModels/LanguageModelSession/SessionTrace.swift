import Foundation
import Synchronization

/// What a session noticed and did not throw: options without effect, writes that were ignored, parts of the prompt that moved.
/// With the environment variable `FM_TRACE` set to anything but nothing or `0`, notes also go to standard error.
package final class SessionTrace: Sendable {
    /// The trace of the session that the current task works for.
    @TaskLocal package static var current: SessionTrace?

    /// How many notes are kept; older ones are dropped.
    private static let limit = 256

    private static let isPrinting: Bool = {
        guard let value = ProcessInfo.processInfo.environment["FM_TRACE"] else { return false }
        return !value.isEmpty && value != "0"
    }()

    private let storage = Mutex<[String]>([])

    package init() {}

    package func note(_ text: String) {
        storage.withLock { notes in
            if notes.count == Self.limit { notes.removeFirst() }
            notes.append(text)
        }
        if Self.isPrinting { FileHandle.standardError.write(Data("FoundationModels: \(text)\n".utf8)) }
    }

    package var notes: [String] { storage.withLock { $0 } }
}
