/// A type that a model can generate, because its shape can be told as a schema.
///
/// Conform with the ``Generable(description:)`` macro rather than by hand.
public protocol Generable: ConvertibleFromGeneratedContent, ConvertibleToGeneratedContent {
    /// What is known of a value while it is still being generated.
    associatedtype PartiallyGenerated: ConvertibleFromGeneratedContent = Self

    /// The shape that generated values have.
    static var generationSchema: GenerationSchema { get }
}

extension Generable {
    /// The partially generated type of a type whose values come whole: the type itself.
    public typealias PartiallyGenerated = Self

    /// This value as one whose generation has come to its end.
    public func asPartiallyGenerated() -> Self.PartiallyGenerated {
        if let partial = self as? Self.PartiallyGenerated { return partial }
        do {
            return try Self.PartiallyGenerated(generatedContent)
        } catch {
            fatalError("\(Self.PartiallyGenerated.self) does not accept the content of a \(Self.self): \(error)")
        }
    }

    public var promptRepresentation: Prompt { Prompt(parts: [ContentPart(generatedContent)]) }

    public var instructionsRepresentation: Instructions { Instructions(parts: [ContentPart(generatedContent)]) }
}

/// A type that can be made from what a model generated.
public protocol ConvertibleFromGeneratedContent: SendableMetatype {
    /// Makes a value from generated content.
    ///
    /// - Throws: ``GeneratedContent/ParsingError`` when the content has another shape.
    init(_ content: GeneratedContent) throws
}

/// A type whose values can be shown to a model as structured content.
public protocol ConvertibleToGeneratedContent: InstructionsRepresentable, PromptRepresentable {
    /// The value as structured content.
    var generatedContent: GeneratedContent { get }
}

extension ConvertibleToGeneratedContent {
    public var instructionsRepresentation: Instructions { Instructions(parts: [ContentPart(generatedContent)]) }

    public var promptRepresentation: Prompt { Prompt(parts: [ContentPart(generatedContent)]) }
}
