/// Text to tokens and back, by the vocabulary of one model file.
///
/// Sources: Sennrich et al. 2016 (byte-pair encoding), GPT-2's byte-level alphabet, Kudo and Richardson 2018
/// (SentencePiece), and for what GGUF files do not say the rules of llama.cpp's `llama-vocab.cpp`.
///
/// Text is taken as it is: no Unicode normalization, so that decoding gives back the very text. Word pieces are the
/// exception: they are for models that read and do not write.
package final class Tokenizer: Sendable {
    let vocabulary: Vocabulary
    let specialTokens: SpecialTokens
    let engine: Engine
    /// The token of each byte, -1 where there is none.
    let byteTokens: [TokenID]
    /// SentencePiece: a space is put before the text and after each special token, and taken away when decoding.
    let addsSpacePrefix: Bool

    /// How words become tokens: by the ranks of pairs in the words of a pre-tokenizer, by the scores of pieces, or by the
    /// longest pieces.
    enum Engine: Sendable {
        case pairs(PairRanks, PreTokenizer)
        case scores(PieceScores)
        case words(WordPieces)
    }

    let spelling: Vocabulary.Spelling
    /// Tokens with U+2581 for spaces: by the byte before a space, whether a token reaches over that border. Where none does,
    /// the parts on both sides can be merged by themselves.
    let bytesJoinedToSpaces: [Bool]

    /// The bytes of text that one token stands for, at most.
    let mostBytesOfToken: Int

    package let bosToken: TokenID?
    package let eosToken: TokenID?
    package let unknownToken: TokenID?
    /// All tokens that end a generation.
    package let stopTokens: Set<TokenID>
    /// Whether the file wants its begin-of-text token before, and its end-of-text token after a text.
    package let addsBOS: Bool
    package let addsEOS: Bool

    package init(_ description: TokenizerDescription) throws(TokenizerError) {
        let preTokenizer: PreTokenizer?
        switch description.model {
        case .byteLevelBPE(let name): preTokenizer = try PreTokenizer(named: name)
        case .sentencePiece, .wordPiece: preTokenizer = nil
        }
        let spelling = preTokenizer?.rule.spelling ?? .escapedSpaces
        let vocabulary = try Vocabulary(description, spelling: spelling)
        byteTokens = vocabulary.byteTokens(spelling)
        self.vocabulary = vocabulary

        // The usual order of special tokens, for files that do not say theirs: SentencePiece's first three, and BERT's.
        let usualTokens: (bos: TokenID, eos: TokenID, unknown: TokenID)?
        switch description.model {
        case .byteLevelBPE: usualTokens = nil
        case .sentencePiece: usualTokens = (1, 2, 0)
        case .wordPiece: usualTokens = (101, 102, 100)
        }
        func checked(_ id: TokenID?, _ key: String) throws(TokenizerError) -> TokenID? {
            // 4,294,967,295 means none.
            guard let id, id != -1 else { return nil }
            guard id >= 0, id < vocabulary.count else {
                throw .tokenOutOfRange(key: "tokenizer.ggml.\(key)", id: id, count: vocabulary.count)
            }
            return id
        }
        func usual(_ id: TokenID?) -> TokenID? { id.flatMap { Int($0) < vocabulary.count ? $0 : nil } }
        let bos = try checked(description.bosToken ?? usual(usualTokens?.bos), "bos_token_id")
        let eos = try checked(description.eosToken ?? usual(usualTokens?.eos), "eos_token_id")
        let unknown = try checked(description.unknownToken ?? usual(usualTokens?.unknown), "unknown_token_id")
        let eot = try checked(description.eotToken, "eot_token_id")
        let eom = try checked(description.eomToken, "eom_token_id")

        if case .wordPiece(let lowercases, let stripsAccents) = description.model {
            guard let unknown else { throw .missing(key: "tokenizer.ggml.unknown_token_id") }
            let normalization = BERTNormalization(lowercases: lowercases, stripsAccents: stripsAccents)
            engine = .words(WordPieces(normalization: normalization, unknown: unknown))
        } else if let preTokenizer {
            guard description.merges.count > 0 else { throw .missing(key: "tokenizer.ggml.merges") }
            engine = .pairs(try PairRanks(description.merges, vocabulary: vocabulary), preTokenizer)
        } else {
            engine = .scores(try PieceScores(description.scores, vocabulary: vocabulary))
        }
        self.spelling = spelling
        bytesJoinedToSpaces = spelling == .escapedSpaces ? vocabulary.bytesJoinedToSpaces : []

        bosToken = bos
        eosToken = eos
        unknownToken = unknown
        stopTokens = StopTokens.find(in: vocabulary).union([eos, eot, eom].compactMap(\.self))

        if preTokenizer == nil, unknown == nil, let missing = byteTokens.firstIndex(of: -1) {
            throw .incompleteBytes(missing: UInt8(missing))
        }
        if description.addsBOS == true, bos == nil { throw .missing(key: "tokenizer.ggml.bos_token_id") }
        if description.addsEOS == true, eos == nil { throw .missing(key: "tokenizer.ggml.eos_token_id") }
        addsBOS =
            bos != nil
            && (preTokenizer?.rule.alwaysAddsBOS == true
                || description.addsBOS ?? preTokenizer?.rule.addsBOS ?? true)
        if case .words = engine {
            addsEOS = eos != nil && description.addsEOS ?? true
        } else {
            addsEOS = eos != nil && description.addsEOS ?? false
        }
        addsSpacePrefix = preTokenizer == nil && description.addsSpacePrefix ?? true

        let (left, right) = Self.strippingTokens(description, vocabulary)
        specialTokens = SpecialTokens(vocabulary, stripsLeft: left, stripsRight: right)
        mostBytesOfToken = (0..<vocabulary.count).reduce(1) { max($0, vocabulary.pieces.range(at: $1).count) }
    }

    /// How many tokens the vocabulary has.
    package var count: Int { vocabulary.count }

    /// Whether the token steers the model and is no text.
    package func isControl(_ token: TokenID) -> Bool {
        guard vocabulary.contains(token) else { return false }
        let type = vocabulary.types[Int(token)]
        return type == .control || type == .unknown
    }

    /// The token whose text in the file is `text`: `<|im_end|>`.
    package func token(named text: String) -> TokenID? { vocabulary.find(text) }

    /// The token's text as it stands in the file; `nil` for an id that the vocabulary does not have.
    package func name(of token: TokenID) -> String? {
        vocabulary.contains(token) ? vocabulary.texts.text(at: Int(token)) : nil
    }

    /// The tokens that swallow white space before or after them, which no key of a file tells: known by the model's name.
    private static func strippingTokens(
        _ description: TokenizerDescription, _ vocabulary: Vocabulary
    ) -> (left: Set<TokenID>, right: Set<TokenID>) {
        let name = description.modelName.lowercased()
        guard name.contains("phi-3") || name.contains("phi3") else { return ([], []) }
        var right: Set<TokenID> = []
        for id in 0..<vocabulary.count where vocabulary.types[id] != .normal && vocabulary.types[id] != .byte {
            right.insert(TokenID(id))
        }
        for text in ["<unk>", "<s>", "<|endoftext|>"] {
            if let id = vocabulary.find(text) { right.remove(id) }
        }
        return ([], right)
    }
}

extension Vocabulary {
    func contains(_ token: TokenID) -> Bool { token >= 0 && Int(token) < count }

    /// The bytes that stand before U+2581, and are not of one themselves, in some token that merges can make.
    var bytesJoinedToSpaces: [Bool] {
        var joined = [Bool](repeating: false, count: 256)
        texts.bytes.withUnsafeBufferPointer { all in
            for id in 0..<count where types[id] == .normal || types[id] == .userDefined || types[id] == .unused {
                let text = UnsafeBufferPointer(rebasing: all[texts.range(at: id)])
                var index = 0
                var isAfterSpace = true
                while index < text.count {
                    let isSpace = EscapedSpace.stands(at: index, in: text)
                    if isSpace, !isAfterSpace { joined[Int(text[index - 1])] = true }
                    isAfterSpace = isSpace
                    index += isSpace ? 3 : 1
                }
            }
        }
        return joined
    }
}
