import GuidedGeneration
import Inference
import JSON
import Testing

@Suite struct ToolChoicePromptTests {
    private static let weather = ChatTool(
        name: "weather", description: "Gets the weather.",
        parameters: ["type": "object", "properties": ["city": ["type": "string"], "day": ["type": "string"]]])

    @Test func theQuestionHasToolsAndConversation() throws {
        let prompt = ToolChoicePrompt(
            [
                ChatMessage(.system, "Be brief."), ChatMessage(.user, "Is it warm in Oslo?"),
                ChatMessage(
                    .assistant, "",
                    toolCalls: [ChatMessage.ToolCall(id: "1", name: "weather", arguments: ["city": "Oslo"])]),
                ChatMessage(.tool, "12 degrees", toolCallID: "1", toolName: "weather"),
                ChatMessage(.assistant, "It is not."), ChatMessage(.user, "Thanks"),
            ],
            tools: [Self.weather, ChatTool(name: "bare", description: "", parameters: ["type": "object"])])
        #expect(
            prompt.choice.last?.content == """
                Tools:
                - weather(city, day): Gets the weather.
                - bare()

                Conversation:
                Instructions: Be brief.
                User: Is it warm in Oslo?
                Call: weather({"city": "Oslo"})
                Result: 12 degrees
                Assistant: It is not.
                User: Thanks

                Which tool is to be called next?
                """)
        // The examples are whole turns of two.
        #expect(prompt.choice.dropFirst().enumerated().allSatisfy { $1.role == ($0 % 2 == 0 ? .user : .assistant) })
    }

    @Test func theExamplesAreTheSameForAllConversations() {
        let one = ToolChoicePrompt([ChatMessage(.user, "a")], tools: [Self.weather]).choice
        let other = ToolChoicePrompt([ChatMessage(.user, "b")], tools: [Self.weather, Self.weather]).choice
        #expect(one.dropLast() == other.dropLast())
        #expect(one.last != other.last)
    }

    @Test func argumentsAreAskedForAsTheyAreGenerated() {
        let prompt = ToolChoicePrompt([ChatMessage(.user, "a")], tools: [Self.weather])
        let list = prompt.arguments(of: Self.weather, asList: true)
        let single = prompt.arguments(of: Self.weather, asList: false)
        #expect(list.dropLast(2) == prompt.choice[...])
        #expect(list[list.count - 2] == ChatMessage(.assistant, "weather"))
        #expect(list.last?.content.contains("as a JSON list: one object for each call") == true)
        #expect(single.last?.content.hasPrefix("Write the arguments for weather as JSON. Take the values") == true)
        #expect(single.last?.content.contains(#"{"type": "object", "properties""#) == true)
    }

    @Test func nothingIsSaidOfToolsThatAreNotDescribed() {
        let prompt = ToolChoicePrompt(
            [ChatMessage(.user, "a")], tools: [Self.weather], undescribed: [Self.weather.name])
        #expect(prompt.choice.last?.content.contains("- weather\n") == true)
        let asked = prompt.arguments(of: Self.weather, asList: true).last?.content
        #expect(asked?.hasSuffix("leave out what it does not say.") == true)
    }

    @Test(arguments: [
        (["none"], "none of these"), (["none", "none of these"], "none of these of these"), (["some"], "none"),
    ])
    func theWordForNoneIsNoToolsName(_ names: [String], _ word: String) {
        let tools = names.map { ChatTool(name: $0, description: "", parameters: [:]) }
        let prompt = ToolChoicePrompt([], tools: tools)
        #expect(prompt.none == word)
        #expect(prompt.choice[0].content.contains("Say \(word) when"))
    }
}

