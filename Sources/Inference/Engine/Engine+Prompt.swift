import JSON
import Tokenizers

extension Engine {
    /// A conversation as tokens, by the model's template.
    /// - Parameter isBounded: Whether a conversation that cannot fit the context is refused before it is made into tokens.
    package func tokens(
        of messages: [ChatMessage], tools: [ChatTool] = [], addsGenerationPrompt: Bool = true, isBounded: Bool = true
    ) throws(InferenceError) -> [TokenID] {
        try chatTemplate.tokens(
            of: messages, tools: tools, addsGenerationPrompt: addsGenerationPrompt, tokenizer: tokenizer,
            contextSize: isBounded ? contextSize : nil)
    }

    /// The same for a model that thinks in tags, of which it is said whether it is to think now. For others it is the same.
    ///
    /// With a generation prompt, what comes next is a thought, or else the answer.
    package func tokens(
        of messages: [ChatMessage], tools: [ChatTool] = [], thinks: Bool, addsGenerationPrompt: Bool = true,
        isBounded: Bool = true
    ) throws(InferenceError) -> [TokenID] {
        guard let thinking else {
            return try tokens(
                of: messages, tools: tools, addsGenerationPrompt: addsGenerationPrompt, isBounded: isBounded)
        }
        let tokens = try chatTemplate.tokens(
            of: messages, tools: tools, addsGenerationPrompt: addsGenerationPrompt,
            options: thinking.variable.map { [$0: .bool(thinks)] } ?? [:], tokenizer: tokenizer,
            contextSize: isBounded ? contextSize : nil)
        guard addsGenerationPrompt else { return tokens }
        return tokens
            + tokenizer.encode(
                thinks ? thinking.opening : thinking.skipping, parsesSpecial: true, addsBOS: false)
    }

    /// What stands behind a prompt with which the model was to think, once it has thought: the thoughts and the closing tag.
    package func tokens(ofThoughts text: String) -> [TokenID] {
        tokenizer.encode(text, parsesSpecial: false, addsBOS: false)
            + tokenizer.encode(ChatThinking.closing, parsesSpecial: true, addsBOS: false)
    }

    /// Refuses a text that has too many tokens for the context whatever they are.
    package func checkLength(of text: String) throws(InferenceError) {
        try tokenizer.checkLength(of: text, contextSize: contextSize)
    }
}

extension Tokenizer {
    /// Refuses a text that has too many tokens for a context whatever they are.
    func checkLength(of text: String, contextSize: Int) throws(InferenceError) {
        let least = leastTokenCount(of: text)
        // One token at least must fit behind a prompt.
        guard least < contextSize else { throw .promptTooLong(leastTokenCount: least, contextSize: contextSize) }
    }
}
