import JSON

extension Optional where Wrapped: Generable {
    public typealias PartiallyGenerated = Wrapped.PartiallyGenerated
}

extension Optional: ConvertibleToGeneratedContent, PromptRepresentable, InstructionsRepresentable
where Wrapped: ConvertibleToGeneratedContent {
    /// The content of the value, or null.
    public var generatedContent: GeneratedContent { self?.generatedContent ?? GeneratedContent(node: .null) }

    /// The value, or nothing.
    public var promptRepresentation: Prompt { self?.promptRepresentation ?? Prompt() }

    /// The value, or nothing.
    public var instructionsRepresentation: Instructions { self?.instructionsRepresentation ?? Instructions() }
}

extension Array: Generable where Element: Generable {
    public typealias PartiallyGenerated = [Element.PartiallyGenerated]

    public static var generationSchema: GenerationSchema { GenerationSchema(arrayOf: Element.self) }
}

extension Array: ConvertibleToGeneratedContent where Element: ConvertibleToGeneratedContent {
    public var generatedContent: GeneratedContent {
        GeneratedContent(kind: .array(map(\.generatedContent)))
    }
}

extension Array: ConvertibleFromGeneratedContent where Element: ConvertibleFromGeneratedContent {
    /// Reads every element. The last one of an array that is still open is left out while it cannot be told: a number or the
    /// name of a case that may still go on.
    public init(_ content: GeneratedContent) throws {
        guard case .array(let contents) = content.node else { throw content.typeMismatch(expected: "an array") }
        var elements: [Element] = []
        elements.reserveCapacity(contents.count)
        for element in contents {
            if element.isComplete {
                elements.append(try Element(element))
            } else if let element = try? Element(element) {
                elements.append(element)
            }
        }
        self = elements
    }
}

extension Never: Generable {
    /// The schema that no value satisfies.
    public static var generationSchema: GenerationSchema {
        GenerationSchema(inline: ["not": [:]], name: "Never")
    }

    public init(_ content: GeneratedContent) throws {
        throw content.typeMismatch(expected: "a value of a type that has none")
    }

    public var generatedContent: GeneratedContent {
        switch self {}
    }
}
