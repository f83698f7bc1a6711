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
