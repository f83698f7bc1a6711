import Inference
import JSON

/// The conversations in which the model is asked whether to call a tool, which, and with what.
///
/// Small models seldom write calls in the form that their templates ask for, but choose well among names when they are asked
/// to. The examples stand in front and never change, so that all requests share what has been computed of them. In half of
/// them the tool at hand is near to what is asked for and still the wrong one: small models take what they are given.
struct ToolChoicePrompt: Sendable {
    /// What the model says when no tool is to be called.
    let none: String
    private let messages: [ChatMessage]

    init(_ conversation: [ChatMessage], tools: [ChatTool]) {
        var none = "none"
        while tools.contains(where: { $0.name == none }) { none += " of these" }
        self.none = none
        messages =
            Self.examples(none: none) + [
                ChatMessage(
                    .user, Self.question(tools: tools.map(Self.line), conversation: Self.lines(of: conversation)))
            ]
    }

    /// Asks for the name of a tool.
    var choice: [ChatMessage] { messages }

    /// Asks for the arguments of a tool: of one call, or a list with those of several.
    func arguments(of tool: ChatTool, asList: Bool) -> [ChatMessage] {
        let form =
            asList
            ? "as a JSON list: one object for each call that the user's request needs, most often one." : "as JSON."
        return messages + [
            ChatMessage(.assistant, tool.name),
            ChatMessage(
                .user,
                "Write the arguments for \(tool.name) \(form) Take the values from the conversation and leave out what it "
                    + "does not say.\nSchema of an object: \(tool.parameters.text(spaced: true))"),
        ]
    }

    /// A tool as the question has it: its name, what it needs to know, what it does.
    private static func line(for tool: ChatTool) -> String {
        let parameters = tool.parameters["properties"]?.objectValue?.keys ?? []
        return "- \(tool.name)(\(parameters.joined(separator: ", ")))"
            + (tool.description.isEmpty ? "" : ": \(tool.description)")
    }

    private static func question(tools: [String], conversation: [String]) -> String {
        "Tools:\n\(tools.joined(separator: "\n"))\n\nConversation:\n\(conversation.joined(separator: "\n"))\n\n"
            + "Which tool is to be called next?"
    }

    /// What the model is to do, shown with tools of the examples' own, so that nothing of them can be mistaken for the
    /// question.
    private static func examples(none: String) -> [ChatMessage] {
        var messages = [
            ChatMessage(
                .system,
                "You decide which tool the user's request needs. Say the name of a tool only when the tool does exactly "
                    + "what is asked for. Say \(none) when no tool fits or the answer is already there.")
        ]
        let area = ["- areaOfCircle(radius): Calculates the area of a circle from its radius."]
        let currency = [
            "- convertCurrency(amount, from, to): Converts an amount of money from one currency to another."
        ]
        let works = [
            "- findBooks(author): Finds books by an author.", "- findFilms(director): Finds films by a director.",
        ]
        let everyday = [
            "- getWeather(city): Gets the weather of a city.",
            "- sendMessage(person, text): Sends a message to a person.",
        ]
        let examples: [(tools: [String], conversation: [String], answer: String)] = [
            (area, ["User: How large is the area of a triangle with base 3 and height 4?"], none),
            (area, ["User: How large is a round table of radius 2?"], "areaOfCircle"),
            (everyday, ["User: What is the capital of Norway?"], none),
            (everyday, ["User: How warm is it in Oslo?"], "getWeather"),
            (
                everyday,
                [
                    "User: How warm is it in Oslo?", #"Call: getWeather({"city": "Oslo"})"#,
                    "Result: 12 degrees, cloudy",
                ], none
            ),
            (currency, ["User: How many kilometres are 5 miles?"], none),
            (currency, ["User: I have 20 euros, what is that in yen?"], "convertCurrency"),
            (works, ["User: Which books did Tove Jansson write?"], "findBooks"),
            (works, ["User: When was Tove Jansson born?"], none),
            (everyday, ["User: Thank you!"], none),
        ]
        for example in examples {
            messages.append(
                ChatMessage(.user, question(tools: example.tools, conversation: example.conversation)))
            messages.append(ChatMessage(.assistant, example.answer))
        }
        return messages
    }

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

    /// What a tool was called with since the user last said something.
    func argumentsSinceLastPrompt(of name: String) -> [JSONValue] {
        var found: [JSONValue] = []
        for message in reversed() {
            if message.role == .user { break }
            found += message.toolCalls.filter { $0.name == name }.map(\.arguments)
        }
        return found
    }
}

extension ChatTool {
    /// The most calls that one answer may have. A model that repeats itself ends somewhere.
    private static let largestRound = 16

    /// The schema of a list with the arguments of several calls; nil when the tool's schema refers to itself in a way that
    /// does not survive being moved.
    var listSchema: JSONValue? {
        guard var items = parameters.objectValue, parameters.refersToDefinitionsAlone else { return nil }
        var list: JSONObject = ["type": "array", "minItems": 1]
        list["maxItems"] = .number(JSONNumber(Self.largestRound))
        for key in ["$defs", "definitions"] {
            list[key] = items[key]
            items[key] = nil
        }
        list["items"] = .object(items)
        return .object(list)
    }
}

extension JSONValue {
    fileprivate var refersToDefinitionsAlone: Bool {
        switch self {
        case .object(let object):
            object.allSatisfy { key, value in
                switch key {
                case "$ref": ["#/$defs/", "#/definitions/"].contains { value.stringValue?.hasPrefix($0) == true }
                case "$id", "$anchor", "$dynamicRef": false
                default: value.refersToDefinitionsAlone
                }
            }
        case .array(let array): array.allSatisfy(\.refersToDefinitionsAlone)
        default: true
        }
    }
}
