import Tokenizers

extension GGUFFile {
    /// What the file says of its tokenizer (`tokenizer.ggml.*`), for `Tokenizer` to check and build from.
    package func tokenizerDescription() throws(InferenceError) -> TokenizerDescription {
        guard let tokens = metadata["tokenizer.ggml.tokens"]?.stringsValue else {
            throw .missingMetadata(key: "tokenizer.ggml.tokens")
        }
        let modelName = try require("tokenizer.ggml.model", as: "a string", \.stringValue)
        let lowercases = try optional(
            "tokenizer.ggml.normalizer.lowercase", as: "a Boolean", \.boolValue)
        let stripsAccents = try optional(
            "tokenizer.ggml.normalizer.strip_accents", as: "a Boolean", \.boolValue)
        let model: TokenizerDescription.Model
        do {
            model = try TokenizerDescription.Model(
                ggmlModel: modelName, preTokenizer: metadata["tokenizer.ggml.pre"]?.stringValue,
                lowercases: lowercases, stripsAccents: stripsAccents)
        } catch { throw .tokenizer(error) }
        // Files for word pieces call the ends of a text by BERT's names, one of them misspelled.
        let isWordPiece = if case .wordPiece = model { true } else { false }
        return TokenizerDescription(
            model: model,
            tokens: tokens,
            scores: try optional("tokenizer.ggml.scores", as: "an array of numbers", \.floatsValue) ?? [],
            types: try (optional("tokenizer.ggml.token_type", as: "an array of integers", \.integersValue) ?? [])
                .map { Int32(clamping: $0) },
            merges: try optional("tokenizer.ggml.merges", as: "an array of strings", \.stringsValue) ?? StringTable(),
            bosToken: try tokenID(isWordPiece ? ["cls_token_id", "bos_token_id"] : ["bos_token_id"]),
            eosToken: try tokenID(
                isWordPiece ? ["seperator_token_id", "separator_token_id", "eos_token_id"] : ["eos_token_id"]),
            eotToken: try tokenID("eot_token_id"),
            eomToken: try tokenID("eom_token_id"),
            unknownToken: try tokenID("unknown_token_id"),
            addsBOS: try optional("tokenizer.ggml.add_bos_token", as: "a Boolean", \.boolValue),
            addsEOS: try optional(
                isWordPiece ? "tokenizer.ggml.add_sep_token" : "tokenizer.ggml.add_eos_token", as: "a Boolean",
                \.boolValue),
            addsSpacePrefix: try optional("tokenizer.ggml.add_space_prefix", as: "a Boolean", \.boolValue),
            modelName: metadata["general.name"]?.stringValue ?? "",
            architecture: metadata["general.architecture"]?.stringValue ?? "")
    }

    /// The first of these that the file has.
    private func tokenID(_ names: [String]) throws(InferenceError) -> TokenID? {
        for name in names {
            if let token = try tokenID(name) { return token }
        }
        return nil
    }

    private func tokenID(_ name: String) throws(InferenceError) -> TokenID? {
        let key = "tokenizer.ggml.\(name)"
        guard let value = try optional(key, as: "an integer", \.intValue) else { return nil }
        // Files write -1 as an unsigned number for "none".
        guard value != 0xffff_ffff, value != -1 else { return nil }
        guard let token = TokenID(exactly: value) else { throw .invalidMetadata(key: key, reason: "it is \(value)") }
        return token
    }

    // MARK: Typed access

    /// The value of a key that the file must have.
    func require<Value>(
        _ key: String, as kind: String, _ value: (GGUFValue) -> Value?
    ) throws(InferenceError) -> Value {
        guard let found = try optional(key, as: kind, value) else { throw .missingMetadata(key: key) }
        return found
    }

    /// The value of a key, nil when the file has none, an error when it is of another kind.
    func optional<Value>(
        _ key: String, as kind: String, _ value: (GGUFValue) -> Value?
    ) throws(InferenceError) -> Value? {
        guard let found = metadata[key] else { return nil }
        guard let converted = value(found) else { throw .invalidMetadata(key: key, reason: "it is not \(kind)") }
        return converted
    }
}
