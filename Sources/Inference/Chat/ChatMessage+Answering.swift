import JSON

extension [ChatMessage] {
    /// The plain conversation from which the model answers: what tools gave stands in it as text.
    package func answering(schema: JSONValue? = nil) -> [ChatMessage] {
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
            let text = ChatMessage.schemaText(schema)
            if let last = plain.indices.last, plain[last].role == .user {
                plain[last].content += "\n\n" + text
            } else {
                plain.append(ChatMessage(.user, text))
            }
        }
        return plain
    }

    /// What a tool was called with since the user last said something.
    package func argumentsSinceLastPrompt(of name: String) -> [JSONValue] {
        var found: [JSONValue] = []
        for message in reversed() {
            if message.role == .user { break }
            found += message.toolCalls.filter { $0.name == name }.map(\.arguments)
        }
        return found
    }
}

extension ChatMessage {
    /// How a user asks for an answer under a schema.
    package static func schemaText(_ schema: JSONValue) -> String {
        "Answer with JSON that follows this schema:\n" + schema.text(spaced: true)
    }
}
