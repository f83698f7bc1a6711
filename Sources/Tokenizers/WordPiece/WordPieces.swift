/// Words cut into the longest pieces that the vocabulary has, from the left, as BERT does.
///
/// In GGUF files a piece that begins a word begins with U+2581, and one that goes on with it has no mark (in BERT's own
/// files it is the latter that have one, `##`). A word of which some part is no piece is the unknown token as a whole.
/// Source: Wu et al. 2016, "Google's Neural Machine Translation System" (the pieces); the `BertPreTokenizer` and
/// `WordPiece` of Hugging Face's `tokenizers` (where words end, and the limit on their length).
struct WordPieces: Sendable {
    let normalization: BERTNormalization
    /// Stands for a word that cannot be spelled.
    let unknown: TokenID

    /// Longer words are unknown, in characters.
    private static let wordLimit = 100

    /// Appends the tokens of a text to `tokens`.
    func append(_ text: UnsafeBufferPointer<UInt8>, _ vocabulary: Vocabulary, to tokens: inout [TokenID]) {
        var word = EscapedSpace.bytes
        var length = 0
        func end() {
            if length > 0 { append(word: word, length: length, vocabulary, to: &tokens) }
            word.removeLast(word.count - EscapedSpace.bytes.count)
            length = 0
        }
        normalization.forEachScalar(of: text) { scalar in
            switch Self.kind(of: scalar) {
            case .space: end()
            case .letter:
                length += 1
                // What is too long needs not be kept.
                if length <= Self.wordLimit { word.append(contentsOf: UTF8.encode(scalar)!) }
            case .single:
                end()
                length = 1
                word.append(contentsOf: UTF8.encode(scalar)!)
                end()
            }
        }
        end()
    }

    private func append(
        word: [UInt8], length: Int, _ vocabulary: Vocabulary, to tokens: inout [TokenID]
    ) {
        guard length <= Self.wordLimit else { return tokens.append(unknown) }
        let first = tokens.count
        word.withUnsafeBufferPointer { word in
            var start = 0
            while start < word.count {
                // The mark at the begin is no piece by itself.
                let least = start == 0 ? EscapedSpace.bytes.count + 1 : start + 1
                var end = min(word.count, start + vocabulary.longestText)
                var found: TokenID?
                // Inside a word the mark is a character of the text, and what begins with it in the vocabulary is no piece here.
                if start > 0, word[start...].starts(with: EscapedSpace.bytes) { end = start }
                while end >= least {
                    if end == word.count || word[end] & 0xc0 != 0x80,
                        let token = vocabulary.find(UnsafeBufferPointer(rebasing: word[start..<end])),
                        vocabulary.types[Int(token)] == .normal
                    {
                        found = token
                        break
                    }
                    end -= 1
                }
                guard let found else {
                    tokens.removeLast(tokens.count - first)
                    return tokens.append(unknown)
                }
                tokens.append(found)
                start = end
            }
        }
    }

    private enum Kind { case space, letter, single }

    /// Whether a character parts words, belongs to one, or is a word by itself.
    private static func kind(of scalar: Unicode.Scalar) -> Kind {
        let value = scalar.value
        if value < 0x80 {
            switch UInt8(value) {
            case 0x09...0x0d, 0x20: return .space
            case 0x21...0x2f, 0x3a...0x40, 0x5b...0x60, 0x7b...0x7e: return .single
            default: return .letter
            }
        }
        let mask: ScalarClass.Mask = 1 << ScalarClass.table[value]
        if mask & ScalarClass.spaces != 0 { return .space }
        return mask & ScalarClass.punctuation != 0 || BERTNormalization.isIdeograph(value) ? .single : .letter
    }
}
