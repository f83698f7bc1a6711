/// Why a schema, a pattern or a set of choices cannot be enforced. Thrown before the first token; nothing is ever ignored.
package struct GrammarError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        /// The keyword, or this use of it, has no automaton here.
        case unsupported
        /// The schema says something that JSON Schema does not allow, such as a negative `minLength`.
        case invalid
        /// A reference that leads nowhere, or only to itself.
        case unresolvable
        /// No value satisfies the schema.
        case unsatisfiable
        /// The automaton would be larger than the limits allow.
        case tooComplex
    }

    package let reason: Reason
    /// What cannot be enforced: a keyword of JSON Schema (`uniqueItems`) or `regex`.
    package let keyword: String
    /// Where it stands, as a JSON pointer into the schema (`#/properties/name`); empty for a grammar that is no schema.
    package let path: String
    /// What is wrong with it, and what would do.
    package let message: String

    package init(_ reason: Reason, keyword: String, path: String = "", _ message: String) {
        self.reason = reason
        self.keyword = keyword
        self.path = path
        self.message = message
    }

    package var description: String {
        path.isEmpty ? "'\(keyword)': \(message)" : "'\(keyword)' at \(path): \(message)"
    }
}
