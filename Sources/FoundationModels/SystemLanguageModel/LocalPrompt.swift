import Inference
import JSON

/// A conversation as a chat template takes it.
package struct LocalPrompt: Sendable, Equatable {
    /// A part of an answer that is written for the model.
    package struct AnswerPart: Sendable, Equatable {
        package var text: String
        /// Whether the text is the template's own, whose control tokens count, and not a model's or a program's.
        package var isOfTemplate: Bool
    }

    package var messages: [ChatMessage]
    /// The tools that the template is to show; none for models that are asked about tools in plain text.
    package var tools: [ChatTool] = []
    /// Whether a model that thinks in tags is to think; the next text is then a thought, and else the answer.
    package var thinks = false
    /// What the answer begins with, thoughts included.
    package var answer: [AnswerPart] = []

    package init(messages: [ChatMessage]) { self.messages = messages }
}

extension LocalPrompt {
    /// The conversation of a transcript, with everything that it says as text: what counts as its tokens.
    package init(transcript: Transcript) {
        messages = []
        for entry in transcript {
            switch entry {
            case .instructions(let instructions):
                append(.system, instructions.segments.promptText)
                let shown = instructions.toolDefinitions.filter(\.isIncludedInInstructions)
                if !shown.isEmpty { append(.system, Self.text(of: shown)) }
            case .toolCalls(let calls):
                let text = calls.map {
                    "{\"name\": \(JSONValue.quoted($0.toolName)), \"arguments\": \($0.argumentsText)}"
                }
                append(.assistant, text.joined(separator: "\n"))
            default:
                messages += Transcript(entries: [entry]).chatMessages()
            }
        }
    }

    private mutating func append(_ role: ChatMessage.Role, _ content: String) {
        if role == .system, messages.last?.role == .system {
            messages[messages.count - 1].content += "\n\n" + content
        } else {
            messages.append(ChatMessage(role, content))
        }
    }

    /// The conversation of a transcript for a template that knows of tools and calls.
    package init(dialect transcript: Transcript, tools: [Transcript.ToolDefinition]) {
        messages = transcript.chatMessages()
        self.tools = tools.filter(\.isIncludedInInstructions).map(ChatTool.init)
    }

    /// The plain conversation from which the model answers: no definitions of tools, and what tools gave as text.
    package init(answering transcript: Transcript) {
        self.init(messages: transcript.chatMessages().answering())
    }

    /// Definitions of tools as the prompt has them.
    package static func text(of definitions: [Transcript.ToolDefinition]) -> String {
        let lines = definitions.map { definition in
            JSONValue.object([
                "name": .string(definition.name), "description": .string(definition.description),
                "parameters": definition.parameters.publishedSchema,
            ]).text(spaced: true)
        }
        return "You can use these tools:\n" + lines.joined(separator: "\n")
    }

    /// A schema as the prompt has it.
    package static func text(of schema: GenerationSchema) -> String {
        ChatMessage.schemaText(schema.publishedSchema)
    }
}

extension Transcript {
    /// The conversation as the engine takes it; definitions of tools are not part of it.
    ///
    /// - Parameter schemas: Whether prompts ask for answers under their schemas.
    func chatMessages(schemas: Bool = true) -> [ChatMessage] {
        var messages: [ChatMessage] = []
        for entry in self {
            switch entry {
            case .instructions(let instructions):
                guard !instructions.segments.isEmpty else { continue }
                let text = instructions.segments.promptText
                if let last = messages.last, last.role == .system {
                    messages[messages.count - 1].content += "\n\n" + text
                } else {
                    messages.append(ChatMessage(.system, text))
                }
            case .prompt(let prompt):
                var text = prompt.segments.promptText
                if schemas, prompt.contextOptions.includeSchemaInPrompt != false,
                    let schema = prompt.responseFormat?.schema
                {
                    text += "\n\n" + LocalPrompt.text(of: schema)
                }
                messages.append(ChatMessage(.user, text))
            case .toolCalls(let round):
                let calls = round.map {
                    ChatMessage.ToolCall(id: $0.id, name: $0.toolName, arguments: $0.arguments.jsonValue)
                }
                messages.append(ChatMessage(.assistant, "", toolCalls: calls))
            case .toolOutput(let output):
                messages.append(
                    ChatMessage(
                        .tool, output.segments.promptText, toolCallID: output.id, toolName: output.toolName))
            case .response(let response): messages.append(ChatMessage(.assistant, response.segments.promptText))
            case .reasoning:
                // Thoughts are not read again: templates of models that think leave them out too.
                continue
            }
        }
        return messages
    }
}

extension ChatTool {
    /// A tool as a model reads about it.
    init(_ definition: Transcript.ToolDefinition) {
        self.init(
            name: definition.name, description: definition.description,
            parameters: SchemaDocument.described(definition.parameters.publishedSchema))
    }
}

extension ToolChoicePrompt {
    init(_ transcript: Transcript, tools: [Transcript.ToolDefinition]) {
        self.init(
            transcript.chatMessages(schemas: false), tools: tools.map(ChatTool.init),
            undescribed: Set(tools.lazy.filter { !$0.isIncludedInInstructions }.map(\.name)))
    }
}

extension Sequence<Transcript.Segment> {
    /// The text of segments as a model reads it.
    var promptText: String { compactMap(\.text).joined(separator: "\n") }
}
