import Foundation

extension LanguageModelSession {
    /// The errors of the framework's first generation. They are thrown when the package is built with the trait
    /// `GenerationErrors`; otherwise the errors named in the deprecation notes are.
    public enum GenerationError: Swift.Error, LocalizedError {
        /// Now ``LanguageModelError/contextSizeExceeded(_:)``.
        case exceededContextWindowSize(Context)
        /// Now ``SystemLanguageModel/Error/assetsUnavailable(_:)``.
        case assetsUnavailable(Context)
        /// Now ``LanguageModelError/guardrailViolation(_:)``.
        case guardrailViolation(Context)
        /// Now ``LanguageModelError/unsupportedGenerationGuide(_:)``.
        case unsupportedGuide(Context)
        /// Now ``LanguageModelError/unsupportedLanguageOrLocale(_:)``.
        case unsupportedLanguageOrLocale(Context)
        /// Now ``GeneratedContent/ParsingError``.
        case decodingFailure(Context)
        /// Now ``LanguageModelError/rateLimited(_:)``.
        case rateLimited(Context)
        /// Now ``LanguageModelSession/Error/concurrentRequests``.
        case concurrentRequests(Context)
        /// Now ``LanguageModelError/refusal(_:)``.
        case refusal(Refusal, Context)

        public struct Context: Sendable {
            public let debugDescription: String

            public init(debugDescription: String) { self.debugDescription = debugDescription }
        }

        public struct Refusal: Sendable {
            private let entries: [Transcript.Entry]

            /// - Parameter transcriptEntries: What the model said when it declined.
            public init(transcriptEntries: [Transcript.Entry]) { entries = transcriptEntries }

            /// Why the model declined, in its own words.
            public nonisolated(nonsending) var explanation: Response<String> {
                get async throws { try await explanationStream.collect() }
            }

            /// Why the model declined, in its own words, as a stream.
            public var explanationStream: ResponseStream<String> {
                let text = entries.compactMap { entry in
                    if case .response(let response) = entry { response.segments.joinedText } else { nil }
                }
                return .finished(text: text.joined(separator: "\n"))
            }
        }
    }
}

extension LanguageModelSession.GenerationError {
    var context: Context {
        switch self {
        case .exceededContextWindowSize(let context), .assetsUnavailable(let context),
            .guardrailViolation(let context), .unsupportedGuide(let context),
            .unsupportedLanguageOrLocale(let context), .decodingFailure(let context), .rateLimited(let context),
            .concurrentRequests(let context), .refusal(_, let context):
            context
        }
    }

    public var errorDescription: String? {
        switch self {
        case .exceededContextWindowSize: "The conversation exceeds the model's context window."
        case .assetsUnavailable: "The model is not available."
        case .guardrailViolation: "A safety check stopped the request."
        case .unsupportedGuide: "A guide cannot be enforced."
        case .unsupportedLanguageOrLocale: "The model does not support the language."
        case .decodingFailure: "The response could not be read as the type that was asked for."
        case .rateLimited: "The model does not take requests at the moment."
        case .concurrentRequests: "The session is already responding."
        case .refusal: "The model declined to answer."
        }
    }

    public var recoverySuggestion: String? {
        switch self {
        case .exceededContextWindowSize: "Begin a new session, or one with a shorter transcript."
        case .assetsUnavailable: "Look at SystemLanguageModel.default.availability."
        case .guardrailViolation: "Say it in other words."
        case .unsupportedGuide: "Take the guide out of the schema, or use one that is supported."
        case .unsupportedLanguageOrLocale: "Ask SystemLanguageModel.supportsLocale(_:) first."
        case .decodingFailure: "Try again, or allow more response tokens."
        case .rateLimited: "Try again later."
        case .concurrentRequests: "Wait until isResponding is false."
        case .refusal: "Read the refusal's explanation."
        }
    }

    public var failureReason: String? { context.debugDescription }
}

extension LanguageModelSession.GenerationError {
    /// The error of the first generation that says what an error of the second says; nil when there is none.
    package init?(translating error: any Swift.Error) {
        switch error {
        case LanguageModelError.contextSizeExceeded(let details):
            self = .exceededContextWindowSize(Context(debugDescription: details.debugDescription))
        case LanguageModelError.guardrailViolation(let details):
            self = .guardrailViolation(Context(debugDescription: details.debugDescription))
        case LanguageModelError.unsupportedGenerationGuide(let details):
            self = .unsupportedGuide(Context(debugDescription: details.debugDescription))
        case LanguageModelError.unsupportedLanguageOrLocale(let details):
            self = .unsupportedLanguageOrLocale(Context(debugDescription: details.debugDescription))
        case LanguageModelError.rateLimited(let details):
            self = .rateLimited(Context(debugDescription: details.debugDescription))
        case LanguageModelError.refusal(let details):
            let entry = Transcript.Entry.response(
                Transcript.Response(
                    metadata: [:], segments: [.text(Transcript.TextSegment(content: details.explanationText))]))
            self = .refusal(
                Refusal(transcriptEntries: [entry]), Context(debugDescription: details.debugDescription))
        case SystemLanguageModel.Error.assetsUnavailable(let details):
            self = .assetsUnavailable(Context(debugDescription: details.debugDescription))
        case let error as GeneratedContent.ParsingError:
            self = .decodingFailure(Context(debugDescription: error.debugDescription))
        case LanguageModelSession.Error.concurrentRequests:
            self = .concurrentRequests(
                Context(debugDescription: LanguageModelSession.Error.concurrentRequests.debugDescription))
        default: return nil
        }
    }
}

/// The error that the caller of a session gets for an error inside.
func surfaced(_ error: any Error) -> any Error {
    #if GenerationErrors
    return LanguageModelSession.GenerationError(translating: error) ?? error
    #else
    return error
    #endif
}
