/// One text on its way to tokens.
struct Encoder {
    private(set) var tokens: [TokenID] = []
    private let tokenizer: Tokenizer
    private let text: UnsafeBufferPointer<UInt8>
    private var merger = Merger()
    private var cache = WordCache()
    private var isAfterSpecial = true
    private var spelled: [UInt8] = []

    init(_ tokenizer: Tokenizer, _ text: UnsafeBufferPointer<UInt8>) {
        self.tokenizer = tokenizer
        self.text = text
        tokens.reserveCapacity(text.count / 4 + 1)
    }

    /// Appends a token that is written out in the text.
    mutating func append(_ token: TokenID) {
        tokens.append(token)
        isAfterSpecial = true
    }

    /// Appends the tokens of a part of the text in which no token is written out.
    mutating func append(_ range: Range<Int>) {
        var start = range.lowerBound
        while range.upperBound - start > Self.partLimit {
            var end = start + Self.partLimit
            while text[end] & 0xc0 == 0x80 { end -= 1 }
            appendPart(start..<end)
            start = end
        }
        appendPart(start..<range.upperBound)
    }

    /// Symbols are counted in 32 bits: longer texts are cut before they are merged.
    private static let partLimit = 1 << 29

    private mutating func appendPart(_ range: Range<Int>) {
        switch tokenizer.engine {
        case .pairs(let ranks, let preTokenizer):
            switch tokenizer.spelling {
            case .byteAlphabet:
                let ignoresMerges = preTokenizer.rule.ignoresMerges
                preTokenizer.split(text, range) { word in
                    appendBytes(
                        UnsafeBufferPointer(rebasing: text[word]), by: ranks, ignoresMerges: ignoresMerges)
                }
            case .escapedSpaces:
                escaped(range, prefix: false).withUnsafeBufferPointer { escaped in
                    preTokenizer.split(escaped, 0..<escaped.count) { part in
                        appendCharacters(UnsafeBufferPointer(rebasing: escaped[part]), by: ranks)
                    }
                }
            }
        case .words(let pieces):
            pieces.append(UnsafeBufferPointer(rebasing: text[range]), tokenizer.vocabulary, to: &tokens)
        case .scores(let scores):
            escaped(range, prefix: tokenizer.addsSpacePrefix && isAfterSpecial).withUnsafeBufferPointer {
                appendCharacters($0, by: scores)
            }
        }
        isAfterSpecial = false
    }

