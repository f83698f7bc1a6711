import Foundation

extension Transcript {
    /// What the model answered.
    public struct Response: Sendable, Identifiable, Equatable {
        public var id: String
        /// The assets of the model that answered.
        public var assetIDs: [String]
        var storedMetadata: [String: GeneratedContent]
        public var segments: [Segment]

        /// What the provider said about the response.
        public var metadata: [String: GeneratedContent] { storedMetadata }

        public init(id: String = UUID().uuidString, assetIDs: [String], segments: [Segment]) {
            self.id = id
            self.assetIDs = assetIDs
            self.segments = segments
            storedMetadata = [:]
        }

        public init(
            id: String = UUID().uuidString, metadata: [String: any ConvertibleToGeneratedContent] = [:],
            segments: [Segment]
        ) {
            self.id = id
            assetIDs = []
            self.segments = segments
            storedMetadata = metadata.mapValues(\.generatedContent)
        }
    }

    /// What the model thought before it answered or called a tool.
    public struct Reasoning: Sendable, Identifiable, Equatable {
        public var id: String
        public var segments: [Segment]
        /// What the provider needs to believe its own thoughts when it reads them again.
        public var signature: Data?
        public var metadata: [String: GeneratedContent]

        public init(
            id: String = UUID().uuidString, metadata: [String: any ConvertibleToGeneratedContent] = [:],
            segments: [Segment], signature: Data? = nil
        ) {
            self.id = id
            self.segments = segments
            self.signature = signature
            self.metadata = metadata.mapValues(\.generatedContent)
        }
    }
}
