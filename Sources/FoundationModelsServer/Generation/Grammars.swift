import GuidedGeneration
import Inference
import JSON
import Synchronization

/// Compiled constraints, which take longer to make than to use.
final class Grammars: Sendable {
    private static let limit = 64
    private let known = Mutex<[ExactText: Grammar]>([:])

    /// - Parameter path: Where the request has the schema, for the error.
    func schema(_ schema: JSONValue, path: String) throws(APIError) -> Grammar {
        let key = ExactText(schema.text())
        if let grammar = known.withLock({ $0[key] }) { return grammar }
        let grammar: Grammar
        do {
            // With a space after ',' and ':', as models have seen most JSON written.
            grammar = try Grammar.jsonSchema(schema, options: SchemaOptions(isSpaced: true))
        } catch {
            throw .invalid(path, code: "unsupported_schema", "The schema cannot be enforced: \(error).")
        }
        known.withLock { known in
            if known.count == Self.limit { known = [:] }
            known[key] = grammar
        }
        return grammar
    }
}
