extension PreTokenizer {
    /// What is known of the pre-tokenizers of one name or several.
    package struct Rule: Sendable {
        /// The values of `tokenizer.ggml.pre`.
        package var names: [String]
        /// Each cuts the parts of the one before it, as a sequence of `Split`s with isolated matches does in the
        /// `tokenizer.json` of these models.
        var patterns: [String]
        /// A word that is a token is that token, whatever the merges say.
        var ignoresMerges = false
        /// Whether the begin-of-text token is added where the file does not say.
        var addsBOS = false
        /// Whether it is added whatever the file says.
        var alwaysAddsBOS = false
        var spelling = Vocabulary.Spelling.byteAlphabet

        /// In place of a pattern: the white space at the end of a part is cut off.
        static let trailingSpace = "\\s+$"
    }

    private static let contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    private static let spaces = "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
    private static let gpt2 =
        "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

    /// The pattern of the tiktoken encoding cl100k and its descendants, by how they cut digits.
    private static func cl100k(numbers: String, letters: String = "\\p{L}") -> String {
        let others = letters == "\\p{L}" ? "\\p{L}\\p{N}" : "\\p{L}\\p{M}\\p{N}"
        return "\(contractions)|[^\\r\\n\\p{L}\\p{N}]?[\(letters)]+|\(numbers)| ?[^\\s\(others)]+[\\r\\n]*|\(spaces)"
    }

    /// The pattern of o200k: words end where lower case meets upper case.
    private static func o200k(suffix: String, numbers: String) -> String {
        let upper = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
        let lower = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
        let front = "[^\\r\\n\\p{L}\\p{N}]?"
        return "\(front)\(upper)*\(lower)+\(suffix)|\(front)\(upper)+\(lower)*\(suffix)|\(numbers)"
            + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\(spaces)"
    }

    private static let deepSeekV3 =
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
        + "| ?[\\p{P}\\p{S}]+[\\r\\n]*|\(spaces)"

    /// The letters of scripts that have case, as DeepSeek LLM's `tokenizer.json` lists them.
    private static let casedLetters =
        "A-Za-z"
        + "\u{b5}\u{c0}-\u{d6}\u{d8}-\u{f6}\u{f8}-\u{1ba}\u{1bc}-\u{1bf}\u{1c4}-\u{293}\u{295}-\u{2af}"
        + "\u{370}-\u{373}\u{376}\u{377}\u{37b}-\u{37d}\u{37f}\u{386}\u{388}-\u{38a}\u{38c}\u{38e}-\u{3a1}"
        + "\u{3a3}-\u{3f5}\u{3f7}-\u{481}\u{48a}-\u{52f}\u{531}-\u{556}\u{10a0}-\u{10c5}\u{13a0}-\u{13f5}"
        + "\u{13f8}-\u{13fd}\u{1c90}-\u{1cba}\u{1cbd}-\u{1cbf}\u{1d00}-\u{1d2b}\u{1d6b}-\u{1d77}"
        + "\u{1d79}-\u{1d9a}\u{1e00}-\u{1f15}\u{1f18}-\u{1f1d}\u{1f20}-\u{1f45}\u{1f48}-\u{1f4d}"
        + "\u{1f50}-\u{1f57}\u{1f59}\u{1f5b}\u{1f5d}\u{1f5f}-\u{1f7d}\u{1f80}-\u{1fb4}\u{1fb6}-\u{1fbc}"
        + "\u{1fbe}\u{1fc2}-\u{1fc4}\u{1fc6}-\u{1fcc}\u{1fd0}-\u{1fd3}\u{1fd6}-\u{1fdb}\u{1fe0}-\u{1fec}"
        + "\u{1ff2}-\u{1ff4}\u{1ff6}-\u{1ffc}\u{2102}\u{2107}\u{210a}-\u{2113}\u{2115}\u{2119}-\u{211d}"
        + "\u{2124}\u{2126}\u{2128}\u{212a}-\u{212d}\u{212f}-\u{2134}\u{2139}\u{213c}-\u{213f}"
        + "\u{2145}-\u{2149}\u{214e}\u{2183}\u{2184}\u{2c00}-\u{2c7b}\u{2c7e}-\u{2ce4}\u{2ceb}-\u{2cee}"
        + "\u{2cf2}\u{2cf3}\u{a640}-\u{a66d}\u{a680}-\u{a69b}\u{a722}-\u{a76f}\u{a771}-\u{a787}"
        + "\u{a78b}-\u{a78e}\u{ab70}-\u{abbf}\u{fb00}-\u{fb06}\u{fb13}-\u{fb17}\u{ff21}-\u{ff3a}"
        + "\u{ff41}-\u{ff5a}\u{10400}-\u{1044f}\u{104b0}-\u{104d3}\u{104d8}-\u{104fb}\u{10c80}-\u{10cb2}"
        + "\u{10cc0}-\u{10cf2}\u{118a0}-\u{118df}\u{1e900}-\u{1e943}"

