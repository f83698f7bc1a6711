/// A token's index in the vocabulary.
package typealias TokenID = Int32

/// What a GGUF file says of its tokenizer: the keys `tokenizer.ggml.*`, as they stand in the file and not yet checked.
package struct TokenizerDescription: Sendable {
    package enum Model: Sendable, Hashable {
        /// Byte-pair merges over the bytes of words, in the alphabet of GPT-2; the words are cut by the pre-tokenizer of
        /// that name (`tokenizer.ggml.pre`).
        case byteLevelBPE(preTokenizer: String)
        /// Byte-pair merges by the pieces' scores, with U+2581 for spaces and `<0xNN>` for bytes without a piece.
        case sentencePiece
        /// The longest pieces of words, as in BERT, with U+2581 where a word begins.
        case wordPiece(lowercases: Bool, stripsAccents: Bool)
    }

    package var model: Model
    /// The text of every token, as in the file (`tokens`).
    package var tokens: StringTable
    /// SentencePiece: how early a piece is merged, one for each token (`scores`). May be empty for byte-level BPE.
    package var scores: [Float]
    /// The raw value of each token's `TokenType` (`token_type`). Empty: all tokens are normal.
    package var types: [Int32]
    /// Byte-level BPE: `LEFT RIGHT`, the first merged first (`merges`).
    package var merges: StringTable

    /// `bos_token_id` and so on; `nil` where the file has no such key. An id of 4,294,967,295 in a file means none.
    package var bosToken: TokenID?
    package var eosToken: TokenID?
    package var eotToken: TokenID?
    package var eomToken: TokenID?
    package var unknownToken: TokenID?
    /// `add_bos_token` and so on; `nil` where the file has no such key, and the family's own rule is used.
    package var addsBOS: Bool?
    package var addsEOS: Bool?
    /// `add_space_prefix`: SentencePiece begins a text with a space that the text does not have.
    package var addsSpacePrefix: Bool?
    /// `general.name` and `general.architecture`: a few families have rules that no key of the file tells.
    package var modelName: String
    package var architecture: String

    package init(
        model: Model, tokens: StringTable, scores: [Float] = [], types: [Int32] = [], merges: StringTable = [],
        bosToken: TokenID? = nil, eosToken: TokenID? = nil, eotToken: TokenID? = nil, eomToken: TokenID? = nil,
        unknownToken: TokenID? = nil, addsBOS: Bool? = nil, addsEOS: Bool? = nil, addsSpacePrefix: Bool? = nil,
        modelName: String = "", architecture: String = ""
    ) {
        self.model = model
        self.tokens = tokens
        self.scores = scores
        self.types = types
        self.merges = merges
        self.bosToken = bosToken
        self.eosToken = eosToken
        self.eotToken = eotToken
        self.eomToken = eomToken
        self.unknownToken = unknownToken
        self.addsBOS = addsBOS
        self.addsEOS = addsEOS
        self.addsSpacePrefix = addsSpacePrefix
        self.modelName = modelName
        self.architecture = architecture
    }
}

extension TokenizerDescription.Model {
    /// The model by the names of a GGUF file: `tokenizer.ggml.model` and, for byte-level BPE, `tokenizer.ggml.pre`.
    ///
    /// Files for word pieces say in `tokenizer.ggml.normalizer.*` whether case and accents count; those without it are of
    /// models for which they do not.
    package init(
        ggmlModel: String, preTokenizer: String?, lowercases: Bool? = nil, stripsAccents: Bool? = nil
    ) throws(TokenizerError) {
        switch ggmlModel {
        case "gpt2": self = .byteLevelBPE(preTokenizer: preTokenizer ?? "default")
        case "gemma4": self = .byteLevelBPE(preTokenizer: "gemma4")
        case "llama": self = .sentencePiece
        case "bert":
            // As in BERT's own files, accents go where case does.
            self = .wordPiece(lowercases: lowercases ?? true, stripsAccents: stripsAccents ?? lowercases ?? true)
        default: throw .unknownModel(ggmlModel)
        }
    }
}

/// The kinds of tokens that a GGUF file tells apart, by their values in `tokenizer.ggml.token_type`.
package enum TokenType: Int32, Sendable {
    case normal = 1
    case unknown = 2
    /// Steers the model and is no text: the end of a turn, the begin of a text.
    case control = 3
    /// Text that is always one token, whatever the merges say.
    case userDefined = 4
    case unused = 5
    /// One byte, written `<0xNN>`.
    case byte = 6
}
