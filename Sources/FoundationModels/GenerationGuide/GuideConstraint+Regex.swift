extension GuideConstraint {
    /// The rule that a whole string matches a regular expression.
    package init<Output>(_ regex: Regex<Output>) {
        guard let literal = regex._literalPattern else {
            self = .unsupported(
                guide: "pattern",
                reason: "the regular expression has parts that are code: a transform, a custom component or a predicate"
            )
            return
        }
        self = .pattern("^(?:\(literal))$")
    }
}
