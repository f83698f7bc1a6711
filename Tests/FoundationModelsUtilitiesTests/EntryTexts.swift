import FoundationModels

extension Sequence<Transcript.Entry> {
    /// The entries in short: `p` prompt, `r` response, `c` tool calls, `o` output, `t` thoughts, `i` instructions, with their texts.
    var short: [String] {
        map { entry in
            let kind =
                switch entry {
                case .instructions: "i"
                case .prompt: "p"
                case .toolCalls: "c"
                case .toolOutput: "o"
                case .response: "r"
                case .reasoning: "t"
                }
            if case .toolCalls(let calls) = entry { return "c:" + calls.map(\.toolName).joined(separator: ",") }
            return "\(kind):" + entry.segments.compactMap(\.text).joined(separator: "|")
        }
    }
}
