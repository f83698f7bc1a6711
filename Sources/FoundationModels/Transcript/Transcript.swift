/// The record of a session: instructions, prompts, tool calls and their outputs, reasoning and responses, in order.
public struct Transcript: Sendable, Equatable {
    var entries: [Entry]

    /// - Parameter entries: The entries, oldest first.
    public init(entries: some Sequence<Entry> = []) {
        self.entries = Array(entries)
    }
}

extension Transcript {
    /// One step of a conversation.
    public enum Entry: Sendable, Identifiable, Equatable {
        /// What the model was told before the conversation, with the tools it may use.
        case instructions(Instructions)
        /// What the user asked.
        case prompt(Prompt)
        /// The tool calls that the model made in one round.
        case toolCalls(ToolCalls)
        /// What one tool call gave.
        case toolOutput(ToolOutput)
        /// What the model answered.
        case response(Response)
        /// What the model thought on the way to the entry that follows.
        case reasoning(Reasoning)

        public var id: String {
            switch self {
            case .instructions(let entry): entry.id
            case .prompt(let entry): entry.id
            case .toolCalls(let entry): entry.id
            case .toolOutput(let entry): entry.id
            case .response(let entry): entry.id
            case .reasoning(let entry): entry.id
            }
        }
    }
}

extension Transcript.Entry {
    /// The segments of the entry; none for tool calls.
    package var segments: [Transcript.Segment] {
        switch self {
        case .instructions(let entry): entry.segments
        case .prompt(let entry): entry.segments
        case .toolCalls: []
        case .toolOutput(let entry): entry.segments
        case .response(let entry): entry.segments
        case .reasoning(let entry): entry.segments
        }
    }
}
