/// A type whose values can be part of instructions.
public protocol InstructionsRepresentable {
    /// The value as instructions.
    @InstructionsBuilder var instructionsRepresentation: Instructions { get }
}

extension String: InstructionsRepresentable {
    public var instructionsRepresentation: Instructions { Instructions(parts: [.text(self)]) }
}

extension Array: InstructionsRepresentable where Element: InstructionsRepresentable {
    public var instructionsRepresentation: Instructions {
        var parts: [ContentPart] = []
        for element in self { parts.appendLines(element.instructionsRepresentation.parts) }
        return Instructions(parts: parts)
    }
}
