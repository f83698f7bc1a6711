/// What a regular expression says, as far as its language goes: groups and the greed of repetitions are gone.
indirect enum RegexSyntax: Hashable, Sendable {
    case empty
    case set(ScalarSet)
    case sequence([RegexSyntax])
    case alternatives([RegexSyntax])
    case repetition(RegexSyntax, minimum: Int, maximum: Int?)
    case start
    case end
}

/// Whose rules a pattern is read by where they differ.
enum RegexDialect: Hashable, Sendable {
    /// ECMA-262, which JSON Schema's `pattern` follows: shorthands are ASCII, white space is Unicode's.
    case ecmaScript
    /// Swift's `Regex`: shorthands are Unicode's, classes nest and have set operations.
    case swift
}

/// Why a pattern has no automaton.
struct RegexError: Error, Hashable, Sendable {
    var reason: GrammarError.Reason
    var message: String
}
