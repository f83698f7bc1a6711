import Foundation
import JSON

/// How a model writes tool calls: what stands around the names and the arguments.
///
/// It is not listed by the names of families but read out of the model's own chat template, which is rendered with calls whose
/// names and arguments are known, so that every template whose calls have JSON arguments is understood.
package struct ToolDialect: Sendable, Hashable {
    /// From the beginning of the model's turn to the name of the first tool.
    package var opening: String
    /// Between the name and the arguments.
    package var middle: String
    /// From the arguments of one call to the name of the next; nil when a turn has one call.
    package var between: String?
    /// From the arguments of the last call to the end of the turn.
    package var ending: String

    package init(opening: String, middle: String, between: String?, ending: String) {
        self.opening = opening
        self.middle = middle
        self.between = between
        self.ending = ending
    }

    /// What a turn begins with that calls a tool: as much of the opening as leaves no doubt and no room for white space, in which models
    /// vary.
    package var opener: String { String(opening.prefix { !$0.isWhitespace }) }
}

extension ChatTemplate {
    /// The form of tool calls that the template shows; nil when it shows none, or one whose arguments are not JSON.
    package var toolDialect: ToolDialect? {
        let probes = [probe("a"), probe("b")]
        let question = ChatMessage(.user, "Q")
        let tools = probes.map { ChatTool(name: $0.name, description: "D", parameters: .object(["type": "object"])) }
        func rendered(_ calls: [ChatMessage.ToolCall], addsGenerationPrompt: Bool) -> String? {
            let answer = calls.isEmpty ? [] : [ChatMessage(.assistant, "", toolCalls: calls)]
            return (try? render([question] + answer, tools: tools, addsGenerationPrompt: addsGenerationPrompt))?.text
        }
        guard let before = rendered([], addsGenerationPrompt: true),
            let one = rendered([probes[0]], addsGenerationPrompt: false), one.hasPrefix(before),
            let first = Parts(one.dropFirst(before.count), probes[0])
        else { return nil }
        // Templates of models that make one call a turn refuse two, or leave one out.
        var between: String?
        if let two = rendered(probes, addsGenerationPrompt: false), two.hasPrefix(before),
            let head = Parts(two.dropFirst(before.count), probes[0]), head.opening == first.opening,
            let tail = Parts(head.rest[...], probes[1]), tail.middle == first.middle
        {
            between = tail.opening
        }
        let dialect = ToolDialect(
            opening: first.opening, middle: first.middle, between: between, ending: first.rest)
        // Without anything in front of the name, calls could not be told from text.
        return dialect.opener.isEmpty ? nil : dialect
    }

    private func probe(_ letter: String) -> ChatMessage.ToolCall {
        // Nine characters without punctuation: some templates are particular about identifiers.
        ChatMessage.ToolCall(
            id: "call0000\(letter)", name: "zq\(letter)name",
            arguments: .object(["zq\(letter)key": .string("zq\(letter)value")]))
    }

    /// What stands around the name and the arguments of one call.
    private struct Parts {
        var opening: String
        var middle: String
        var rest: String

        init?(_ text: Substring, _ call: ChatMessage.ToolCall) {
            guard let name = text.range(of: call.name) else { return nil }
            let after = text[name.upperBound...]
            let forms = [call.arguments.text(spaced: true), call.arguments.text()]
            guard let arguments = forms.lazy.compactMap({ after.range(of: $0) }).first else { return nil }
            opening = String(text[..<name.lowerBound])
            middle = String(after[..<arguments.lowerBound])
            rest = String(after[arguments.upperBound...])
            // An identifier of the call is not for the model to make up.
            guard !middle.contains(call.id), !opening.contains(call.id) else { return nil }
        }
    }
}
