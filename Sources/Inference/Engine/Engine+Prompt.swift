import JSON
import Tokenizers

extension Engine {
    /// A conversation as tokens, by the model's template.
    package func tokens(
        of messages: [ChatMessage], tools: [ChatTool] = [], addsGenerationPrompt: Bool = true
    ) throws(InferenceError) -> [TokenID] {
        try chatTemplate.tokens(
            of: messages, tools: tools, addsGenerationPrompt: addsGenerationPrompt, tokenizer: tokenizer)
    }

    /// The same for a model that thinks in tags, of which it is said whether it is to think now. For others it is the same.
    ///
    /// With a generation prompt, what comes next is a thought, or else the answer.
    package func tokens(
        of messages: [ChatMessage], tools: [ChatTool] = [], thinks: Bool, addsGenerationPrompt: Bool = true
    ) throws(InferenceError) -> [TokenID] {
        guard let thinking else {
            return try tokens(of: messages, tools: tools, addsGenerationPrompt: addsGenerationPrompt)
        }
        let tokens = try chatTemplate.tokens(
            of: messages, tools: tools, addsGenerationPrompt: addsGenerationPrompt,
            options: thinking.variable.map { [$0: .bool(thinks)] } ?? [:], tokenizer: tokenizer)
        guard addsGenerationPrompt else { return tokens }
        return tokens
            + tokenizer.encode(
                thinks ? thinking.opening : thinking.skipping, parsesSpecial: true, addsBOS: false)
    }
}
