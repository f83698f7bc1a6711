import Foundation

extension LanguageModelSession {
    /// What a program can do wrong with a session while it is at work.
    public enum Error: LocalizedError, Hashable {
        /// A request was made while another was answered. The first one goes on.
        case concurrentRequests
        /// The transcript was changed while a request was answered. The request ends with this error; the change stays.
        case transcriptMutationWhileResponding
    }

    /// What a program can ask for that no model can do.
    public enum ConfigurationError: LocalizedError, Hashable {
        /// Two tools of one session have the same name.
        case duplicateToolName(String)
        /// The model was required to call a tool and there is none.
        case toolCallingRequiresTools
        /// A number in the options makes no sense; the text says which.
        case invalidGenerationOptions(String)
        /// The profile names no model.
        case missingModel
    }
}

extension LanguageModelSession.Error: CustomDebugStringConvertible {
    public var debugDescription: String {
        switch self {
        case .concurrentRequests:
            "The session is already responding. Wait until isResponding is false, or use a session for each conversation."
        case .transcriptMutationWhileResponding:
            "The transcript was changed while the session was responding. Change it when isResponding is false."
        }
    }

    public var errorDescription: String? { debugDescription }
}

extension LanguageModelSession.ConfigurationError: CustomDebugStringConvertible {
    public var debugDescription: String {
        switch self {
        case .duplicateToolName(let name):
            "Two tools are named \"\(name)\". The model tells tools apart by their names: give each its own."
        case .toolCallingRequiresTools:
            "Tool choice requires tools: toolCallingMode is required, but there is no tool that the model could call."
        case .invalidGenerationOptions(let text): text
        case .missingModel: "The profile has no model. Add .model(_:) to it."
        }
    }

    public var errorDescription: String? { debugDescription }
}
