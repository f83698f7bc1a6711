/// A piece of what is said to a model: of a prompt, or of instructions.
package enum ContentPart: Sendable, Equatable {
    case text(String)
    case structure(GeneratedContent)
    case attachment(Transcript.AttachmentSegment)

    /// Content as a model reads it best: a string as plain text, everything else with its structure.
    package init(_ content: GeneratedContent) {
        self = if case .string(let text) = content.node { .text(text) } else { .structure(content) }
    }
}

extension [ContentPart] {
    /// Adds parts after these. Text that follows text is put on a line of its own.
    package mutating func appendLines(_ parts: [ContentPart]) {
        for part in parts {
            if case .text(let line) = part, case .text(let lines)? = last {
                self[count - 1] = .text(lines + "\n" + line)
            } else {
                append(part)
            }
        }
    }
}
