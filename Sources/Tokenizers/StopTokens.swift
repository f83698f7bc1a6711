/// Which tokens end a generation. Files name one or two of them by id; the others are known by their text, as llama.cpp
/// finds them.
enum StopTokens {
    static let texts: Set<String> = [
        "<|eot_id|>", "<|eom_id|>", "<|im_end|>", "<|end|>", "<|endoftext|>", "<|end_of_text|>", "<end_of_turn>",
        "<end_of_utterance>", "</s>", "<eos>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]", "<｜end▁of▁sentence｜>",
        "<|return|>", "<|call|>", "<|calls|>", "<|flush|>", "<turn|>", "<|tool_response>", "[e~[",
        // Code models: the file or the repository ends and the next one would begin.
        "<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]", "<|fim_repo|>", "<|repo_name|>", "<fim-repo>",
        "<REPO>", "<reponame>", "<|file_sep|>",
    ]

    /// Tokens that steer the model and that some files call normal text: the parts of fill-in-the-middle prompts.
    static let controlTexts: Set<String> = [
        "<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>", "<|code_prefix|>",
        "<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>", "<|code_suffix|>",
        "<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>", "<|code_middle|>",
    ]

    /// The stop tokens among the tokens of a vocabulary, by text. Tokens that are stops in one family and plain text or
    /// the end of a part in another are told apart by their company.
    static func find(named id: (String) -> TokenID?) -> Set<TokenID> {
        var found = texts.filter { id($0) != nil }
        // The harmony format ends a *message* with <|end|>, and a turn with <|return|> or a call.
        if found.isSuperset(of: ["<|return|>", "<|call|>"])
            || !found.isDisjoint(with: ["<|call|>", "<|calls|>"]) && found.contains("<|flush|>")
        {
            found.remove("<|end|>")
        }
        if found.contains("<|tool_response>") { found.remove("</s>") }
        return Set(found.compactMap(id))
    }
}
