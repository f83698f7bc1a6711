import JSON

/// One message of a conversation, as chat templates know it.
package struct ChatMessage: Sendable, Hashable {
    package enum Role: String, Sendable, Hashable {
        case system, user, assistant, tool
    }

    /// A tool call that the model made.
    package struct ToolCall: Sendable, Hashable {
        package var id: String
        package var name: String
        /// An object by the tool's schema.
        package var arguments: JSONValue

        package init(id: String, name: String, arguments: JSONValue) {
            self.id = id
            self.name = name
            self.arguments = arguments
        }
    }

    package var role: Role
    package var content: String
    /// The model's thinking before the content, where it is kept.
    package var reasoning: String?
    package var toolCalls: [ToolCall]
    /// For the role `tool`: which call the content answers, and the tool's name.
    package var toolCallID: String?
    package var toolName: String?

    package init(
        _ role: Role, _ content: String, reasoning: String? = nil, toolCalls: [ToolCall] = [],
        toolCallID: String? = nil, toolName: String? = nil
    ) {
        self.role = role
        self.content = content
        self.reasoning = reasoning
        self.toolCalls = toolCalls
        self.toolCallID = toolCallID
        self.toolName = toolName
    }

    /// The form that templates are written for: the messages of Chat Completions.
    var json: JSONValue {
        var object: JSONObject = ["role": .string(role.rawValue), "content": .string(content)]
        if let reasoning { object["reasoning_content"] = .string(reasoning) }
        if !toolCalls.isEmpty {
            object["tool_calls"] = .array(
                toolCalls.map { call in
                    .object([
                        "type": .string("function"), "id": .string(call.id),
                        "function": .object(["name": .string(call.name), "arguments": call.arguments]),
                    ])
                })
        }
        if let toolCallID { object["tool_call_id"] = .string(toolCallID) }
        if let toolName { object["name"] = .string(toolName) }
        return .object(object)
    }
}

/// A tool as chat templates know it.
package struct ChatTool: Sendable, Hashable {
    package var name: String
    package var description: String
    /// The JSON Schema of the arguments.
    package var parameters: JSONValue

    package init(name: String, description: String, parameters: JSONValue) {
        self.name = name
        self.description = description
        self.parameters = parameters
    }

    var json: JSONValue {
        .object([
            "type": .string("function"),
            "function": .object([
                "name": .string(name), "description": .string(description), "parameters": parameters,
            ]),
        ])
    }
}
