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

    /// The stop tokens among the control tokens of a vocabulary, by text.
    static func find(in vocabulary: Vocabulary) -> Set<TokenID> {
        var found: [String: TokenID] = [:]
        for text in texts {
            if let id = vocabulary.find(text), vocabulary.types[Int(id)] == .control { found[text] = id }
        }
        func has(_ text: String) -> Bool { found[text] != nil }
        // The harmony format ends a *message* with <|end|>, and a turn with <|return|> or a call.
        if has("<|return|>") && has("<|call|>") || has("<|flush|>") && (has("<|call|>") || has("<|calls|>")) {
            found["<|end|>"] = nil
        }
        return Set(found.values)
    }
}
