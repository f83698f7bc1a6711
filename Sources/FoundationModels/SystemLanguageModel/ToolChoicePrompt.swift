import JSON

/// The conversations in which the model is asked whether to call a tool, which, and with what.
///
/// The examples stand in front and never change, so that all requests of a process share what has been computed of them.
struct ToolChoicePrompt {
    /// What the model says when no tool is to be called.
    let none: String

    private var messages: [LocalPrompt.Message]

    init(transcript: Transcript, definitions: [Transcript.ToolDefinition]) {
        none = Self.none(beside: definitions.map(\.name))
        messages = Self.examples(none: none)
        messages.append(
            .init(
                role: .user,
                content: Self.question(tools: definitions.map(Self.line), conversation: Self.lines(of: transcript))))
    }

    /// Asks for the name of a tool.
    var choice: LocalPrompt { LocalPrompt(messages: messages) }

    /// Notes which tool was chosen.
    mutating func choose(_ definition: Transcript.ToolDefinition) {
        messages.append(.init(role: .assistant, content: definition.name))
        var text =
            "Write the arguments for \(definition.name) as a JSON list: one object for each call that the user's request "
            + "needs, most often one. Take the values from the conversation and leave out what it does not say."
        if definition.isIncludedInInstructions {
            text += "\nSchema of an object: \(definition.parameters.promptText)"
        }
        messages.append(.init(role: .user, content: text))
    }

    /// Asks for the arguments of the tool that was chosen, as a list with those of each call.
    var arguments: LocalPrompt { LocalPrompt(messages: messages) }

    /// The most calls that one round may have. A model that repeats itself ends somewhere.
    static let largestRound = 16

    /// The form of the arguments of the calls of one round.
    static func argumentsSchema(for definition: Transcript.ToolDefinition) -> GenerationSchema {
        var items = JSONObject()
        if case .object(let document) = definition.parameters.jsonSchema {
            items = SchemaDocument.rebasing(document, to: "/items")
        }
        return GenerationSchema(document: [
            "title": .string(definition.parameters.name), "type": "array", "items": .object(items),
            "minItems": .number(JSONNumber(1)), "maxItems": .number(JSONNumber(largestRound)),
        ])
    }

    /// A word that is no tool's name.
    private static func none(beside names: [String]) -> String {
        var word = "none"
        while names.contains(word) { word += " of these" }
        return word
    }

    /// A tool as the question has it: its name, what it needs to know, what it does.
    private static func line(for definition: Transcript.ToolDefinition) -> String {
        guard definition.isIncludedInInstructions else { return "- \(definition.name)" }
        let parameters = definition.parameters.publishedSchema["properties"]?.objectValue.map { Array($0.keys) } ?? []
        return "- \(definition.name)(\(parameters.joined(separator: ", "))): \(definition.description)"
    }

    private static func question(tools: [String], conversation: [String]) -> String {
        "Tools:\n\(tools.joined(separator: "\n"))\n\nConversation:\n\(conversation.joined(separator: "\n"))\n\n"
            + "Which tool is to be called next?"
    }

    /// What the model is to do, shown with tools of the examples' own, so that nothing of them can be mistaken for the question. In
    /// half of them the tool at hand is near to what is asked for and still the wrong one: small models take what they are given.
    private static func examples(none: String) -> [LocalPrompt.Message] {
        var messages = [
            LocalPrompt.Message(
                role: .system,
                content:
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
        let questions: [(tools: [String], conversation: [String], answer: String)] = [
            (area, ["User: How large is the area of a triangle with base 3 and height 4?"], none),
            (area, ["User: How large is a round table of radius 2?"], "areaOfCircle"),
            (everyday, ["User: What is the capital of Norway?"], none),
            (everyday, ["User: How warm is it in Oslo?"], "getWeather"),
            (
                everyday,
                [
                    "User: How warm is it in Oslo?", "Call: getWeather({\"city\": \"Oslo\"})",
                    "Result: 12 degrees, cloudy",
                ], none
            ),
            (currency, ["User: How many kilometres are 5 miles?"], none),
            (currency, ["User: I have 20 euros, what is that in yen?"], "convertCurrency"),
            (works, ["User: Which books did Tove Jansson write?"], "findBooks"),
            (works, ["User: When was Tove Jansson born?"], none),
            (everyday, ["User: Thank you!"], none),
        ]
        for example in questions {
            messages.append(.init(role: .user, content: question(tools: example.tools, conversation: example.conversation)))
            messages.append(.init(role: .assistant, content: example.answer))
        }
        return messages
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

extension GenerationSchema {
    /// The schema as a model reads it: what says something about the values, and nothing of what only the decoder needs.
    var promptText: String { SchemaDocument.described(publishedSchema).text(spaced: true) }
}

extension LocalPrompt {
    /// The plain conversation from which the model answers: no definitions of tools, and what tools gave as text.
    package init(answering transcript: Transcript) {
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
