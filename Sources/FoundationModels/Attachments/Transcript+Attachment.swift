import Foundation

extension Transcript {
    /// Something beside text, such as an image.
    public struct AttachmentSegment: Sendable, Identifiable, Equatable {
        public var id: String
        public var content: Attachment
        /// The name by which a tool or a response can speak of it.
        public var label: String?

        public init(id: String = UUID().uuidString, content: Attachment, label: String? = nil) {
            self.id = id
            self.content = content
            self.label = label
        }
    }

    public enum Attachment: Sendable, Equatable {
        case image(ImageAttachment)
    }

    /// An image, in a file, encoded in memory, or as pixels.
    public struct ImageAttachment: Sendable, Equatable {
        package enum Source: Sendable, Equatable {
            case url(URL)
            /// The bytes of an image file.
            case data(Data)
            case image(CGImage)
        }

        package let source: Source
        private let givenOrientation: CGImagePropertyOrientation?

        package init(source: Source, orientation: CGImagePropertyOrientation? = nil) {
            self.source = source
            givenOrientation = orientation
        }

        /// Where the image lies; nil when it is in memory.
        public var url: URL? {
            if case .url(let url) = source { url } else { nil }
        }

        /// How the image has to be turned to be upright, on top of what its file says.
        public var orientation: CGImagePropertyOrientation { givenOrientation ?? .up }

        package var explicitOrientation: CGImagePropertyOrientation? { givenOrientation }

        public init(_ cgImage: CGImage, orientation: CGImagePropertyOrientation? = nil) {
            self.init(source: .image(cgImage), orientation: orientation)
        }

        public init(imageURL: URL, orientation: CGImagePropertyOrientation? = nil) {
            self.init(source: .url(imageURL), orientation: orientation)
        }

        /// - Parameter imageData: The bytes of an image file, as PNG or JPEG.
        public init(imageData: Data, orientation: CGImagePropertyOrientation? = nil) {
            self.init(source: .data(imageData), orientation: orientation)
        }
    }
}
