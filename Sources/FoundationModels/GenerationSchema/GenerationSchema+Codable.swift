import JSON

extension GenerationSchema: Codable {
    /// Reads a JSON Schema document. All of its keywords are kept; those that cannot be enforced are refused, by their names, when
    /// the schema is used.
    ///
    /// A decoder does not tell the order of an object's keys. Properties are generated in the order of `x-order`, and where that
    /// is missing, the required ones in the order of `required` and then the others sorted by name.
    public init(from decoder: any Decoder) throws {
        let value = try JSONValue(from: decoder)
        guard case .object(let document) = value else {
            throw DecodingError.typeMismatch(
                GenerationSchema.self,
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "A schema is a JSON object; found \(value.kind)."))
        }
        self.init(document: SchemaDocument.orderingProperties(of: document))
    }

    public func encode(to encoder: any Encoder) throws {
        try publishedSchema.encode(to: encoder)
    }
}

extension GenerationSchema: CustomDebugStringConvertible {
    /// The schema as JSON text.
    public var debugDescription: String { publishedSchema.text(indent: 2) }
}
