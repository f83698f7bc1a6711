import Tokenizers

extension Engine {
    /// A conversation as tokens, by the model's template.
    package func tokens(
        of messages: [ChatMessage], tools: [ChatTool] = [], addsGenerationPrompt: Bool = true
    ) throws(InferenceError) -> [TokenID] {
        try chatTemplate.tokens(
            of: messages, tools: tools, addsGenerationPrompt: addsGenerationPrompt, tokenizer: tokenizer)
    }
}
