import Foundation

extension GeneratedContent {
    /// Why generated content cannot be read, as JSON or as a type.
    public struct ParsingError: LocalizedError, Sendable {
        /// The content, as far as it was generated.
        public var rawContent: String

        /// What was thrown first, if anything.
        public var underlyingError: (any Error)?

        /// What is wrong, in a sentence.
        public var debugDescription: String

        /// Whether the content is right as far as it came.
        package private(set) var isUnfinished = false

        public init(rawContent: String, underlyingError: (any Error)? = nil, debugDescription: String) {
            self.rawContent = rawContent
            self.underlyingError = underlyingError
            self.debugDescription = debugDescription
        }

        /// The error for content that ended too early.
        /// - Parameters:
        ///   - what: What it is, to begin a sentence.
        ///   - tokenLimit: The most tokens that it might have, when it ended because of them.
        package init(
            unfinished rawContent: String, _ what: String, tokenLimit: Int?, underlyingError: (any Error)? = nil
        ) {
            let limit = tokenLimit.map { " after \($0) tokens, the most that the request allows," } ?? ""
            self.init(
                rawContent: rawContent, underlyingError: underlyingError,
                debugDescription: "\(what) ended\(limit) before the content was complete. Allow more response tokens.")
            isUnfinished = true
        }
    }
}

extension GeneratedContent.ParsingError: CustomDebugStringConvertible {}

extension GeneratedContent.ParsingError {
    public var errorDescription: String? { debugDescription }
}
