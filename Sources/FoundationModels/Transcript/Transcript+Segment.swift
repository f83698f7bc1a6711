import Foundation

extension Transcript {
    /// A part of an entry's content.
    public enum Segment: Sendable, Identifiable, Equatable {
        case text(TextSegment)
        case structure(StructuredSegment)
        case attachment(AttachmentSegment)

        public var id: String {
            switch self {
            case .text(let segment): segment.id
            case .structure(let segment): segment.id
            case .attachment(let segment): segment.id
            }
        }
    }

    /// Text.
    public struct TextSegment: Sendable, Identifiable, Equatable {
        public var id: String
        public var content: String

        public init(id: String = UUID().uuidString, content: String) {
            self.id = id
            self.content = content
        }
    }

    /// A value that follows a schema.
    public struct StructuredSegment: Sendable, Identifiable, Equatable {
        public var id: String
        /// The name of the schema that the content follows.
        public var schemaName: String
        public var content: GeneratedContent {
            didSet { generatedText = nil }
        }

        /// The content as the model wrote it, when a model did: rendering the very same text again keeps the tokens, and with
        /// them the cached prefix.
        package var generatedText: String?

        public init(id: String = UUID().uuidString, schemaName: String, content: GeneratedContent) {
            self.id = id
            self.schemaName = schemaName
            self.content = content
        }

        @available(*, deprecated, renamed: "init(id:schemaName:content:)")
        public init(id: String = UUID().uuidString, source: String, content: GeneratedContent) {
            self.init(id: id, schemaName: source, content: content)
        }

        @available(*, deprecated, renamed: "schemaName")
        public var source: String {
            get { schemaName }
            set { schemaName = newValue }
        }

        /// The text that stands for the content in a prompt.
        package var text: String { generatedText ?? content.jsonString }

        public static func == (left: StructuredSegment, right: StructuredSegment) -> Bool {
            left.id == right.id && left.schemaName == right.schemaName && left.content == right.content
        }
    }
}

extension Transcript.Segment {
    /// The text of the segment as a model reads it; nil for an attachment.
    package var text: String? {
        switch self {
        case .text(let segment): segment.content
        case .structure(let segment): segment.text
        case .attachment: nil
        }
    }

    /// Whether two segments say the same, whatever their identifiers.
    func hasSameContent(as other: Transcript.Segment) -> Bool {
        switch (self, other) {
        case (.text(let left), .text(let right)): left.content == right.content
        case (.structure(let left), .structure(let right)):
            left.schemaName == right.schemaName && left.content == right.content
        case (.attachment(let left), .attachment(let right)):
            left.content == right.content && left.label == right.label
        default: false
        }
    }
}

extension Sequence<Transcript.Segment> {
    /// The text of all segments that have one, joined.
    package var joinedText: String { compactMap(\.text).joined() }
}
