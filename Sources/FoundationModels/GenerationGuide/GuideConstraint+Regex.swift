extension GuideConstraint {
    /// The rule that a whole string matches a regular expression.
    package init<Output>(_ regex: Regex<Output>) {
        do {
            self = .pattern(try RegexPattern(regex).text)
        } catch {
            self = .unsupported(guide: "pattern", reason: "the regular expression is not supported: \(error.reason)")
        }
    }
}
