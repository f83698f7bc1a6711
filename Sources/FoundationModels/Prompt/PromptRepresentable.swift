/// A type whose values can be part of a prompt.
public protocol PromptRepresentable {
    /// The value as a prompt.
    @PromptBuilder var promptRepresentation: Prompt { get }
}

extension String: PromptRepresentable {
    public var promptRepresentation: Prompt { Prompt(parts: [.text(self)]) }
}

extension Array: PromptRepresentable where Element: PromptRepresentable {
    public var promptRepresentation: Prompt {
        var parts: [ContentPart] = []
        for element in self { parts.appendLines(element.promptRepresentation.parts) }
        return Prompt(parts: parts)
    }
}
