import Foundation

extension SystemLanguageModel {
    /// The languages in which the model answers well.
    public var supportedLanguages: Set<Locale.Language> { backend.supportedLanguages }

    /// Whether the model answers well in the language of a locale, or in one that its speakers read as a matter of course.
    public func supportsLocale(_ locale: Locale = Locale.current) -> Bool {
        backend.supportedLanguages.supports(locale)
    }
}

extension Set<Locale.Language> {
    /// Languages whose speakers commonly read another, by their codes.
    private static var closeLanguages: [String: String] {
        [
            "ast": "es", "ca": "es", "eu": "es", "gl": "es", "nb": "da", "nn": "nb", "no": "nb", "be": "ru", "lb": "de",
            "gsw": "de", "br": "fr", "oc": "fr", "co": "fr", "sc": "it", "scn": "it", "yue": "zh",
        ]
    }

    func supports(_ locale: Locale) -> Bool {
        guard let code = locale.language.languageCode?.identifier else { return false }
        let codes = Set<String>(compactMap { $0.languageCode?.identifier })
        var candidate: String? = code
        var steps = 0
        while let current = candidate, steps < 3 {
            if codes.contains(current) { return true }
            candidate = Self.closeLanguages[current]
            steps += 1
        }
        return false
    }
}
