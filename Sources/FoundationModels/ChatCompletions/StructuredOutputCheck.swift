import GuidedGeneration
import JSON

/// Holds generated JSON text against a schema, with the automaton that guides our own engine.
///
/// White space and the order of properties are free: the value is written in canonical form before the automaton reads it.
package struct StructuredOutputCheck: Sendable {
    private static let bytes = TokenTrie(tokens: (0...255).map { [UInt8($0)] }, stopTokens: [])

    private let grammar: Grammar
    private let schema: JSONValue

    /// - Throws: `LanguageModelError.unsupportedGenerationGuide` for a schema that has no automaton.
    package init(_ schema: GenerationSchema, name: String) throws {
        self.schema = schema.enforcedSchema
        do throws(GrammarError) {
            grammar = try Grammar.jsonSchema(self.schema, options: SchemaOptions(keepsIntegersReadable: true))
        } catch {
            throw LanguageModelError.unsupportedGenerationGuide(.init(schemaName: name, debugDescription: "\(error)"))
        }
    }

    /// - Parameters:
    ///   - what: What the text is, to begin a sentence.
    ///   - wasCut: Whether the text ended because no more tokens were allowed.
    ///   - tokenLimit: How many were, where the request says so.
    /// - Returns: The value with its properties in the schema's order; nil when the text has them so.
    /// - Throws: `GeneratedContent.ParsingError` for a text that does not follow the schema.
    package func canonicalText(
        of text: String, what: String, wasCut: Bool, tokenLimit: Int? = nil
    ) throws -> String? {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: text)
        } catch {
            throw wasCut
                ? GeneratedContent.ParsingError(
                    unfinished: text, what, tokenLimit: tokenLimit, underlyingError: error)
                : GeneratedContent.ParsingError(
                    rawContent: text, underlyingError: error, debugDescription: "\(what) is no JSON: \(error).")
        }
        let ordered = value.withPlainIntegers.ordered(by: schema)
        let canonical = ordered.text()
        var matcher = Matcher(grammar, trie: Self.bytes)
        var accepted = 0
        for byte in canonical.utf8 {
            guard matcher.accept(bytes: CollectionOfOne(byte)) else { break }
            accepted += 1
        }
        guard accepted == canonical.utf8.count, matcher.isAccepting else {
            let good = String(decoding: canonical.utf8.prefix(accepted).suffix(60), as: UTF8.self)
            let bad = String(decoding: canonical.utf8.dropFirst(accepted).prefix(40), as: UTF8.self)
            throw GeneratedContent.ParsingError(
                rawContent: text,
                debugDescription:
                    "\(what) does not follow its schema: after \"\(good)\" there must not come \"\(bad)\".")
        }
        return ordered.text() == value.withPlainIntegers.text() ? nil : ordered.text(spaced: true)
    }
}

extension JSONValue {
    /// The value with each number that is an integer written as one: `3.0` and `3e0` become `3`.
    fileprivate var withPlainIntegers: JSONValue {
        switch self {
        case .number(let number): number.intValue.map { .number(JSONNumber($0)) } ?? self
        case .array(let elements): .array(elements.map(\.withPlainIntegers))
        case .object(let object): .object(JSONObject(object.map { ($0.key, $0.value.withPlainIntegers) }))
        default: self
        }
    }
}
