import JSON
import Synchronization

/// Answers as server-sent events (the `text/event-stream` of the HTML standard), ended by `[DONE]`.
final class EventStream: HTTPBodyStream {
    private let answers: RunningAnswers
    private let format: any AnswerFormat
    private let includesUsage: Bool
    private struct State {
        var begun: Set<Int> = []
        var waiting: [NumberedEvent]
        var isDone = false
    }
    private let state: Mutex<State>

    /// - Parameter first: Events that have been taken already.
    init(_ answers: RunningAnswers, _ format: any AnswerFormat, includesUsage: Bool, first: [NumberedEvent]) {
        self.answers = answers
        self.format = format
        self.includesUsage = includesUsage
        state = Mutex(State(waiting: first))
    }

    func next() throws(HTTPClientGone) -> [UInt8]? {
        while true {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                return state.isDone ? nil : state.waiting
            }
            guard var events = waiting else { return nil }
            if events.isEmpty {
                guard let next = try answers.next() else { return finish() }
                events = next
            }
            var text = ""
            for event in events {
                if case .failed(let error) = event.event {
                    // The status has been sent: the error is the last event.
                    state.withLock { $0.isDone = true }
                    answers.end()
                    return Array((text + Self.line(error.json)).utf8)
                }
                let isFirst = state.withLock { $0.begun.insert(event.answer).inserted }
                for choice in format.chunks(event, isFirst: isFirst) {
                    text += Self.line(format.envelope.chunk([choice], usage: includesUsage ? .some(nil) : nil))
                }
            }
            if !text.isEmpty { return Array(text.utf8) }
        }
    }

    private func finish() -> [UInt8] {
        state.withLock { $0.isDone = true }
        var text = ""
        if includesUsage { text += Self.line(format.envelope.chunk([], usage: answers.usage)) }
        answers.end()
        return Array((text + "data: [DONE]\n\n").utf8)
    }

    func end() { answers.end() }

    private static func line(_ value: JSONValue) -> String { "data: \(value.text())\n\n" }
}
