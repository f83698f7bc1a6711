import JSON

/// What a schema's compilation may choose.
package struct SchemaOptions: Hashable, Sendable {
    /// Whether a space follows `,` and `:`. White space is canonical either way: there is none but this.
    package var isSpaced: Bool
    /// Whether `format` is enforced. JSON Schema 2020-12 makes it an annotation unless a vocabulary asks for more.
    package var enforcesFormats: Bool

    package init(isSpaced: Bool = false, enforcesFormats: Bool = true) {
        self.isSpaced = isSpaced
        self.enforcesFormats = enforcesFormats
    }
}

/// The texts that an output may be.
package struct Grammar: Sendable {
    /// The JSON texts, in canonical form, of the values that a JSON Schema allows.
    package static func jsonSchema(
        _ schema: JSONValue, options: SchemaOptions = .init()
    ) throws(GrammarError) -> Grammar {
        throw GrammarError(.unsupported, keyword: "schema", path: "#", "not built yet")
    }

    /// The texts that a regular expression matches as a whole.
    package static func regex(_ pattern: String) throws(GrammarError) -> Grammar {
        throw GrammarError(.unsupported, keyword: "regex", "not built yet")
    }

    /// One of a set of texts.
    package static func choice(_ texts: [String]) throws(GrammarError) -> Grammar {
        throw GrammarError(.unsupported, keyword: "choice", "not built yet")
    }
}
