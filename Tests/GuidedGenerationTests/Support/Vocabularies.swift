import GuidedGeneration
import JSON

/// Vocabularies for tests. The last token always ends the output.
enum Vocabulary {
    /// A token for each byte, so that every text can be walked.
    static let bytes = TokenTrie(tokens: (0...255).map { [UInt8($0)] } + [[]], stopTokens: [256])

    /// All bytes, and pieces of text of every kind that the fast paths tell apart.
    static func mixed(_ pieces: [String], broken: [[UInt8]] = []) -> [[UInt8]] {
        (0...255).map { [UInt8($0)] } + pieces.map { Array($0.utf8) } + broken + [[]]
    }

    static func trie(_ tokens: [[UInt8]]) -> TokenTrie {
        TokenTrie(tokens: tokens, stopTokens: [Int32(tokens.count - 1)])
    }

    /// Pieces as tokenizers have them: words, spaces, runs of punctuation that close strings, escapes, parts of characters.
    static let pieces = [
        "a", "b", "ab", "abc", "the", "The", " the", " a", "  ", "   ", "name", "id", "x_1", "12", "123", "2024", "0",
        "00", "-",
        "-1", "1.", ".5", "e1", "E+", "true", "tr", "ue", "false", "null", "nu", "\"", "\"\"", "\":", "\":\"", "\",\"",
        "\"}", "\"]",
        "\"}]", "\"}}", "},{", "},{\"", "],[", "{\"", "{\"a", "{}", "[]", "[[", "]]", "}}", ",", ",\"", ":", ":[", ":{",
        ".\"", "!\",",
        "a\"", "b\",\"a", "\\", "\\n", "\\\"", "\\u", "\\u00", "e9", "\\ud83d", "\\ude00", "\\/", "é", "日", "日本", "😀",
        " 日", "!", "?!", "@", ".com",
        "http", "://", "--", "2024-01", "T12:", "Z", "\n", "\t", "\u{7f}",
    ]

    static let broken: [[UInt8]] = [
        [0xe6], [0xe6, 0x97], [0x97, 0xa5], [0xa5, 0x22], [0xf0, 0x9f], [0x98, 0x80], [0xc3], [0xa9, 0x61],
    ]

    static let standard = trie(mixed(pieces, broken: broken))
    static let standardTokens = mixed(pieces, broken: broken)
}

/// A small generator, so that failures can be had again.
struct RandomBits: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_f491_4f6c_dd1d
    }
}

extension Grammar {
    static func schema(_ text: String, _ options: SchemaOptions = .init()) throws -> Grammar {
        try .jsonSchema(JSONValue(parsing: text, depthLimit: 20_000), options: options)
    }

    /// Whether a text is allowed from its first byte to its end.
    func accepts(_ text: String) -> Bool { accepts(Array(text.utf8)) }

    func accepts(_ bytes: [UInt8]) -> Bool {
        var matcher = Matcher(self, trie: Vocabulary.bytes)
        return matcher.accept(bytes: bytes) && matcher.isAccepting
    }

    /// How much of a text is allowed.
    func allowedPrefix(_ text: String) -> String {
        var matcher = Matcher(self, trie: Vocabulary.bytes)
        var prefix: [UInt8] = []
        for byte in text.utf8 {
            guard matcher.accept(bytes: [byte]) else { break }
            prefix.append(byte)
        }
        return String(decoding: prefix, as: UTF8.self)
    }
}
