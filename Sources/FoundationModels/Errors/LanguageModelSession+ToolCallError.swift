import Foundation

extension LanguageModelSession {
    /// A tool threw, or its arguments could not be read.
    public struct ToolCallError: Swift.Error, LocalizedError {
        public var tool: any Tool
        public var underlyingError: any Swift.Error

        public init(tool: any Tool, underlyingError: any Swift.Error) {
            self.tool = tool
            self.underlyingError = underlyingError
        }

        public var errorDescription: String? {
            "The tool \"\(tool.name)\" failed: \(underlyingError.localizedDescription)"
        }
    }

    /// The model called a tool that the session does not have.
    public struct UndefinedToolError: LocalizedError, Hashable {
        public let toolName: String
        /// The tools that could have been called.
        public let availableToolNames: [String]

        public init(toolName: String, availableToolNames: [String]) {
            self.toolName = toolName
            self.availableToolNames = availableToolNames
        }

        public var errorDescription: String? {
            let available =
                availableToolNames.isEmpty
                ? "none is enabled" : "it may call \(availableToolNames.joined(separator: ", "))"
            return "The model called a tool \"\(toolName)\" that it was not given; \(available)."
        }
    }
}

/// Stands in a ``LanguageModelSession/ToolCallError`` for a tool that does not exist.
struct UndefinedTool: Tool {
    let name: String
    let description = "A tool that the model called without having been given it."
    var parameters: GenerationSchema { GeneratedContent.generationSchema }

    func call(arguments: GeneratedContent) async throws -> String {
        throw LanguageModelSession.UndefinedToolError(toolName: name, availableToolNames: [])
    }
}
