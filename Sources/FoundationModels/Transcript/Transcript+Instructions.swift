import Foundation

extension Transcript {
    /// What the model was told before the conversation.
    public struct Instructions: Sendable, Identifiable, Equatable {
        public var id: String
        public var segments: [Segment]
        /// The tools that the model may call. Definitions stand here and never in the text.
        public var toolDefinitions: [ToolDefinition]

        public init(id: String = UUID().uuidString, segments: [Segment], toolDefinitions: [ToolDefinition]) {
            self.id = id
            self.segments = segments
            self.toolDefinitions = toolDefinitions
        }
    }

    /// A tool as a model sees it.
    public struct ToolDefinition: Sendable, Equatable {
        public var name: String
        public var description: String
        /// The schema of the arguments.
        public var parameters: GenerationSchema

        /// Whether the definition is written into the prompt. A tool that is not can still be called, its arguments still follow
        /// the schema.
        package var isIncludedInInstructions = true

        public init(name: String, description: String, parameters: GenerationSchema) {
            self.name = name
            self.description = description
            self.parameters = parameters
        }

        public init(tool: some Tool) {
            self.init(name: tool.name, description: tool.description, parameters: tool.parameters)
            isIncludedInInstructions = tool.includesSchemaInInstructions
        }

        public static func == (left: ToolDefinition, right: ToolDefinition) -> Bool {
            left.name == right.name && left.description == right.description
                && left.isIncludedInInstructions == right.isIncludedInInstructions
                && left.parameters.hasSameContent(as: right.parameters)
        }
    }
}