    /// The bytes of `text[range]` with U+2581 for each space.
    private func escaped(_ range: Range<Int>, prefix: Bool) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(range.count + range.count / 2 + 3)
        if prefix { result.append(contentsOf: EscapedSpace.bytes) }
        for byte in text[range] {
            if byte == UInt8(ascii: " ") {
                result.append(contentsOf: EscapedSpace.bytes)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    // MARK: Byte-level

    private mutating func appendBytes(
        _ word: UnsafeBufferPointer<UInt8>, by ranks: PairRanks, ignoresMerges: Bool
    ) {
        if word.count == 1 { return emitByte(word[0]) }
        appendCached(word) { encoder in
            if ignoresMerges, let token = encoder.wholeToken(word) { return encoder.tokens.append(token) }
            encoder.merger.begin()
            for byte in word { encoder.merger.append(encoder.tokenizer.byteTokens[Int(byte)], length: 1) }
            encoder.mergeSymbols(of: word, by: ranks)
        }
    }

    /// The token that is the whole word.
    private mutating func wholeToken(_ word: UnsafeBufferPointer<UInt8>) -> TokenID? {
        spelled.removeAll(keepingCapacity: true)
        for byte in word { ByteAlphabet.spell(byte, into: &spelled) }
        guard let token = spelled.withUnsafeBufferPointer(tokenizer.vocabulary.find),
            tokenizer.vocabulary.types[Int(token)] == .normal
        else { return nil }
        return token
    }

    // MARK: Plain UTF-8

    private mutating func appendCharacters(_ text: UnsafeBufferPointer<UInt8>, by rules: some CharacterMergeRules) {
        var start = 0
        while start < text.count {
            let end = endOfWord(text, from: start)
            let word = UnsafeBufferPointer(rebasing: text[start..<end])
            appendCached(word) { encoder in
                if let token = rules.wholeToken(word, encoder.tokenizer.vocabulary) {
                    return encoder.tokens.append(token)
                }
                encoder.merger.begin()
                var position = 0
                while position < word.count {
                    let length = Unicode.UTF8.length(leadByte: word[position])
                    let character = UnsafeBufferPointer(rebasing: word[position..<position + length])
                    encoder.merger.append(rules.token(character, encoder.tokenizer.vocabulary), length: length)
                    position += length
                }
                encoder.mergeSymbols(of: word, by: rules)
            }
            start = end
        }
    }

    /// Where the word ends that begins at `start`: before the next space after something that no token joins to a space.
    private func endOfWord(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var index = start
        var isAfterSpace = true
        while index < text.count {
            let isSpace = EscapedSpace.stands(at: index, in: text)
            if isSpace, !isAfterSpace, !tokenizer.bytesJoinedToSpaces[Int(text[index &- 1])] { break }
            isAfterSpace = isSpace
            index &+= isSpace ? 3 : 1
        }
        return index
    }

    // MARK: Both

    /// Appends the tokens of `word` as they were found before, or as `tokenize` finds them.
    @inline(__always)
    private mutating func appendCached(_ word: UnsafeBufferPointer<UInt8>, tokenize: (inout Encoder) -> Void) {
        guard word.count <= WordCache.wordLimit else { return tokenize(&self) }
        let hash = ByteHash.hash(word, seed: ByteHash.seed)
        if let known = cache.find(word, hash: hash) {
            for index in known { tokens.append(tokens[index]) }
        } else {
            let start = tokens.count
            tokenize(&self)
            cache.insert(word, hash: hash, tokens: start..<tokens.count)
        }
    }

    private mutating func mergeSymbols(of word: UnsafeBufferPointer<UInt8>, by rules: some MergeRules) {
        // Taken out for the time, so that the loop may append tokens.
        var merger = Merger()
        swap(&merger, &self.merger)
        merger.merge(word, by: rules) { token, bytes in
            if token >= 0 {
                tokens.append(token)
            } else {
                for byte in bytes { emitByte(byte) }
            }
        }
        swap(&merger, &self.merger)
    }

    /// Appends the token of a byte that is part of no other token. Byte-level vocabularies that lack the byte (a control
    /// character that their training never saw) cannot say it: like their own tokenizers, this leaves it out.
    private mutating func emitByte(_ byte: UInt8) {
        let token = tokenizer.byteTokens[Int(byte)]
        if token >= 0 {
            tokens.append(token)
        } else if case .scores = tokenizer.engine, let unknown = tokenizer.unknownToken {
            tokens.append(unknown)
        }
    }
}

/// How the characters of a word in plain UTF-8 become the first symbols.
protocol CharacterMergeRules: MergeRules {
    /// The token of one character, or -1.
    func token(_ character: UnsafeBufferPointer<UInt8>, _ vocabulary: Vocabulary) -> TokenID
    /// The token of a word that is not merged, or `nil`.
    func wholeToken(_ word: UnsafeBufferPointer<UInt8>, _ vocabulary: Vocabulary) -> TokenID?
}

extension PairRanks: CharacterMergeRules {
    func token(_ character: UnsafeBufferPointer<UInt8>, _ vocabulary: Vocabulary) -> TokenID {
        vocabulary.find(character) ?? -1
    }

    /// Gemma 4 has tokens for runs of newlines, and no merges that make them.
    func wholeToken(_ word: UnsafeBufferPointer<UInt8>, _ vocabulary: Vocabulary) -> TokenID? {
        word.allSatisfy { $0 == 0x0a } ? vocabulary.find(word) : nil
    }
}

extension PieceScores: CharacterMergeRules {
    func token(_ character: UnsafeBufferPointer<UInt8>, _ vocabulary: Vocabulary) -> TokenID { token(character) }

    func wholeToken(_ word: UnsafeBufferPointer<UInt8>, _ vocabulary: Vocabulary) -> TokenID? { nil }
}

extension Unicode.UTF8 {
    /// How many bytes the character has that begins with this byte.
    @inline(__always)
    static func length(leadByte byte: UInt8) -> Int { byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4 }
}
