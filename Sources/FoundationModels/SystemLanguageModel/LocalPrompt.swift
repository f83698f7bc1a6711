import JSON

/// A conversation as a chat template takes it.
package struct LocalPrompt: Sendable, Equatable {
    package enum Role: String, Sendable {
        case system, user, assistant, tool
    }

    package struct Message: Sendable, Equatable {
        package var role: Role
        package var content: String
        /// The tools that an assistant's message calls, for templates that know of calls.
        package var toolCalls: [Transcript.ToolCall] = []
        /// The call that a tool's message answers.
        package var answeredCall: Transcript.ToolCall?

        package init(role: Role, content: String) {
            self.role = role
            self.content = content
        }
    }

    /// A part of an answer that is written for the model.
    package struct AnswerPart: Sendable, Equatable {
        package var text: String
        /// Whether the text is the template's own, whose control tokens count, and not a model's or a program's.
        package var isOfTemplate: Bool
    }

    package var messages: [Message]
    /// The tools that the template is to show; none for models that are asked about tools in plain text.
    package var tools: [Transcript.ToolDefinition] = []
    /// Whether a model that thinks in tags is to think; the next text is then a thought, and else the answer.
    package var thinks = false
    /// What the answer begins with, thoughts included.
    package var answer: [AnswerPart] = []

    package init(messages: [Message]) { self.messages = messages }
}

extension LocalPrompt {
    /// The conversation of a transcript: one message for each entry that has one.
    package init(transcript: Transcript) {
        messages = []
        var schema: GenerationSchema?
        for entry in transcript {
            switch entry {
            case .instructions(let instructions):
                append(.system, instructions.segments.promptText)
                let shown = instructions.toolDefinitions.filter(\.isIncludedInInstructions)
                if !shown.isEmpty { append(.system, Self.text(of: shown)) }
            case .prompt(let prompt):
                schema = prompt.contextOptions.includeSchemaInPrompt == false ? nil : prompt.responseFormat?.schema
                var text = prompt.segments.promptText
                if let schema { text += "\n\n" + Self.text(of: schema) }
                append(.user, text)
            case .toolCalls(let calls):
                let text = calls.map {
                    "{\"name\": \(JSONValue.quoted($0.toolName)), \"arguments\": \($0.argumentsText)}"
                }
                append(.assistant, text.joined(separator: "\n"))
            case .toolOutput(let output):
                append(.tool, output.segments.promptText)
            case .response(let response):
                append(.assistant, response.segments.promptText)
            case .reasoning:
                // Thoughts are not read again: templates of models that think leave them out too.
                break
            }
        }
    }

    /// The conversation of a transcript for a template that knows of tools and calls.
    package init(dialect transcript: Transcript, tools: [Transcript.ToolDefinition]) {
        messages = []
        self.tools = tools.filter(\.isIncludedInInstructions)
        var calls: [String: Transcript.ToolCall] = [:]
        for entry in transcript {
            switch entry {
            case .instructions(let instructions):
                if !instructions.segments.isEmpty { append(.system, instructions.segments.promptText) }
            case .toolCalls(let round):
                var message = Message(role: .assistant, content: "")
                message.toolCalls = Array(round)
                for call in round { calls[call.id] = call }
                messages.append(message)
            case .toolOutput(let output):
                var message = Message(role: .tool, content: output.segments.promptText)
                message.answeredCall =
                    calls[output.id]
                    ?? Transcript.ToolCall(
                        id: output.id, toolName: output.toolName, arguments: GeneratedContent(properties: [:]))
                messages.append(message)
            case .prompt, .response, .reasoning:
                messages += LocalPrompt(transcript: Transcript(entries: [entry])).messages
            }
        }
    }

    private mutating func append(_ role: Role, _ content: String) {
        if role == .system, messages.last?.role == .system {
            messages[messages.count - 1].content += "\n\n" + content
        } else {
            messages.append(Message(role: role, content: content))
        }
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
        "Answer with JSON that follows this schema:\n" + schema.publishedSchema.text(spaced: true)
    }
}

extension Sequence<Transcript.Segment> {
    /// The text of segments as a model reads it.
    var promptText: String { compactMap(\.text).joined(separator: "\n") }
}
