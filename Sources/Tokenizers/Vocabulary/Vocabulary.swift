/// The tokens of a file, checked: their texts as they stand in the file, their types, the way from text to id, and the
/// bytes that each adds to a decoded text.
struct Vocabulary: Sendable {
    /// More tokens than any model has, and few enough that a hostile file cannot ask for much memory.
    static let countLimit = 4_194_304
    static let textLimit = 65_536

    let texts: StringTable
    let types: [TokenType]
    private let index: TextIndex
    /// What each token adds to a text; a control token's is its text as it stands.
    let pieces: StringTable

    var count: Int { texts.count }

    /// How the tokens' texts stand for bytes.
    enum Spelling: Sendable {
        /// In GPT-2's alphabet of bytes.
        case byteAlphabet
        /// As they are, with U+2581 for the space and `<0xNN>` for single bytes.
        case escapedSpaces
    }

    init(_ description: TokenizerDescription, spelling: Spelling) throws(TokenizerError) {
        let texts = description.tokens
        guard texts.count > 0 else { throw .emptyVocabulary }
        guard texts.count <= Self.countLimit else {
            throw .vocabularyTooLarge(count: texts.count, limit: Self.countLimit)
        }
        var types = [TokenType](repeating: .normal, count: texts.count)
        if !description.types.isEmpty {
            guard description.types.count == texts.count else {
                throw .countMismatch(
                    key: "tokenizer.ggml.token_type", count: description.types.count, tokens: texts.count)
            }
            for (id, value) in description.types.enumerated() where value != TokenType.normal.rawValue {
                // 0 is "undefined" in the format; such tokens are text like others.
                guard let type = value == 0 ? .normal : TokenType(rawValue: value) else {
                    throw .unknownTokenType(value, token: TokenID(id))
                }
                types[id] = type
            }
        }

        var index = TextIndex(capacity: texts.count)
        for id in 0..<texts.count {
            let length = texts.range(at: id).count
            guard length <= Self.textLimit else {
                throw .tokenTooLong(TokenID(id), byteCount: length, limit: Self.textLimit)
            }
            // An empty token stands for nothing and cannot be found.
            if length == 0 { continue }
            if let other = index.insert(TokenID(id), of: texts) {
                throw .duplicateToken(texts.text(at: id), first: other, second: TokenID(id))
            }
        }

        // Some files call tokens that steer the model normal or user-defined text.
        for text in StopTokens.texts.union(StopTokens.controlTexts) {
            guard let id = index.find(text, in: texts) else { continue }
            // In Gemma 3 this one is an HTML tag, and in Gemma 4, whose files may call it a control token.
            if text == "</s>" {
                if types[Int(id)] == .userDefined { continue }
                if index.find("<|tool_response>", in: texts) != nil { types[Int(id)] = .normal; continue }
            }
            types[Int(id)] = .control
        }

        // The harmony format's own marks are read by the program that shows the answer.
        for text in ["<|channel|>", "<|message|>", "<|start|>", "<|constrain|>"] {
            if let id = index.find(text, in: texts) { types[Int(id)] = .userDefined }
        }

        self.texts = texts
        self.types = types
        self.index = index
        self.pieces = Self.pieces(texts, types, spelling)
    }

    @inline(__always)
    func find(_ text: UnsafeBufferPointer<UInt8>) -> TokenID? { index.find(text, in: texts) }

    func find(_ text: String) -> TokenID? { index.find(text, in: texts) }

    /// The length of the longest token, in bytes.
    var longestText: Int { index.longest }

    /// Whether the text of `token`, if there is such a token, is `left` and `right` together.
    func token(
        _ token: TokenID, is left: UnsafeBufferPointer<UInt8>, followedBy right: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        guard contains(token) else { return false }
        let range = texts.range(at: Int(token))
        return range.count == left.count + right.count
            && texts.matches(left, at: range.lowerBound..<range.lowerBound + left.count)
            && texts.matches(right, at: range.lowerBound + left.count..<range.upperBound)
    }

    /// The token of each byte: the character of GPT-2's alphabet, or `<0xNN>`; -1 where the vocabulary has none.
    func byteTokens(_ spelling: Spelling) -> [TokenID] {
        (UInt8(0)...255).map { byte in
            switch spelling {
            case .byteAlphabet: return find(String(Unicode.Scalar(ByteAlphabet.scalars[Int(byte)])!)) ?? -1
            case .escapedSpaces:
                let digits = String(byte, radix: 16, uppercase: true)
                return find("<0x\(digits.count == 1 ? "0" : "")\(digits)>") ?? -1
            }
        }
    }

    private static func pieces(_ texts: StringTable, _ types: [TokenType], _ spelling: Spelling) -> StringTable {
        var bytes: [UInt8] = []
        var ends: [Int] = []
        bytes.reserveCapacity(texts.bytes.count)
        ends.reserveCapacity(texts.count)
        texts.bytes.withUnsafeBufferPointer { all in
            for id in 0..<texts.count {
                let text = UnsafeBufferPointer(rebasing: all[texts.range(at: id)])
                switch (types[id], spelling) {
                case (.control, _), (.unknown, _), (.userDefined, _): bytes.append(contentsOf: text)
                case (_, .byteAlphabet): ByteAlphabet.appendBytes(of: text, to: &bytes)
                case (let type, .escapedSpaces):
                    if type == .byte, let byte = byteValue(text) {
                        bytes.append(byte)
                    } else {
                        appendUnescaped(text, to: &bytes)
                    }
                }
                ends.append(bytes.count)
            }
        }
        return StringTable(bytes: bytes, ends: ends)
    }

    /// The byte that `<0xNN>` stands for.
    private static func byteValue(_ text: UnsafeBufferPointer<UInt8>) -> UInt8? {
        guard text.count == 6, text.starts(with: "<0x".utf8), text[5] == UInt8(ascii: ">") else { return nil }
        return UInt8(String(decoding: text[3..<5], as: UTF8.self), radix: 16)
    }

    /// Appends `text` with a space for every U+2581.
    private static func appendUnescaped(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        var index = 0
        while index < text.count {
            if EscapedSpace.stands(at: index, in: text) {
                bytes.append(UInt8(ascii: " "))
                index += 3
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
    }
}

extension TextIndex {
    func find(_ text: String, in table: StringTable) -> TokenID? {
        var text = text
        return text.withUTF8 { find($0, in: table) }
    }
}
