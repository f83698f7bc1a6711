import JSON

/// The conversations in which the model is asked whether to call a tool, and with what.
struct ToolChoicePrompt {
    /// What the model says when no tool is to be called.
    static let none = "none"

    private var messages: [LocalPrompt.Message]

    init(transcript: Transcript, definitions: [Transcript.ToolDefinition]) {
        messages = [
            LocalPrompt.Message(
                role: .system,
                content:
                    "You decide which tool helps to answer the user. Say the name of one tool, or none when no tool is "
                    + "needed or the answer is already there.")
        ]
        for example in Self.examples {
            messages.append(.init(role: .user, content: example.question))
            messages.append(.init(role: .assistant, content: example.answer))
        }
        messages.append(
            .init(
                role: .user,
                content: Self.question(
                    tools: definitions.map { definition in
                        definition.isIncludedInInstructions
                            ? (definition.name, definition.description) : (definition.name, "")
                    }, conversation: Self.lines(of: transcript))))
    }

    /// Asks for the name of a tool.
    var choice: LocalPrompt { LocalPrompt(messages: messages) }

    /// Notes which tool was chosen.
    mutating func choose(_ definition: Transcript.ToolDefinition) {
        messages.append(.init(role: .assistant, content: definition.name))
        var text = "Write the arguments for \(definition.name) as JSON. Take the values from the conversation."
        if definition.isIncludedInInstructions {
            text += "\nSchema: \(definition.parameters.publishedSchema.text(spaced: true))"
        }
        messages.append(.init(role: .user, content: text))
    }

    /// Asks for the arguments of the tool that was chosen.
    var arguments: LocalPrompt { LocalPrompt(messages: messages) }

    private static func question(tools: [(name: String, description: String)], conversation: [String]) -> String {
        let list = tools.map { $0.description.isEmpty ? "- \($0.name)" : "- \($0.name): \($0.description)" }
        return "Tools:\n\(list.joined(separator: "\n"))\n\nConversation:\n\(conversation.joined(separator: "\n"))\n\n"
            + "Which tool is to be called next?"
    }

    /// Examples with tools of their own, so that nothing of them can be mistaken for the question.
    private static var examples: [(question: String, answer: String)] {
        let tools = [
            ("getWeather", "Gets the weather of a city."), ("sendMessage", "Sends a message to a person."),
        ]
        func example(_ conversation: [String], _ answer: String) -> (question: String, answer: String) {
            (question(tools: tools, conversation: conversation), answer)
        }
        return [
            example(["User: How warm is it in Oslo?"], "getWeather"),
            example(["User: What is the capital of Norway?"], none),
            example(
                [
                    "User: How warm is it in Oslo?", "Call: getWeather({\"city\": \"Oslo\"})",
                    "Result: 12 degrees, cloudy",
                ],
                none),
            example(["User: Tell Ann that I will be late."], "sendMessage"),
            example(["User: Thank you!"], none),
        ]
    }

    private static func lines(of transcript: Transcript) -> [String] {
        var lines: [String] = []
        for entry in transcript {
            switch entry {
            case .instructions(let instructions):
                let text = instructions.segments.promptText
                if !text.isEmpty { lines.append("Instructions: \(text)") }
            case .prompt(let prompt): lines.append("User: \(prompt.segments.promptText)")
            case .toolCalls(let calls):
                lines += calls.map { "Call: \($0.toolName)(\($0.argumentsText))" }
            case .toolOutput(let output): lines.append("Result: \(output.segments.promptText)")
            case .response(let response): lines.append("Assistant: \(response.segments.promptText)")
            case .reasoning: continue
            }
        }
        return lines
    }
}

extension LocalPrompt {
    /// The plain conversation from which the model answers: no definitions of tools, and what tools gave as text.
    init(answering transcript: Transcript) {
        var plain = Transcript()
        for entry in transcript {
            if case .instructions(var instructions) = entry {
                instructions.toolDefinitions = []
                if !instructions.segments.isEmpty { plain.append(.instructions(instructions)) }
            } else if case .toolCalls = entry {
                continue
            } else {
                plain.append(entry)
            }
        }
        self.init(transcript: plain)
        for (index, message) in messages.enumerated() where message.role == .tool {
            messages[index] = Message(role: .user, content: "Result of a tool, for your answer:\n\(message.content)")
        }
        joinNeighbours()
    }

    /// Templates want the roles to alternate.
    private mutating func joinNeighbours() {
        messages = messages.reduce(into: []) { joined, message in
            if let last = joined.last, last.role == message.role {
                joined[joined.count - 1].content += "\n\n" + message.content
            } else {
                joined.append(message)
            }
        }
    }
}
