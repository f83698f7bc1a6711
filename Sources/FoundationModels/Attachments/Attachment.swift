import Foundation

/// Something beside text that goes into a prompt or into instructions.
public struct Attachment<Content> {
    let content: Transcript.Attachment
    private let name: String?

    init(content: Transcript.Attachment, label: String?) {
        self.content = content
        name = label
    }

    /// The same attachment with a name, by which tools and responses can speak of it.
    public func label(_ label: String) -> Attachment<Content> {
        Attachment(content: content, label: label)
    }

    var segment: Transcript.AttachmentSegment { Transcript.AttachmentSegment(content: content, label: name) }
}

extension Attachment: Sendable where Content: Sendable {}

extension Attachment: PromptRepresentable, InstructionsRepresentable {
    public var promptRepresentation: Prompt { Prompt(parts: [.attachment(segment)]) }
    public var instructionsRepresentation: Instructions { Instructions(parts: [.attachment(segment)]) }
}

/// The kind of an attachment that is an image.
public struct ImageAttachmentContent: Sendable, Equatable {}

extension Attachment where Content == ImageAttachmentContent {
    public init(_ cgImage: CGImage, orientation: CGImagePropertyOrientation? = nil) {
        self.init(content: .image(Transcript.ImageAttachment(cgImage, orientation: orientation)), label: nil)
    }

    public init(imageURL: URL, orientation: CGImagePropertyOrientation? = nil) {
        self.init(
            content: .image(Transcript.ImageAttachment(imageURL: imageURL, orientation: orientation)), label: nil)
    }

    /// - Parameter imageData: The bytes of an image file, as PNG or JPEG.
    public init(imageData: Data, orientation: CGImagePropertyOrientation? = nil) {
        self.init(
            content: .image(Transcript.ImageAttachment(imageData: imageData, orientation: orientation)), label: nil)
    }
}
