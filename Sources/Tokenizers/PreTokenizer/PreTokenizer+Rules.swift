extension PreTokenizer {
    /// What is known of the pre-tokenizers of one name or several.
    struct Rule: Sendable {
        /// The values of `tokenizer.ggml.pre`.
        var names: [String]
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
        "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗ"
        + "ὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼ\u{1fbe}ῂ-ῄῆ-ῌῐ-\u{1fd3}ῖ-\u{1fdb}ῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u{2126}ℨ\u{212a}-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄ"
        + "Ⰰ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃"

    /// All rules. A new family is one more entry.
    static let rules: [Rule] = [
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
                "[\\r\\n]", "\\s?[\(casedLetters)]+", "\\s?[!-/:-~！-／：-～‘-‟　-。]+", Rule.trailingSpace,
                "[一-龥ࠀ-一가-퟿]+", "\\p{N}+",
            ]),
        Rule(
            names: ["deepseek-coder"],
            patterns: ["[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[一-龥ࠀ-一가-퟿]+", "\\p{N}"]),
        Rule(
            names: ["deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"],
            patterns: ["\\p{N}{1,3}", "[一-龥\u{3040}-ゟ゠-ヿ]+", deepSeekV3]),
        Rule(names: ["poro-chat", "bloom", "gpt3-finnish"], patterns: [" ?[^(\\s|.,!?…。，、।۔،)]+"]),
        Rule(names: ["viking"], patterns: [" ?[^(\\s|.,!?…。，、।۔،)]+", "\\p{N}"]),
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
