import Foundation

extension Transcript {
    /// The tool calls of one round.
    public struct ToolCalls: Sendable, Identifiable, Equatable {
        public var id: String
        var calls: [ToolCall]
        /// What the provider said about the round.
        package var metadata: [String: GeneratedContent] = [:]

        public init<S>(id: String = UUID().uuidString, _ calls: S) where S: Sequence, S.Element == ToolCall {
            self.id = id
            self.calls = Array(calls)
        }
    }

    /// One call of a tool.
    public struct ToolCall: Sendable, Identifiable, Equatable {
        public var id: String
        public var toolName: String
        public var arguments: GeneratedContent {
            didSet { generatedText = nil }
        }
        public var metadata: [String: GeneratedContent]

        /// The arguments as the model wrote them, when a model did.
        package var generatedText: String?

        public init(id: String, toolName: String, arguments: GeneratedContent) {
            self.init(id: id, metadata: [:], toolName: toolName, arguments: arguments)
        }

        public init(
            id: String, metadata: [String: any ConvertibleToGeneratedContent], toolName: String,
            arguments: GeneratedContent
        ) {
            self.id = id
            self.toolName = toolName
            self.arguments = arguments
            self.metadata = metadata.mapValues(\.generatedContent)
        }

        /// The JSON text of the arguments.
        package var argumentsText: String { generatedText ?? arguments.jsonString }

        public static func == (left: ToolCall, right: ToolCall) -> Bool {
            left.id == right.id && left.toolName == right.toolName && left.arguments == right.arguments
                && left.metadata == right.metadata
        }
    }

    /// What a tool call gave.
    public struct ToolOutput: Sendable, Identifiable, Equatable {
        /// The identifier of the call.
        public var id: String
        public var toolName: String
        public var segments: [Segment]

        public init(id: String, toolName: String, segments: [Segment]) {
            self.id = id
            self.toolName = toolName
            self.segments = segments
        }
    }
}

extension Transcript.ToolCalls: RandomAccessCollection {
    public subscript(position: Int) -> Transcript.ToolCall { calls[position] }
    public var startIndex: Int { calls.startIndex }
    public var endIndex: Int { calls.endIndex }
}
