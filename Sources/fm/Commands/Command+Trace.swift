import Foundation
import Inference

extension Command {
    package static let trace = Command(
        name: "trace",
        summary: "Sum up a trace that FM_TRACE=FILE has written.",
        usage: ["FILE"],
        operands: .one("the trace's file"),
        discussion: """
            Run a program with FM_TRACE=FILE in its environment, then 'fm trace FILE'. The file itself can
            be looked at in Perfetto (ui.perfetto.dev) or in Chrome (about:tracing).
            """
    ) { arguments, context in
        let file = URL(fileURLWithPath: arguments.operands[0])
        do throws(TraceSummary.Fault) {
            context.output.write(try TraceSummary(file: file).text)
        } catch {
            throw Failure(.failure, "\(file.path): \(error)")
        }
    }
}

extension TraceSummary {
    /// The summary as a reader wants it: requests, speeds, where the time went, notes.
    package var text: String {
        func seconds(_ value: Double) -> String {
            value < 0.1 ? String(format: "%.2f ms", value * 1000) : String(format: "%.2f s", value)
        }
        func rate(_ part: (tokens: Int, seconds: Double)) -> String {
            guard part.tokens > 0, part.seconds > 0 else { return "nothing" }
            return "\(part.tokens) tokens in \(seconds(part.seconds)), "
                + String(format: "%.1f tokens/s", Double(part.tokens) / part.seconds)
        }
        var lines: [String] = []
        if let model { lines.append("model     \(model)") }
        lines.append("time      \(seconds(self.seconds))")
        let answered = requests.filter { $0.end != "prewarmed" }
        let prompt = answered.reduce(0) { $0 + $1.prompt }
        let cached = answered.reduce(0) { $0 + $1.cached }
        let prewarmed = requests.count - answered.count
        lines.append("requests  \(answered.count)" + (prewarmed > 0 ? ", and \(prewarmed) that only prewarmed" : ""))
        if prompt > 0 {
            let share = Double(cached) / Double(prompt) * 100
            lines.append("prompts   \(prompt) tokens, \(cached) cached (\(String(format: "%.1f", share)) %)")
        }
        lines.append("prefill   \(rate(prefill))")
        lines.append("decode    \(rate(decode))")
        let forced = requests.reduce(0) { $0 + $1.forced }
        if forced > 0 { lines.append("forced    \(forced) tokens by constraints, without choice") }
        let drafted = requests.reduce(0) { $0 + $1.drafted }
        if drafted > 0 {
            let accepted = requests.reduce(0) { $0 + $1.accepted }
            lines.append("drafts    \(drafted) tokens, \(accepted) right")
        }
        var ends: [String: Int] = [:]
        for request in answered { ends[request.end, default: 0] += 1 }
        for (end, count) in ends.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            lines.append("ended     \(count) × \(end)")
        }
        if !spans.isEmpty {
            let rows = spans.sorted { $0.total.seconds > $1.total.seconds }.map { span in
                [
                    "\(span.category): \(span.name)", "\(span.total.count)", seconds(span.total.seconds),
                    seconds(span.total.longest),
                ]
            }
            lines.append("")
            lines += TextTable(["spans", "count", "in all", "longest"], rows).lines
        }
        lines.append("")
        if notes.isEmpty {
            lines.append("no notes")
        } else {
            lines.append("notes")
            for note in notes { lines.append("  \(seconds(note.seconds))  \(note.text)") }
        }
        return lines.map(TerminalText.printable).joined(separator: "\n") + "\n"
    }
}
