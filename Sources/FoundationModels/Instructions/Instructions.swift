/// What a model is to keep to in every answer of a session.
///
/// Made of everything that is ``InstructionsRepresentable``: strings, generable values, and blocks of them. Text that follows text is put on a
/// line of its own.
public struct Instructions: Sendable {
    /// The pieces in their order, adjacent text joined.
    package var parts: [ContentPart]

    package init(parts: [ContentPart]) { self.parts = parts }
}

extension Instructions {
    /// Makes instructions from one value.
    public init(_ content: some InstructionsRepresentable) {
        self = content.instructionsRepresentation
    }

    /// Makes instructions from a block of values.
    public init(@InstructionsBuilder _ content: () throws -> Instructions) rethrows {
        self = try content()
    }

    @usableFromInline
    internal init<each Component: InstructionsRepresentable>(_ components: repeat each Component) {
        parts = []
        for component in repeat each components {
            parts.appendLines(component.instructionsRepresentation.parts)
        }
    }
}

extension Instructions: InstructionsRepresentable {
    // The `return` keeps the builder that the protocol declares away: its block would ask for this very value, without end.
    public var instructionsRepresentation: Instructions { return self }
}
