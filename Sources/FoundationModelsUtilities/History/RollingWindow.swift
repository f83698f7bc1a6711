public import FoundationModels

/// How the size of a window over a history is measured.
public enum RollingWindowSize: Sendable {
    /// The last entries, as many as the number says; all when there are fewer.
    case entries(Int)
}

extension LanguageModelSession.DynamicProfile {
    /// Keeps only the last entries of the history, for good, each time before the model is called.
    ///
    /// The window is cut at that very entry, so that a response may lose its prompt and a tool output its call.
    /// ``rollingWindow(wholeTurns:)`` never does that.
    ///
    /// - Parameter entries: How many entries are kept, the new prompt among them; at least one is.
    public func rollingWindow(entries: Int) -> some LanguageModelSession.DynamicProfile {
        rollingWindow(size: .entries(entries))
    }

    /// Keeps only the last part of the history, for good, each time before the model is called.
    public func rollingWindow(size: RollingWindowSize) -> some LanguageModelSession.DynamicProfile {
        modifier(
            HistoryModifier { history in
                switch size {
                case .entries(let count): history.suffix(max(1, count))
                }
            })
    }

    /// Shows the model only the last turns of the history: each a prompt with all that came of it, so that no response is without its
    /// prompt and no tool output without its call. The transcript itself keeps everything.
    ///
    /// - Parameter turns: How many turns are shown, the one of the new prompt among them; at least that one is.
    public func rollingWindow(wholeTurns turns: Int) -> some LanguageModelSession.DynamicProfile {
        historyTransform { history in
            let prompts = history.indices.filter { index in
                if case .prompt = history[index] { true } else { false }
            }
            guard prompts.count > max(1, turns) else { return history }
            return Array(history[prompts[prompts.count - max(1, turns)]...])
        }
    }
}

/// Changes the history before each call of the model.
struct HistoryModifier: LanguageModelSession.DynamicProfileModifier {
    @SessionProperty(\.history) private var history

    private let change: @Sendable (Transcript.HistoryView) -> Transcript.HistoryView

    init(_ change: @escaping @Sendable (Transcript.HistoryView) -> Transcript.HistoryView) { self.change = change }

    func body(content: Content) -> some LanguageModelSession.DynamicProfile {
        content.onPrompt { history = change(history) }
    }
}
