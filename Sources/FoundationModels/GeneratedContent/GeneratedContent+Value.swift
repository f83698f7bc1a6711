extension GeneratedContent {
    /// Reads the content as a type.
    ///
    /// - Throws: ``ParsingError`` when the content has another shape, or what the type throws itself.
    public func value<Value>(_ type: Value.Type = Value.self) throws -> Value
    where Value: ConvertibleFromGeneratedContent {
        try Value(self)
    }

    /// Reads a property as a type.
    ///
    /// - Throws: ``ParsingError`` when this is not a structure, has no such property or has it in another shape.
    public func value<Value>(_ type: Value.Type = Value.self, forProperty property: String) throws -> Value
    where Value: ConvertibleFromGeneratedContent {
        guard let content = try content(ofProperty: property) else {
            throw ParsingError(
                rawContent: jsonString,
                debugDescription: "GeneratedContent does not contain a property '\(property)'.")
        }
        return try Value(content)
    }

    /// Reads a property as a type, when it is there.
    ///
    /// - Returns: Nil when the property is missing or null, or has begun but cannot be told yet: a number or the name of a
    ///   case that may still go on.
    /// - Throws: ``ParsingError`` when this is not a structure or has the property, complete, in another shape.
    public func value<Value>(_ type: Value?.Type = Value?.self, forProperty property: String) throws -> Value?
    where Value: ConvertibleFromGeneratedContent {
        guard let content = try content(ofProperty: property) else { return nil }
        if case .null = content.node { return nil }
        guard content.isComplete else { return try? Value(content) }
        return try Value(content)
    }

    private func content(ofProperty property: String) throws -> GeneratedContent? {
        guard case .structure(let properties, _) = node else { throw typeMismatch(expected: "a structure") }
        return properties[property]
    }

    /// The error for content of another type than the one that was asked for.
    package func typeMismatch(expected: String) -> ParsingError {
        let debugDescription =
            isComplete
            ? "GeneratedContent is \(node.typeName), not \(expected)."
            : "GeneratedContent ends before it is \(expected)."
        return ParsingError(rawContent: jsonString, debugDescription: debugDescription)
    }
}
