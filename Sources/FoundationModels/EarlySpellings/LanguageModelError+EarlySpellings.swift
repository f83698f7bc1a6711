extension LanguageModelError {
    /// An error by an earlier name, to be written in `catch` and `case`.
    public struct EarlyName: Sendable {
        fileprivate let matches: @Sendable (any Error) -> Bool

        /// Now ``LanguageModelError/contextSizeExceeded(_:)``.
        public static var contextWindowExceeded: EarlyName {
            EarlyName { error in
                if case LanguageModelError.contextSizeExceeded = error { true } else { false }
            }
        }

        /// Now ``LanguageModelError/unsupportedLanguageOrLocale(_:)``.
        public static var unsupportedLanguage: EarlyName {
            EarlyName { error in
                if case LanguageModelError.unsupportedLanguageOrLocale = error { true } else { false }
            }
        }

        public static func ~= (name: EarlyName, error: any Error) -> Bool { name.matches(error) }
    }

    @available(*, deprecated, renamed: "contextSizeExceeded")
    public static var contextWindowExceeded: EarlyName { .contextWindowExceeded }

    @available(*, deprecated, renamed: "unsupportedLanguageOrLocale")
    public static var unsupportedLanguage: EarlyName { .unsupportedLanguage }
}
