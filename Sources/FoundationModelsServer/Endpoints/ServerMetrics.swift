import Synchronization

/// What the server has done, in the text format of Prometheus.
/// Source: the Prometheus documentation, "Exposition formats", version 0.0.4.
final class ServerMetrics: Sendable {
    private struct Histogram {
        static let bounds: [Double] = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
        var counts = [Int](repeating: 0, count: bounds.count)
        var count = 0
        var sum = 0.0

        mutating func note(_ value: Double) {
            for (index, bound) in Self.bounds.enumerated() where value <= bound { counts[index] += 1 }
            count += 1
            sum += value
        }
    }

    private struct State {
        var requests: [String: Int] = [:]
        var endings: [RunningAnswers.Ending: Int] = [:]
        var usage = AnswerUsage()
        var embeddedTokens = 0
        var first = Histogram()
        var total = Histogram()
    }

    private let state = Mutex(State())

    /// - Parameter path: One of the server's own, so that strangers cannot fill the memory with names.
    func note(path: String, status: Int) {
        state.withLock { $0.requests["path=\"\(path)\",status=\"\(status)\"", default: 0] += 1 }
    }

    func note(_ outcome: RunningAnswers.Outcome) {
        state.withLock { state in
            state.endings[outcome.ending, default: 0] += 1
            state.usage.prompt += outcome.usage.prompt
            state.usage.cached += outcome.usage.cached
            state.usage.completion += outcome.usage.completion
            if let first = outcome.first { state.first.note(first) }
            state.total.note(outcome.total)
        }
    }

    func noteEmbeddings(tokens: Int) { state.withLock { $0.embeddedTokens += tokens } }

    func text(active: Int, waiting: Int, connections: Int, memory: Int?) -> String {
        let state = self.state.withLock { $0 }
        var text = ""
        func begin(_ name: String, _ type: String, _ help: String) {
            text += "# HELP fm_\(name) \(help)\n# TYPE fm_\(name) \(type)\n"
        }
        func value(_ name: String, _ labels: String = "", _ value: String) {
            text += "fm_\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(value)\n"
        }
        begin("requests_total", "counter", "HTTP requests that were answered.")
        for (labels, count) in state.requests.sorted(by: { $0.key < $1.key }) {
            value("requests_total", labels, "\(count)")
        }
        begin("generations_total", "counter", "Requests for text, by how they ended.")
        for ending in [RunningAnswers.Ending.complete, .failed, .cancelled] {
            value("generations_total", "ending=\"\(ending)\"", "\(state.endings[ending] ?? 0)")
        }
        begin("prompt_tokens_total", "counter", "Tokens of prompts.")
        value("prompt_tokens_total", "", "\(state.usage.prompt)")
        begin("cached_prompt_tokens_total", "counter", "Tokens of prompts that were in the cache.")
        value("cached_prompt_tokens_total", "", "\(state.usage.cached)")
        begin("completion_tokens_total", "counter", "Tokens that were generated.")
        value("completion_tokens_total", "", "\(state.usage.completion)")
        begin("embedded_tokens_total", "counter", "Tokens of texts that embeddings were made of.")
        value("embedded_tokens_total", "", "\(state.embeddedTokens)")
        begin("active_generations", "gauge", "Texts that are being generated.")
        value("active_generations", "", "\(active)")
        begin("waiting_generations", "gauge", "Texts that wait to be generated.")
        value("waiting_generations", "", "\(waiting)")
        begin("connections", "gauge", "Open connections.")
        value("connections", "", "\(connections)")
        if let memory {
            begin("resident_memory_bytes", "gauge", "Memory of the process.")
            value("resident_memory_bytes", "", "\(memory)")
        }
        for (name, help, histogram) in [
            ("first_event_seconds", "Time from a request to the beginning of its answer.", state.first),
            ("answer_seconds", "Time from a request to the end of its answer.", state.total),
        ] {
            begin(name, "histogram", help)
            for (bound, count) in zip(Histogram.bounds, histogram.counts) {
                value("\(name)_bucket", "le=\"\(bound)\"", "\(count)")
            }
            value("\(name)_bucket", "le=\"+Inf\"", "\(histogram.count)")
            value("\(name)_sum", "", "\(histogram.sum)")
            value("\(name)_count", "", "\(histogram.count)")
        }
        return text
    }
}
