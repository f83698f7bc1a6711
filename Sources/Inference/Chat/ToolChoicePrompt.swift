import JSON

/// The conversations in which the model is asked whether to call a tool, which, and with what.
///
/// Small models seldom write calls in the form that their templates ask for, but choose well among names when they are asked
/// to. The examples stand in front and never change, so that all requests share what has been computed of them. In half of
/// them the tool at hand is near to what is asked for and still the wrong one: small models take what they are given.
package struct ToolChoicePrompt: Sendable {
    /// What the model says when no tool is to be called.
    package let none: String
    /// Asks for the name of a tool.
    package let choice: [ChatMessage]
    private let undescribed: Set<String>

    /// - Parameter undescribed: The names of tools of which the model is told nothing else.
    package init(_ conversation: [ChatMessage], tools: [ChatTool], undescribed: Set<String> = []) {
        self.undescribed = undescribed
        var none = "none"
        while tools.contains(where: { $0.name == none }) { none += " of these" }
        self.none = none
        let lines = tools.map { undescribed.contains($0.name) ? "- \($0.name)" : Self.line(for: $0) }
        choice =
            Self.examples(none: none) + [
                ChatMessage(.user, Self.question(tools: lines, conversation: Self.lines(of: conversation), none: none))
            ]
    }

    /// Asks for the arguments of a tool: of one call, or a list with those of several (``ChatTool/listSchema``).
    package func arguments(of tool: ChatTool, asList: Bool) -> [ChatMessage] {
        let form =
            asList
            ? "as a JSON list: one object for each call that the user's request needs, most often one." : "as JSON."
        var text =
            "Write the arguments for \(tool.name) \(form) Take the values from the conversation and leave out what it does "
            + "not say."
        if !undescribed.contains(tool.name) {
            text += "\nSchema of an object: \(tool.parameters.text(spaced: true))"
        }
        return choice + [ChatMessage(.assistant, tool.name), ChatMessage(.user, text)]
    }

    /// A tool as the question has it: its name, what it needs to know, what it does.
    private static func line(for tool: ChatTool) -> String {
        let parameters = tool.parameters["properties"]?.objectValue?.keys ?? []
        return "- \(tool.name)(\(parameters.joined(separator: ", ")))"
            + (tool.description.isEmpty ? "" : ": \(tool.description)")
    }

    /// Behind a result it is asked first whether anything is left to do: small models otherwise take the tool that was not
    /// called yet. The figure `agents-python` shows it.
    private static func question(tools: [String], conversation: [String], none: String) -> String {
        let hasResult = conversation.last?.hasPrefix(resultMark) == true
        return "Tools:\n\(tools.joined(separator: "\n"))\n\nConversation:\n\(conversation.joined(separator: "\n"))\n\n"
            + (hasResult
                ? "Has all that the user asked for been done? Then say \(none). Otherwise, which tool is to be called next?"
                : "Which tool is to be called next?")
    }

    private static let resultMark = "Result: "

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
        // What has a result stands first: small models keep to what they have read last.
        let examples: [(tools: [String], conversation: [String], answer: String)] = [
            (
                everyday,
                [
                    "User: How warm is it in Oslo?", #"Call: getWeather({"city": "Oslo"})"#,
                    resultMark + "12 degrees, cloudy",
                ], none
            ),
            (area, ["User: How large is the area of a triangle with base 3 and height 4?"], none),
            (area, ["User: How large is a round table of radius 2?"], "areaOfCircle"),
            (everyday, ["User: What is the capital of Norway?"], none),
            (everyday, ["User: How warm is it in Oslo?"], "getWeather"),
            (currency, ["User: How many kilometres are 5 miles?"], none),
            (currency, ["User: I have 20 euros, what is that in yen?"], "convertCurrency"),
            (works, ["User: Which books did Tove Jansson write?"], "findBooks"),
            (works, ["User: When was Tove Jansson born?"], none),
            (everyday, ["User: Thank you!"], none),
        ]
        for example in examples {
            messages.append(
                ChatMessage(
                    .user, question(tools: example.tools, conversation: example.conversation, none: none)))
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
            case .tool: [resultMark + message.content]
            }
        }
    }
}