/// The plain conversation from which a model answers.
@Suite struct AnsweringTests {
    @Test func resultsBecomeTextAndRolesAlternate() {
        let conversation = [
            ChatMessage(.system, "s"), ChatMessage(.user, "q"),
            ChatMessage(.assistant, "", toolCalls: [ChatMessage.ToolCall(id: "1", name: "t", arguments: [:])]),
            ChatMessage(.tool, "r", toolCallID: "1", toolName: "t"), ChatMessage(.tool, "x"),
        ]
        #expect(
            conversation.answering() == [
                ChatMessage(.system, "s"),
                ChatMessage(.user, "q\n\nResult of t, for your answer:\nr\n\nResult of a tool, for your answer:\nx"),
            ])
        let asked = conversation.answering(schema: ["type": "object"]).last?.content
        #expect(asked?.hasSuffix("x\n\nAnswer with JSON that follows this schema:\n{\"type\": \"object\"}") == true)
        #expect([ChatMessage]().answering(schema: true).map(\.role) == [.user])
    }

    @Test func onlyCallsSinceTheLastPromptCount() {
        let call = ChatMessage(.assistant, "", toolCalls: [ChatMessage.ToolCall(id: "1", name: "t", arguments: 1)])
        #expect([call, ChatMessage(.user, "u"), call].argumentsSinceLastPrompt(of: "t") == [1])
        #expect([call, ChatMessage(.user, "u")].argumentsSinceLastPrompt(of: "t") == [])
        #expect([call].argumentsSinceLastPrompt(of: "other") == [])
    }
}

/// Schemas of lists with the arguments of several calls.
@Suite struct CallListTests {
    private static let bytes = TokenTrie(tokens: (0...255).map { [UInt8($0)] } + [[]], stopTokens: [256])

    /// Whether a schema takes texts, by the automaton that guides the model.
    private func takes(_ schema: JSONValue, _ text: String) throws -> Bool {
        var matcher = Matcher(try Grammar.jsonSchema(schema), trie: Self.bytes)
        return matcher.accept(bytes: text.utf8) && matcher.isAccepting
    }

    @Test(arguments: [
        // Nothing refers to anything.
        (
            #"{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}"#,
            #"{"a":1}"#, #"{"a":"x"}"#
        ),
        // Definitions stay at the root, and what they refer to is found there.
        (
            ##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"required":["a"],"additionalProperties":false,"$defs":{"A":{"anyOf":[{"type":"null"},{"$ref":"#/definitions/B"}]}},"definitions":{"B":{"const":{"$ref":"#"}}}}"##,
            ##"{"a":{"$ref":"#"}}"##, #"{"a":1}"#
        ),
        // A schema that refers to itself as a whole, also from a definition.
        (
            ##"{"type":"object","properties":{"a":{"$ref":"#/$defs/L"}},"additionalProperties":false,"$defs":{"L":{"type":"array","items":{"$ref":"#"},"maxItems":2}}}"##,
            #"{"a":[{},{"a":[]}]}"#, #"{"a":[[]]}"#
        ),
        // A reference to another place.
        (
            ##"{"type":"object","properties":{"a":{"enum":[1,2]},"b":{"$ref":"#/properties/a"}},"required":["a","b"],"additionalProperties":false}"##,
            #"{"a":1,"b":2}"#, #"{"a":1,"b":3}"#
        ),
        // Properties may be called like keywords.
        (
            ##"{"type":"object","properties":{"$ref":{"type":"null"},"$id":{"type":"null"},"const":{"$ref":"#/properties/$id"}},"required":["$ref","$id","const"],"additionalProperties":false}"##,
            #"{"$ref":null,"$id":null,"const":null}"#, #"{"$ref":null,"$id":null,"const":1}"#
        ),
    ])
    func listsTakeWhatTheirElementsTake(_ schema: String, _ good: String, _ bad: String) throws {
        let schema = try JSONValue(parsing: schema)
        let list = try #require(ChatTool(name: "t", description: "", parameters: schema).listSchema)
        #expect(try takes(schema, good) && !takes(schema, bad))
        #expect(try takes(list, "[\(good)]"))
        #expect(try takes(list, "[\(good),\(good)]"))
        #expect(try !takes(list, "[\(bad)]"))
        #expect(try !takes(list, "[]"))
        #expect(try !takes(list, good))
        let many = Array(repeating: good, count: ChatTool.largestRound + 1).joined(separator: ",")
        #expect(try !takes(list, "[\(many)]"))
    }

    @Test(arguments: [
        #"{"$id":"http://a/b","type":"object"}"#, ##"{"$anchor":"a","properties":{"b":{"$ref":"#a"}}}"##,
        ##"{"properties":{"b":{"$ref":"other.json#/a"}}}"##, ##"{"$defs":{"a":{"$dynamicRef":"#x"}}}"##, "true",
    ])
    func whatCannotBeMovedIsNoList(_ schema: String) throws {
        #expect(ChatTool.listSchema(of: try JSONValue(parsing: schema)) == nil)
    }
}
