import Tokenizers

extension Engine {
    /// A conversation as tokens, by the model's template.
    package func tokens(
        of messages: [ChatMessage], tools: [ChatTool] = [], addsGenerationPrompt: Bool = true
    ) throws(InferenceError) -> [TokenID] {
        let text = try chatTemplate.render(messages, tools: tools, addsGenerationPrompt: addsGenerationPrompt)
        // Many templates write the beginning-of-text token themselves; it must not come twice.
        let begins = tokenizer.bosToken.flatMap { tokenizer.name(of: $0) }.map { !$0.isEmpty && text.hasPrefix($0) }
        return tokenizer.encode(text, parsesSpecial: true, addsBOS: begins != true)
    }
}
