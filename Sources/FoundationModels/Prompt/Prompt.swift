/// What a program asks of a model.
///
/// Made of everything that is ``PromptRepresentable``: strings, generable values, and blocks of them. Text that follows text is put on a
/// line of its own.
public struct Prompt: Sendable {
    /// The pieces in their order, adjacent text joined.
    package var parts: [ContentPart]

    package init(parts: [ContentPart]) { self.parts = parts }
}

extension Prompt {
    /// Makes a prompt from one value.
    public init(_ content: some PromptRepresentable) {
        self = content.promptRepresentation
    }

    /// Makes a prompt from a block of values.
    public init(@PromptBuilder _ content: () throws -> Prompt) rethrows {
        self = try content()
    }

    @usableFromInline
    internal init<each Component: PromptRepresentable>(_ components: repeat each Component) {
        parts = []
        for component in repeat each components {
            parts.appendLines(component.promptRepresentation.parts)
        }
    }
}

extension Prompt: PromptRepresentable {
    // The `return` keeps the builder that the protocol declares away: its block would ask for this very value, without end.
    public var promptRepresentation: Prompt { return self }
}
