import Foundation

extension Transcript {
    /// What the user asked, with what was asked for around it.
    public struct Prompt: Sendable, Identifiable, Equatable {
        public var id: String
        public var segments: [Segment]
        public var options: GenerationOptions
        public var contextOptions: ContextOptions
        public var metadata: [String: GeneratedContent]
        /// The form that the response must have; nil for text.
        public var responseFormat: ResponseFormat?

        public init(
            id: String = UUID().uuidString, metadata: [String: any ConvertibleToGeneratedContent] = [:],
            segments: [Segment], options: GenerationOptions = GenerationOptions(),
            responseFormat: ResponseFormat? = nil, contextOptions: ContextOptions = ContextOptions()
        ) {
            self.id = id
            self.segments = segments
            self.options = options
            self.contextOptions = contextOptions
            self.metadata = metadata.mapValues(\.generatedContent)
            self.responseFormat = responseFormat
        }

        public init(
            id: String = UUID().uuidString, segments: [Segment], options: GenerationOptions = GenerationOptions(),
            responseFormat: ResponseFormat? = nil
        ) {
            self.init(
                id: id, metadata: [:], segments: segments, options: options, responseFormat: responseFormat,
                contextOptions: ContextOptions())
        }
    }

    /// The form of a response.
    public struct ResponseFormat: Sendable, Equatable {
        /// What kind of form it is.
        public enum Kind: Sendable, Equatable {
            case schema(GenerationSchema)

            public static func == (left: Kind, right: Kind) -> Bool {
                switch (left, right) {
                case (.schema(let left), .schema(let right)): left.hasSameContent(as: right)
                }
            }
        }

        public let kind: Kind
        public let name: String

        public init<Content>(type: Content.Type) where Content: Generable {
            self.init(schema: type.generationSchema)
        }

        public init(schema: GenerationSchema) {
            self.init(name: schema.name, schema: schema)
        }

        init(name: String, schema: GenerationSchema) {
            self.name = name
            kind = .schema(schema)
        }

        package var schema: GenerationSchema {
            switch kind {
            case .schema(let schema): schema
            }
        }
    }
}
