import JSON
import Synchronization

/// The grammars of JSON Schemas, which take longer to make than to use. A cache that is full begins anew.
package final class GrammarCache: Sendable {
    package static let limit = 64

    private let options: SchemaOptions
    private let known = Mutex<[ExactText: Grammar]>([:])

    package init(options: SchemaOptions) { self.options = options }

    /// The grammars that are kept.
    package var count: Int { known.withLock { $0.count } }

    package func grammar(for schema: JSONValue) throws(GrammarError) -> Grammar {
        let key = ExactText(schema.text())
        if let grammar = known.withLock({ $0[key] }) { return grammar }
        let grammar = try Grammar.jsonSchema(schema, options: options)
        known.withLock { known in
            if known.count == Self.limit { known = [:] }
            known[key] = grammar
        }
        return grammar
    }
}
