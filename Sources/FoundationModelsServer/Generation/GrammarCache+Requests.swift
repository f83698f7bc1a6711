import GuidedGeneration
import JSON

extension GrammarCache {
    /// - Parameter path: Where the request has the schema, for the error.
    func schema(_ schema: JSONValue, path: String) throws(APIError) -> Grammar {
        do throws(GrammarError) { return try grammar(for: schema) } catch {
            throw .invalid(path, code: "unsupported_schema", "The schema cannot be enforced: \(error).")
        }
    }
}
