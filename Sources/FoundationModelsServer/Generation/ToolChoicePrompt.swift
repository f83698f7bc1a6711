import Inference
import JSON

/// The conversations in which the model is asked whether to call a tool, and with what.
///
/// Small models seldom write calls in the form that their templates ask for, but choose well among names when they are asked
/// to, with a few examples; the arguments are then generated under the tool's schema.
struct ToolChoicePrompt: Sendable {
    /// What the model says when no tool is to be called.
    static let none = "none"

    private let tools: [ChatTool]
    private var lines: [String]

    init(_ messages: [ChatMessage], tools: [ChatTool]) {
        self.tools = tools
        lines = Self.lines(of: messages)
    }

    /// Notes a call that is made in this very answer.
    mutating func append(_ name: String, arguments: String) { lines.append("Call: \(name)(\(arguments))") }

    /// Asks for the name of a tool.
    var choice: [ChatMessage] {
        var messages = [
            ChatMessage(
                .system,
                "You decide which tool helps to answer the user. Say the name of one tool, or none when no tool is "
                    + "needed or the answer is already there.")
        ]
        for example in Self.examples {
            messages.append(ChatMessage(.user, example.question))
            messages.append(ChatMessage(.assistant, example.answer))
        }
        messages.append(
            ChatMessage(.user, Self.question(tools: tools.map { ($0.name, $0.description) }, conversation: lines)))
        return messages
    }

    /// Asks for the arguments of a tool.
    func arguments(of tool: ChatTool) -> [ChatMessage] {
        choice + [
            ChatMessage(.assistant, tool.name),
            ChatMessage(
                .user,
                "Write the arguments for \(tool.name) as JSON. Take the values from the conversation.\n"
                    + "Schema: \(tool.parameters.text(spaced: true))"),
        ]
    }

    private static func question(tools: [(name: String, description: String)], conversation: [String]) -> String {
        let list = tools.map { $0.description.isEmpty ? "- \($0.name)" : "- \($0.name): \($0.description)" }
        return "Tools:\n\(list.joined(separator: "\n"))\n\nConversation:\n\(conversation.joined(separator: "\n"))\n\n"
            + "Which tool is to be called next?"
    }

    /// Examples with tools of their own, so that nothing of them can be mistaken for the question.
    private static let examples: [(question: String, answer: String)] = {
        let tools = [
            ("getWeather", "Gets the weather of a city."), ("sendMessage", "Sends a message to a person."),
        ]
        func example(_ conversation: [String], _ answer: String) -> (question: String, answer: String) {
            (question(tools: tools, conversation: conversation), answer)
        }
        return [
            example(["User: How warm is it in Oslo?"], "getWeather"),
            example(["User: How warm is it in Oslo?", #"Call: getWeather({"city": "Oslo"})"#], none),
            example(["User: What is the capital of Norway?"], none),
            example(
                ["User: Compare the weather of Rome and Paris.", #"Call: getWeather({"city": "Rome"})"#], "getWeather"),
            example(
                [
                    "User: How warm is it in Oslo?", #"Call: getWeather({"city": "Oslo"})"#,
                    "Result: 12 degrees, cloudy",
                ], none),
            example(["User: Tell Ann that I will be late."], "sendMessage"),
            example(["User: Thank you!"], none),
        ]
    }()

    private static func lines(of messages: [ChatMessage]) -> [String] {
        messages.flatMap { message in
            switch message.role {
            case .system: message.content.isEmpty ? [] : ["Instructions: \(message.content)"]
            case .user: ["User: \(message.content)"]
            case .assistant:
                (message.content.isEmpty ? [] : ["Assistant: \(message.content)"])
                    + message.toolCalls.map { "Call: \($0.name)(\($0.arguments.text(spaced: true)))" }
            case .tool: ["Result: \(message.content)"]
            }
        }
    }
}

extension [ChatMessage] {
    /// The plain conversation from which the model answers: what tools gave stands in it as text.
    func answering(schema: JSONValue?) -> [ChatMessage] {
        var plain: [ChatMessage] = []
        for message in self {
            var content = message.content
            var role = message.role
            switch role {
            case .assistant where content.isEmpty && !message.toolCalls.isEmpty: continue
            case .tool:
                role = .user
                content = "Result of \(message.toolName ?? "a tool"), for your answer:\n\(content)"
            default: break
            }
            // Templates want the roles to alternate.
            if let last = plain.last, last.role == role {
                plain[plain.count - 1].content += "\n\n" + content
            } else {
                plain.append(ChatMessage(role, content))
            }
        }
        if let schema {
            let text = "Answer with JSON that follows this schema:\n\(schema.text(spaced: true))"
            if let last = plain.indices.last, plain[last].role == .user {
                plain[last].content += "\n\n" + text
            } else {
                plain.append(ChatMessage(.user, text))
            }
        }
        return plain
    }

    /// Whether the same call was made since the user last said something.
    func hasCalledSinceLastPrompt(_ name: String, arguments: JSONValue) -> Bool {
        for message in reversed() {
            if message.role == .user { return false }
            if message.toolCalls.contains(where: { $0.name == name && $0.arguments == arguments }) { return true }
        }
        return false
    }

    /// Whether a call was made since the user last said something.
    var callsSinceLastPrompt: Bool {
        for message in reversed() {
            if message.role == .user { return false }
            if !message.toolCalls.isEmpty { return true }
        }
        return false
    }
}
