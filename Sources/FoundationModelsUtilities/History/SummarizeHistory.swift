import Foundation
public import FoundationModels

extension LanguageModelSession.DynamicProfile {
    /// Puts a summary in the place of a history that has become too long, for good, when a prompt has come.
    ///
    /// The new prompt stays, with the summary before it. What a tool was just asked for is never summed up.
    ///
    /// - Parameters:
    ///   - entryThreshold: The number of entries above which the history is summed up.
    ///   - model: The model that writes the summary.
    ///   - instructions: What that model is told; nil for instructions that keep facts, the topic and what is open.
    ///   - summaryPostamble: Text behind the summary; nil for one that asks the model not to speak of a summary, an empty text
    ///     for none.
    public func summarizeHistory<Model: LanguageModel>(
        entryThreshold: Int, model: Model, instructions: Instructions? = nil, summaryPostamble: String? = nil
    ) -> some LanguageModelSession.DynamicProfile {
        modifier(
            SummarizeHistoryModifier(
                entryThreshold: entryThreshold, model: model, instructions: instructions,
                postamble: summaryPostamble
                    ?? "Take the above as what you remember. Do not mention a summary, facts or context that you were given."
            ))
    }
}

private struct SummarizeHistoryModifier<Model: LanguageModel>: LanguageModelSession.DynamicProfileModifier {
    let entryThreshold: Int
    let model: Model
    let instructions: Instructions?
    let postamble: String

    @SessionProperty(\.history) private var history

    func body(content: Content) -> some LanguageModelSession.DynamicProfile {
        content.onPrompt {
            // After a round of tool calls the last entry is an output: the turn is under way and stays as it is.
            guard history.count > entryThreshold, case .prompt(let prompt)? = history.last else { return }
            let summary = try await LanguageModelSession(
                model: model, instructions: { instructions ?? Self.defaultInstructions }
            ).respond(to: Prompt("Summarize this conversation:\n\n\(history.conversation)")).content
            var text = "Summary of the conversation so far:\n\(summary)"
            if !postamble.isEmpty { text += "\n\n\(postamble)" }
            var shortened = prompt
            shortened.id = UUID().uuidString
            shortened.segments.insert(.text(Transcript.TextSegment(content: text + "\n\n")), at: 0)
            history = [.prompt(shortened)]
        }
    }

    private static var defaultInstructions: Instructions {
        Instructions(
            """
            You shorten a conversation between a user and an assistant to a few sentences in the third person. Keep:
            - facts: names, numbers, dates, decisions, likes and dislikes;
            - what is being talked about now, and how far that has come;
            - what the user brought up last;
            - questions without an answer.
            State the facts themselves, not who said them. Leave out everything else.
            """)
    }
}

extension Sequence<Transcript.Entry> {
    /// The conversation as lines of text, each with who speaks.
    fileprivate var conversation: String {
        compactMap { entry in
            switch entry {
            case .instructions: nil
            case .prompt(let prompt): "User: \(prompt.segments.plainText)"
            case .response(let response): "Assistant: \(response.segments.plainText)"
            case .reasoning(let reasoning): "Assistant, thinking: \(reasoning.segments.plainText)"
            case .toolCalls(let calls): "Tool call: \(calls.map(\.description).joined(separator: ", "))"
            case .toolOutput(let output): "Tool output of \(output.toolName): \(output.segments.plainText)"
            }
        }.joined(separator: "\n")
    }
}

extension [Transcript.Segment] {
    fileprivate var plainText: String { compactMap(\.text).joined(separator: " ") }
}
