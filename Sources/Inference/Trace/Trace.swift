import Dispatch
import Foundation
import JSON
import Synchronization

/// What a process did and when, in the JSON that Perfetto and Chrome read, and what it noticed and did not throw.
///
/// The environment variable `FM_TRACE` says where it goes: to a file of that path, which is written anew; with `1` only
/// the notes are written, to standard error; unset, empty or `0`, there is no trace and nothing is spent on one.
///
/// The file is valid JSON after each write, also when the process ends without a word.
/// Source: "Trace Event Format" of the Chromium project (the array form, events X, i and M).
package final class Trace: Sendable {
    /// What takes time.
    package enum Category: String, Sendable, CaseIterable {
        case load, request, prefill, decode, mask, cache, tool
        /// What was noticed in a session.
        case session
    }

    /// A value that an event tells.
    package enum Argument: Sendable, Hashable {
        case integer(Int)
        case number(Double)
        case text(String)

        package init(_ value: Int) { self = .integer(value) }
        package init(_ value: Double) { self = .number(value) }
        package init(_ value: String) { self = .text(value) }
    }

    /// A time of the monotonic clock, in nanoseconds.
    package typealias Time = UInt64

    /// A row of the picture: 0 is the engine's own thread, others are requests and sessions.
    package struct Track: Sendable, Hashable {
        package let id: Int
        package static let engine = Track(id: 0)
    }

    private struct State {
        /// Events that are not in the file yet, each a line.
        var pending: [UInt8] = []
        /// Where the next event goes.
        var offset = 0
        var trackCount = 0
        var hasFailed = false
    }

    /// The trace of this process.
    package static let shared: Trace? = {
        guard let value = ProcessInfo.processInfo.environment["FM_TRACE"], !value.isEmpty, value != "0" else {
            return nil
        }
        let trace = value == "1" ? Trace() : Trace(file: URL(fileURLWithPath: value))
        if trace == nil {
            let text = "FoundationModels: the trace \(value) cannot be written: \(String(cString: strerror(errno)))\n"
            FileHandle.standardError.write(Data(text.utf8))
        }
        atexit { Trace.shared?.flush() }
        return trace
    }()

    /// Nil: only notes, to standard error.
    private let descriptor: Int32?
    private let start: Time
    private let state = Mutex(State())

    private static let flushBytes = 1 << 16
    private static let ending = Array("\n]\n".utf8)

    /// Notes go to standard error, and nothing else is written.
    package init() {
        descriptor = nil
        start = Self.clock()
    }

    /// - Returns: nil when the file cannot be written; `errno` says why.
    package init?(file: URL) {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        start = Self.clock()
        write(metadata("process_name", .engine, ProcessInfo.processInfo.processName))
        write(metadata("thread_name", .engine, "engine"))
        flush()
    }

    deinit {
        flush()
        if let descriptor { close(descriptor) }
    }

    package var now: Time { Self.clock() }

    private static func clock() -> Time { DispatchTime.now().uptimeNanoseconds }

    package static func seconds(from start: Time, to end: Time) -> Double { Double(end - start) * 1e-9 }

    // MARK: Events

    /// A new row.
    package func track(_ name: String) -> Track {
        let track = state.withLock { state in
            state.trackCount += 1
            return Track(id: state.trackCount)
        }
        write(metadata("thread_name", track, "\(name) \(track.id)"))
        return track
    }

    /// Something that took from `start` to now.
    package func span(
        _ name: String, _ category: Category, from start: Time, to end: Time? = nil, on track: Track = .engine,
        _ arguments: [(String, Argument)] = []
    ) {
        guard descriptor != nil else { return }
        write(
            "{\"name\":\(Self.quoted(name)),\"cat\":\"\(category.rawValue)\",\"ph\":\"X\",\"ts\":\(time(start)),"
                + "\"dur\":\(Self.microseconds((end ?? now) - start)),\"pid\":\(getpid()),\"tid\":\(track.id)"
                + "\(Self.text(of: arguments))}")
    }

    /// Something that a developer should know and that is no error.
    package func note(_ text: String, _ category: Category, on track: Track = .engine) {
        guard descriptor != nil else {
            return FileHandle.standardError.write(Data("FoundationModels: \(text)\n".utf8))
        }
        write(
            "{\"name\":\"note\",\"cat\":\"\(category.rawValue)\",\"ph\":\"i\",\"s\":\"p\",\"ts\":\(time(now)),"
                + "\"pid\":\(getpid()),\"tid\":\(track.id)\(Self.text(of: [("text", .text(text))]))}")
        flush()
    }

    // MARK: Writing

    private func metadata(_ name: String, _ track: Track, _ value: String) -> String {
        "{\"name\":\"\(name)\",\"ph\":\"M\",\"pid\":\(getpid()),\"tid\":\(track.id)"
            + "\(Self.text(of: [("name", .text(value))]))}"
    }

    private func time(_ time: Time) -> String { Self.microseconds(time > start ? time - start : 0) }

    private static func microseconds(_ nanoseconds: Time) -> String {
        let rest = String(nanoseconds % 1000)
        return "\(nanoseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }

    private static func text(of arguments: [(String, Argument)]) -> String {
        guard !arguments.isEmpty else { return "" }
        let pairs = arguments.map { name, value in
            let text =
                switch value {
                case .integer(let value): "\(value)"
                // JSON has no number that is none.
                case .number(let value): value.isFinite ? "\(value)" : "null"
                case .text(let value): quoted(value)
                }
            return "\"\(name)\":\(text)"
        }
        return ",\"args\":{\(pairs.joined(separator: ","))}"
    }

    private static func quoted(_ text: String) -> String { JSONValue.quoted(text) }

    private func write(_ event: String) {
        guard descriptor != nil else { return }
        state.withLock { state in
            state.pending.append(contentsOf: (state.offset == 0 && state.pending.isEmpty ? "[\n" : ",\n").utf8)
            state.pending.append(contentsOf: event.utf8)
            if state.pending.count >= Self.flushBytes { flush(&state) }
        }
    }

    /// Brings all events into the file.
    package func flush() { state.withLock { flush(&$0) } }

    private func flush(_ state: inout State) {
        guard let descriptor, !state.pending.isEmpty else { return }
        defer { state.pending.removeAll(keepingCapacity: true) }
        // A disk that is full ends the trace; what is written stays as it is.
        guard !state.hasFailed else { return }
        let bytes = state.pending + Self.ending
        if bytes.withUnsafeBytes({ FileBytes.write(descriptor, at: state.offset, $0) }) {
            state.offset += state.pending.count
        } else {
            state.hasFailed = true
        }
    }
}
