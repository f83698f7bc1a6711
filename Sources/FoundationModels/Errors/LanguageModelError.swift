import Foundation

/// What can go wrong when a model answers.
public enum LanguageModelError: LocalizedError {
    /// The conversation has more tokens than the model can read at once.
    case contextSizeExceeded(ContextSizeExceeded)
    /// The provider asks to come back later.
    case rateLimited(RateLimited)
    /// A safety check stopped the prompt or the response.
    case guardrailViolation(GuardrailViolation)
    /// The model declined to answer.
    case refusal(Refusal)
    /// The model cannot do what the request needs.
    case unsupportedCapability(UnsupportedCapability)
    /// The model cannot read some entries of the transcript.
    case unsupportedTranscriptContent(UnsupportedTranscriptContent)
    /// A schema or guide cannot be enforced.
    case unsupportedGenerationGuide(UnsupportedGenerationGuide)
    /// The model does not support the language that was asked for.
    case unsupportedLanguageOrLocale(UnsupportedLanguageOrLocale)
    /// The model took too long.
    case timeout(Timeout)
}

extension LanguageModelError {
    public struct ContextSizeExceeded: Sendable {
        /// The number of tokens that the model can read at once.
        public var contextSize: Int
        /// The number of tokens that the request has.
        public var tokenCount: Int
        public var debugDescription: String
        public var metadata: [String: any Sendable]

        public init(
            contextSize: Int, tokenCount: Int, debugDescription: String, metadata: [String: any Sendable] = [:]
        ) {
            self.contextSize = contextSize
            self.tokenCount = tokenCount
            self.debugDescription = debugDescription
            self.metadata = metadata
        }
    }

    public struct RateLimited: Sendable {
        /// When requests are taken again, where known.
        public var resetDate: Date?
        public var debugDescription: String
        public var metadata: [String: any Sendable]

        public init(resetDate: Date?, debugDescription: String, metadata: [String: any Sendable] = [:]) {
            self.resetDate = resetDate
            self.debugDescription = debugDescription
            self.metadata = metadata
        }
    }

    public struct GuardrailViolation: Sendable {
        public var debugDescription: String
        public var metadata: [String: any Sendable]

        public init(debugDescription: String, metadata: [String: any Sendable] = [:]) {
            self.debugDescription = debugDescription
            self.metadata = metadata
        }
    }

    public struct UnsupportedCapability: Sendable {
        public var capability: LanguageModelCapabilities.Capability
        public var debugDescription: String
        public var metadata: [String: any Sendable]

        public init(
            capability: LanguageModelCapabilities.Capability, debugDescription: String,
            metadata: [String: any Sendable] = [:]
        ) {
            self.capability = capability
            self.debugDescription = debugDescription
            self.metadata = metadata
        }
    }

    public struct UnsupportedTranscriptContent: Sendable {
        public var unsupportedContent: [Transcript.Entry]
        public var debugDescription: String
        public var metadata: [String: any Sendable]

        public init(
            unsupportedContent: [Transcript.Entry], debugDescription: String, metadata: [String: any Sendable] = [:]
        ) {
            self.unsupportedContent = unsupportedContent
            self.debugDescription = debugDescription
            self.metadata = metadata
        }
    }

    public struct UnsupportedGenerationGuide: Sendable {
        /// The name of the schema that the guide stands in, where known.
        public var schemaName: String?
        public var debugDescription: String
        public var metadata: [String: any Sendable]

        public init(schemaName: String?, debugDescription: String, metadata: [String: any Sendable] = [:]) {
            self.schemaName = schemaName
            self.debugDescription = debugDescription
            self.metadata = metadata
        }
    }

    public struct UnsupportedLanguageOrLocale: Sendable {
        public var languageCode: Locale.LanguageCode
        public var debugDescription: String
        public var metadata: [String: any Sendable]

        public init(
            languageCode: Locale.LanguageCode, debugDescription: String, metadata: [String: any Sendable] = [:]
        ) {
            self.languageCode = languageCode
            self.debugDescription = debugDescription
            self.metadata = metadata
        }
    }

    public struct Timeout: Sendable {
        public var debugDescription: String
        public var metadata: [String: any Sendable]

        public init(debugDescription: String, metadata: [String: any Sendable] = [:]) {
            self.debugDescription = debugDescription
            self.metadata = metadata
        }
    }
}

extension LanguageModelError.ContextSizeExceeded {
    /// Stands in the metadata where ``tokenCount`` was not counted: there are as many at least.
    package static let lowerBoundKey = "token_count_is_lower_bound"

    var isLowerBound: Bool { metadata[Self.lowerBoundKey] as? Bool == true }
}

extension LanguageModelError: CustomDebugStringConvertible {
    public var debugDescription: String {
        switch self {
        case .contextSizeExceeded(let details): details.debugDescription
        case .rateLimited(let details): details.debugDescription
        case .guardrailViolation(let details): details.debugDescription
        case .refusal(let details): details.debugDescription
        case .unsupportedCapability(let details): details.debugDescription
        case .unsupportedTranscriptContent(let details): details.debugDescription
        case .unsupportedGenerationGuide(let details): details.debugDescription
        case .unsupportedLanguageOrLocale(let details): details.debugDescription
        case .timeout(let details): details.debugDescription
        }
    }

    public var errorDescription: String? {
        switch self {
        case .contextSizeExceeded(let details):
            "The conversation has \(details.isLowerBound ? "at least " : "")\(details.tokenCount) tokens, more than the "
                + "\(details.contextSize) that the model can read at once. \(details.debugDescription)"
        case .rateLimited(let details):
            "The model does not take requests at the moment"
                + (details.resetDate.map { "; it will again at \($0.formatted(.iso8601))" } ?? "")
                + ". \(details.debugDescription)"
        case .guardrailViolation(let details): "A safety check stopped the request. \(details.debugDescription)"
        case .refusal(let details): "The model declined to answer. \(details.debugDescription)"
        case .unsupportedCapability(let details):
            "The model does not support \(details.capability). \(details.debugDescription)"
        case .unsupportedTranscriptContent(let details):
            "The model cannot read all of the transcript. \(details.debugDescription)"
        case .unsupportedGenerationGuide(let details):
            "The schema\(details.schemaName.map { " \"\($0)\"" } ?? "") cannot be enforced. \(details.debugDescription)"
        case .unsupportedLanguageOrLocale(let details):
            "The model does not support the language \"\(details.languageCode.identifier)\". \(details.debugDescription)"
        case .timeout(let details): "The model took too long. \(details.debugDescription)"
        }
    }
}
