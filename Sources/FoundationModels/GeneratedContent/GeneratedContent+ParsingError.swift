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

        public init(rawContent: String, underlyingError: (any Error)? = nil, debugDescription: String) {
            self.rawContent = rawContent
            self.underlyingError = underlyingError
            self.debugDescription = debugDescription
        }
    }
}

extension GeneratedContent.ParsingError: CustomDebugStringConvertible {}

extension GeneratedContent.ParsingError {
    public var errorDescription: String? { debugDescription }
}