    /// All rules. A new family is one more entry.
    package static let rules: [Rule] = [
        Rule(
            names: [
                "gpt-2", "phi-2", "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de", "a.x-4.0", "mellum",
                "modern-bert", "mpt", "olmo", "jais", "trillion", "granite-docling", "exaone4", "jina-v1-en",
                "jina-v2-code", "roberta-bpe",
            ], patterns: [gpt2]),
        Rule(
            names: [
                "qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "megrez", "stablelm2", "hunyuan", "solar-open",
                "grok-2",
            ],
            patterns: [cl100k(numbers: "\\p{N}")]),
        Rule(names: ["qwen35"], patterns: [cl100k(numbers: "\\p{N}", letters: "\\p{L}\\p{M}")]),
        Rule(
            names: [
                "llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2",
                "jina-v5-nano",
            ], patterns: [cl100k(numbers: "\\p{N}{1,3}")], ignoresMerges: true, addsBOS: true),
        Rule(names: ["dbrx", "smaug-bpe", "chatglm-bpe"], patterns: [cl100k(numbers: "\\p{N}{1,3}")]),
        Rule(names: ["glm4", "glm5"], patterns: [cl100k(numbers: "\\p{N}{1,3}")], ignoresMerges: true),
        Rule(
            names: ["starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"],
            patterns: ["\\p{N}", gpt2]),
        Rule(
            names: ["default"],
            patterns: ["[\\p{P}$+<=>^~|]+", gpt2, "\\p{N}+", "[0-9][0-9][0-9]"]),
        Rule(names: ["falcon"], patterns: ["[\\p{P}$+<=>^~|`]+", gpt2, "[0-9][0-9][0-9]"]),
        Rule(
            names: ["tekken"], patterns: [o200k(suffix: "", numbers: "\\p{N}")], ignoresMerges: true, addsBOS: true),
        Rule(
            names: ["gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"],
            patterns: [o200k(suffix: contractions + "?", numbers: "\\p{N}{1,3}")]),
        Rule(
            names: ["granite-embed-multi-97m"],
            patterns: [o200k(suffix: contractions + "?", numbers: "\\p{N}{1,3}")], ignoresMerges: true),
        Rule(
            names: ["deepseek-llm"],
            patterns: [
                "[\\r\\n]", "\\s?[\(casedLetters)]+",
                "\\s?[!-/:-~\u{ff01}-\u{ff0f}\u{ff1a}-\u{ff5e}\u{2018}-\u{201f}\u{3000}-\u{3002}]+", Rule.trailingSpace,
                "[\u{4e00}-\u{9fa5}\u{800}-\u{4e00}\u{ac00}-\u{d7ff}]+", "\\p{N}+",
            ]),
        Rule(
            names: ["deepseek-coder"],
            patterns: [
                "[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[\u{4e00}-\u{9fa5}\u{800}-\u{4e00}\u{ac00}-\u{d7ff}]+",
                "\\p{N}",
            ]),
        Rule(
            names: ["deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"],
            patterns: ["\\p{N}{1,3}", "[\u{4e00}-\u{9fa5}\u{3040}-\u{309f}\u{30a0}-\u{30ff}]+", deepSeekV3]),
        Rule(
            names: ["poro-chat", "bloom", "gpt3-finnish"],
            patterns: [" ?[^(\\s|.,!?\u{2026}\u{3002}\u{ff0c}\u{3001}\u{964}\u{6d4}\u{60c})]+"]),
        Rule(
            names: ["viking"],
            patterns: [" ?[^(\\s|.,!?\u{2026}\u{3002}\u{ff0c}\u{3001}\u{964}\u{6d4}\u{60c})]+", "\\p{N}"]),
        Rule(
            names: ["bailingmoe", "bailingmoe2", "llada-moe"],
            patterns: [
                "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]"
                    + "|\\s+(?!\\S)|\\s+"
            ]),
        Rule(
            names: ["seed-coder"],
            patterns: [
                "\(contractions)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|\(spaces)"
            ]),
        Rule(
            names: ["ufakzeka"],
            patterns: ["[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\(spaces)"]),
        Rule(names: ["laguna"], patterns: ["[^\\n]+|[\\n]+", cl100k(numbers: "\\p{N}")]),
        Rule(
            names: ["minicpm5"], patterns: ["\\p{N}{1,3}", cl100k(numbers: "\\p{N}+")], ignoresMerges: true),
        Rule(
            names: ["jais-2"],
            patterns: [
                "\(contractions)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+"
                    + [512, 256, 128, 64, 32, 16, 8, 4].map { "|\\s{\($0)}(?!\\S)" }.joined()
                    + "|\\s{1,2}(?!\\S)|\\s"
            ]),
        Rule(
            names: ["gemma4", "granite-embed-multi-311m"], patterns: ["[^\\n]+|[\\n]+"], ignoresMerges: false,
            alwaysAddsBOS: true, spelling: .escapedSpaces),
        Rule(names: ["sarvam-moe"], patterns: ["[^\\n]+|[\\n]+"], spelling: .escapedSpaces),
    ]
}
