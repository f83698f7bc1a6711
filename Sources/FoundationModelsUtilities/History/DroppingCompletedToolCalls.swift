public import FoundationModels

extension LanguageModelSession.DynamicProfile {
    /// Takes tool calls that are done with, and their outputs, out of the history, for good, each time before the model is called.
    ///
    /// What stands behind the last response or round of calls stays: that is what the model is at.
    public func droppingCompletedToolCalls() -> some LanguageModelSession.DynamicProfile {
        modifier(
            HistoryModifier { history in
                let last =
                    history.lastIndex { entry in
                        switch entry {
                        case .response, .toolCalls: true
                        default: false
                        }
                    } ?? history.startIndex
                let kept = history[..<last].filter { entry in
                    switch entry {
                    case .toolCalls, .toolOutput: false
                    default: true
                    }
                }
                return Transcript.HistoryView(kept) + history[last...]
            })
    }
}
