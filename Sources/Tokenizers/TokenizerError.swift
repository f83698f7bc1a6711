/// Why no tokenizer can be made of a file's description.
package enum TokenizerError: Error, Hashable, CustomStringConvertible {
    case unknownModel(String)
    case unknownPreTokenizer(String)
    case emptyVocabulary
    case vocabularyTooLarge(count: Int, limit: Int)
    case tooManyMerges(count: Int, limit: Int)
    case tokenTooLong(TokenID, byteCount: Int, limit: Int)
    case duplicateToken(String, first: TokenID, second: TokenID)
    case unknownTokenType(Int32, token: TokenID)
    case countMismatch(key: String, count: Int, tokens: Int)
    case missing(key: String)
    case tokenOutOfRange(key: String, id: TokenID, count: Int)
    case invalidScore(token: TokenID)
    case invalidMerge(index: Int, text: String, reason: String)
    case incompleteBytes(missing: UInt8)

    package var description: String {
        switch self {
        case .unknownModel(let name):
            "unknown tokenizer model '\(name)' (tokenizer.ggml.model); known are 'gpt2', 'gemma4', 'llama' and 'bert'"
        case .unknownPreTokenizer(let name):
            "unknown pre-tokenizer '\(name)' (tokenizer.ggml.pre): its rules for cutting text into words are not known"
        case .emptyVocabulary: "the vocabulary (tokenizer.ggml.tokens) is empty"
        case .vocabularyTooLarge(let count, let limit):
            "the vocabulary has \(count) tokens; at most \(limit) are supported"
        case .tooManyMerges(let count, let limit):
            "the file has \(count) merges (tokenizer.ggml.merges); at most \(limit) are supported"
        case .tokenTooLong(let token, let byteCount, let limit):
            "token \(token) is \(byteCount) bytes long; at most \(limit) are supported"
        case .duplicateToken(let text, let first, let second): "tokens \(first) and \(second) are both \(quoted(text))"
        case .unknownTokenType(let type, let token): "token \(token) is of the unknown type \(type)"
        case .countMismatch(let key, let count, let tokens): "\(key) has \(count) entries for \(tokens) tokens"
        case .missing(let key): "the file has no \(key)"
        case .tokenOutOfRange(let key, let id, let count): "\(key) is \(id), but the vocabulary has \(count) tokens"
        case .invalidScore(let token): "the score of token \(token) is not a number"
        case .invalidMerge(let index, let text, let reason): "merge \(index) (\(quoted(text))) is invalid: \(reason)"
        case .incompleteBytes(let missing):
            "the vocabulary has no token for byte \(missing) and none for unknown text, so that it cannot spell every text"
        }
    }

    /// A text of the file, safe to print: shortened, and with escapes for what is not printable.
    private func quoted(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(60).map { $0.escaped(asASCII: false) }.joined()
        return "\"\(shown)\"" + (text.unicodeScalars.count > 60 ? "…" : "")
    }
}
