import Foundation
import JSON

/// What a trace file says, added up.
package struct TraceSummary: Sendable {
    /// One request.
    package struct Request: Sendable {
        package var prompt = 0
        package var cached = 0
        package var generated = 0
        package var forced = 0
        package var drafted = 0
        package var accepted = 0
        package var seconds = 0.0
        /// Why it ended.
        package var end = ""
    }

    /// All spans of one name.
    package struct Spans: Sendable {
        package var count = 0
        package var seconds = 0.0
        package var longest = 0.0
    }

    package struct Note: Sendable, Hashable {
        package var text: String
        /// Since the trace began.
        package var seconds: Double
    }

    package enum Fault: Error, CustomStringConvertible {
        case unreadable(String)
        case notJSON(String)
        case notATrace(String)

        package var description: String {
            switch self {
            case .unreadable(let reason): "the trace cannot be read: \(reason)"
            case .notJSON(let reason): "the trace is no JSON: \(reason)"
            case .notATrace(let reason):
                "this is no trace of FoundationModels: \(reason). Set FM_TRACE=FILE for the program to be traced."
            }
        }
    }

    package private(set) var model: String?
    package private(set) var requests: [Request] = []
    package private(set) var notes: [Note] = []
    /// By category and name.
    package private(set) var spans: [(category: String, name: String, total: Spans)] = []
    /// From the first event to the end of the last.
    package private(set) var seconds = 0.0
    /// Seconds of the requests' prompts and of their tokens, and the tokens that were computed in each.
    package private(set) var prefill = (tokens: 0, seconds: 0.0)
    package private(set) var decode = (tokens: 0, seconds: 0.0)

    /// Larger files are not read.
    private static let mostBytes = 1 << 30

    package init(file: URL) throws(Fault) {
        let data: Data
        do {
            let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
            guard size <= Self.mostBytes else { throw Fault.unreadable("it has \(size) bytes") }
            data = try Data(contentsOf: file)
        } catch {
            throw .unreadable((error as? Fault)?.description ?? error.localizedDescription)
        }
        let value: JSONValue
        do { value = try JSONValue(parsing: String(decoding: data, as: UTF8.self)) } catch {
            throw .notJSON("\(error)")
        }
        // Chrome's other form is an object with the array in it.
        guard let events = value.arrayValue ?? value["traceEvents"]?.arrayValue else {
            throw .notATrace("it is no array of events")
        }
        var totals: [String: Int] = [:]
        var first = Double.infinity
        var last = 0.0
        for event in events {
            guard let phase = event["ph"]?.stringValue, let name = event["name"]?.stringValue else {
                throw .notATrace("an event has no name or no phase")
            }
            guard phase == "X" || phase == "i" else { continue }
            guard let category = event["cat"]?.stringValue, let start = Self.number(event["ts"]) else {
                throw .notATrace("the event \"\(name)\" has no category or no time")
            }
            let duration = phase == "X" ? Self.number(event["dur"]) ?? 0 : 0
            first = min(first, start)
            last = max(last, start + duration)
            let arguments = event["args"] ?? .null
            if phase == "i" {
                if name == "note", let text = arguments["text"]?.stringValue {
                    notes.append(Note(text: text, seconds: start * 1e-6))
                }
                continue
            }
            let key = "\(category)\u{0}\(name)"
            let index = totals[key] ?? spans.count
            if index == spans.count {
                totals[key] = index
                spans.append((category, name, Spans()))
            }
            spans[index].total.count += 1
            spans[index].total.seconds += duration * 1e-6
            spans[index].total.longest = max(spans[index].total.longest, duration * 1e-6)
            switch name {
            case "load": model = arguments["model"]?.stringValue ?? model
            case "request": requests.append(Self.request(arguments, seconds: duration * 1e-6))
            case "prefill":
                prefill.tokens += Self.integer(arguments["prompt"]) - Self.integer(arguments["cached"])
                prefill.seconds += duration * 1e-6
            case "decode":
                decode.tokens += Self.integer(arguments["generated"])
                decode.seconds += duration * 1e-6
            default: break
            }
        }
        seconds = max(0, last - first) * 1e-6
    }

    private static func request(_ arguments: JSONValue, seconds: Double) -> Request {
        Request(
            prompt: integer(arguments["prompt"]), cached: integer(arguments["cached"]),
            generated: integer(arguments["generated"]), forced: integer(arguments["forced"]),
            drafted: integer(arguments["drafted"]), accepted: integer(arguments["accepted"]), seconds: seconds,
            end: arguments["end"]?.stringValue ?? "")
    }

    private static func number(_ value: JSONValue?) -> Double? {
        value?.numberValue.map(\.doubleValue).flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
    }

    /// A count, within bounds in which sums cannot overflow.
    private static func integer(_ value: JSONValue?) -> Int { number(value).map { Int(min($0, 0x1p40)) } ?? 0 }
}
