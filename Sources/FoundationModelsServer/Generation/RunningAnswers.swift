import Foundation
import Synchronization

/// The answers to one request while they are made, and the client that waits for them.
final class RunningAnswers: Sendable {
    private let mailbox = Mailbox<NumberedEvent>()
    private let answersPerPrompt: Int
    private let connection: ClientConnection
    private let deadline: ContinuousClock.Instant
    private let timeLimit: Duration
    private let place: AdmissionGate.Place
    private let isCutOff: @Sendable () -> Bool
    private let onEnd: @Sendable (RunningAnswers.Outcome) -> Void
    private let start = ContinuousClock.now

    enum Ending: Sendable { case complete, failed, cancelled }

    struct Outcome: Sendable {
        var ending: Ending
        var usage: AnswerUsage
        /// Seconds to the first event and to the end.
        var first: Double?
        var total: Double
    }

    private struct State {
        var tasks: [Task<Void, Never>] = []
        var unfinished: Set<Int>
        var usage = AnswerUsage()
        var first: Double?
        var hasFailed = false
        var isEnded = false
    }
    private let state: Mutex<State>

    /// - Parameters:
    ///   - isCutOff: Whether the server ends before its answers do.
    ///   - make: Makes one answer; its last event is `finished` or `failed`.
    init(
        count: Int, answersPerPrompt: Int, connection: ClientConnection, place: AdmissionGate.Place,
        timeLimit: Duration, isCutOff: @escaping @Sendable () -> Bool,
        onEnd: @escaping @Sendable (Outcome) -> Void,
        make: @escaping @Sendable (Int, @Sendable (AnswerEvent) -> Void) async -> Void
    ) {
        self.answersPerPrompt = answersPerPrompt
        self.connection = connection
        self.place = place
        self.timeLimit = timeLimit
        self.isCutOff = isCutOff
        self.onEnd = onEnd
        deadline = .now + timeLimit
        state = Mutex(State(unfinished: Set(0..<count)))
        let mailbox = mailbox
        let tasks = (0..<count).map { number in
            Task.detached { await make(number) { mailbox.put(NumberedEvent(answer: number, event: $0)) } }
        }
        state.withLock { $0.tasks = tasks }
    }

    deinit { end() }

    /// Waits for events; nil when all answers are at their end.
    func next() throws(HTTPClientGone) -> [NumberedEvent]? {
        while true {
            guard state.withLock({ !$0.unfinished.isEmpty && !$0.isEnded }) else { return nil }
            if isCutOff() { return fail(.shuttingDown) }
            switch connection.wait(for: mailbox.descriptor, until: min(deadline, .now + .milliseconds(200))) {
            case .gone: throw HTTPClientGone()
            case .timedOut where ContinuousClock.now < deadline: continue
            case .timedOut: return fail(Self.timeout(timeLimit))
            case .ready: break
            }
            let events = mailbox.take()
            guard !events.isEmpty else { continue }
            note(events)
            return events
        }
    }

    private func note(_ events: [NumberedEvent]) {
        state.withLock { state in
            if state.first == nil { state.first = seconds }
            for event in events {
                switch event.event {
                case .finished(let end):
                    state.unfinished.remove(event.answer)
                    // Answers to the same prompt share it.
                    if event.answer.isMultiple(of: answersPerPrompt) {
                        state.usage.prompt += end.usage.prompt
                        state.usage.cached += end.usage.cached
                    }
                    state.usage.completion += end.usage.completion
                    state.usage.reasoning += end.usage.reasoning
                case .failed:
                    state.unfinished.remove(event.answer)
                    state.hasFailed = true
                default: break
                }
            }
        }
    }

    static func timeout(_ limit: Duration) -> APIError {
        APIError(
            status: 504, type: "server_error", code: "timeout",
            "The answer was not complete within the \(Int(limit / .seconds(1))) seconds that a request may take.")
    }

    private func fail(_ error: APIError) -> [NumberedEvent] {
        let numbers = state.withLock { $0.unfinished }
        let events = numbers.sorted().map { NumberedEvent(answer: $0, event: .failed(error)) }
        note(events)
        end()
        return events
    }

    var usage: AnswerUsage { state.withLock { $0.usage } }

    private var seconds: Double { (ContinuousClock.now - start) / .seconds(1) }

    /// Stops what is not done and gives the places back.
    func end() {
        let outcome: Outcome? = state.withLock { state in
            guard !state.isEnded else { return nil }
            state.isEnded = true
            for task in state.tasks { task.cancel() }
            let ending: Ending = state.hasFailed ? .failed : state.unfinished.isEmpty ? .complete : .cancelled
            return Outcome(ending: ending, usage: state.usage, first: state.first, total: seconds)
        }
        guard let outcome else { return }
        place.release()
        onEnd(outcome)
    }
}
