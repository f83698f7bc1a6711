import Foundation

/// An image of the conversation, by its label. A model can give one as an answer or hand it to a tool.
public struct ImageReference: Sendable, Equatable {
    public let attachmentLabel: String
}

extension ImageReference {
    /// The image that the reference means: the last one with its label.
    ///
    /// - Returns: nil when no image of the entries has the label.
    public func resolved(in transcript: some Sequence<Transcript.Entry>) -> Transcript.ImageAttachment? {
        var found: Transcript.ImageAttachment?
        for entry in transcript {
            for case .attachment(let segment) in entry.segments where segment.label == attachmentLabel {
                switch segment.content {
                case .image(let image): found = image
                }
            }
        }
        return found
    }
}

extension ImageReference: Generable {
    public nonisolated struct PartiallyGenerated: Identifiable, ConvertibleFromGeneratedContent, Equatable, Sendable {
        public var id: GenerationID
        public var attachmentLabel: String.PartiallyGenerated?

        public nonisolated init(_ content: GeneratedContent) throws {
            id = content.id ?? GenerationID()
            attachmentLabel = try content.value(String?.self, forProperty: "attachmentLabel")
        }
    }

    public nonisolated static var generationSchema: GenerationSchema {
        GenerationSchema(
            type: Self.self,
            properties: [
                GenerationSchema.Property(
                    name: "attachmentLabel", description: "The label of an image of the conversation.",
                    type: String.self)
            ])
    }

    public nonisolated var generatedContent: GeneratedContent {
        GeneratedContent(properties: ["attachmentLabel": attachmentLabel])
    }

    public nonisolated init(_ content: GeneratedContent) throws {
        attachmentLabel = try content.value(String.self, forProperty: "attachmentLabel")
    }
}
