/// What a user thinks of a response.
public struct LanguageModelFeedback {
    public enum Sentiment: Sendable, CaseIterable {
        case positive
        case negative
        case neutral
    }

    /// Something that is wrong with a response.
    public struct Issue: Sendable {
        let category: Category
        let explanation: String?

        public init(category: Category, explanation: String? = nil) {
            self.category = category
            self.explanation = explanation
        }

        public enum Category: Sendable, CaseIterable {
            case unhelpful
            case tooVerbose
            case didNotFollowInstructions
            case incorrect
            case stereotypeOrBias
            case suggestiveOrSexual
            case vulgarOrOffensive
            case triggeredGuardrailUnexpectedly
        }
    }
}
