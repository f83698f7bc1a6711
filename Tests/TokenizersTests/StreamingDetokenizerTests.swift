import Testing
import Tokenizers

struct StreamingDetokenizerTests {
    private func tokens(of bytes: [UInt8], _ tokenizer: Tokenizer) throws -> [TokenID] {
        let byteTokens = Dictionary(
            (0..<TokenID(tokenizer.count)).map { (tokenizer.bytes(of: $0), $0) },
            uniquingKeysWith: { first, _ in first })
        return try bytes.map { try #require(byteTokens[[$0]]) }
    }

    @Test(arguments: ["区", "é", "👍🏽", "👩‍💻x", "🇯🇵🇩🇪", "a🇯🇵b", "क्षि", "日本語 text", "e\u{301}"])
    func `no part ends within a character`(text: String) throws {
        let tokenizer = try Tokenizer(Fixture.byteLevel())
        var stream = StreamingDetokenizer(tokenizer)
        var parts: [String] = []
        for token in try tokens(of: Array(text.utf8), tokenizer) { parts.append(stream.append(token)) }
        #expect(!parts.joined().unicodeScalars.contains("\u{fffd}"))
        for part in parts {
            #expect(!part.hasSuffix("\u{200d}"))
            // A flag comes whole: no part has but one regional indicator.
            #expect(part.unicodeScalars.filter { (0x1f1e6...0x1f1ff).contains($0.value) }.count % 2 == 0)
        }
        #expect(Array((parts.joined() + stream.finish()).utf8) == Array(text.utf8))
        #expect(stream.finish() == "")
    }

    @Test(
        arguments: [
            ([0xe5, 0x8c], "\u{fffd}"), ([0xf0, 0x9f, 0x87], "\u{fffd}"), ([0x61, 0xc3], "a\u{fffd}"),
            ([0xf0, 0x9f, 0x87, 0xaf], "\u{1f1ef}"), ([0x61, 0xe2, 0x80, 0x8d], "a\u{200d}"), ([], ""),
        ] as [([UInt8], String)])
    func `a truncated tail comes once and at the end`(bytes: [UInt8], expected: String) throws {
        let tokenizer = try Tokenizer(Fixture.byteLevel())
        var stream = StreamingDetokenizer(tokenizer)
        var text = ""
        for token in try tokens(of: bytes, tokenizer) { text += stream.append(token) }
        #expect(!text.unicodeScalars.contains("\u{fffd}"))
        #expect(Array((text + stream.finish()).utf8) == Array(expected.utf8))
    }

    @Test
    func `the parts together are the decoded text, whatever the bytes`() throws {
        let tokenizer = try Tokenizer(Fixture.byteLevel(controls: ["<s>"]))
        var random = SplitMix(state: 7)
        let alphabet: [UInt8] = [
            0x61, 0x20, 0x80, 0xbf, 0xc3, 0xe0, 0xe2, 0xed, 0xf0, 0xf4, 0xf5, 0x9f, 0x87, 0xa6, 0x8d, 0xff,
        ]
        let known = try tokens(of: alphabet, tokenizer) + [TokenID(tokenizer.count - 1)]
        for _ in 0..<2000 {
            let sequence = (0..<Int.random(in: 0...12, using: &random)).map { _ in known.randomElement(using: &random)!
            }
            var stream = StreamingDetokenizer(tokenizer)
            let parts = sequence.map { stream.append($0) }.joined() + stream.finish()
            #expect(Array(parts.utf8) == Array(tokenizer.decode(sequence, skipsSpecial: true).utf8))
        }
    }

    @Test
    func `SentencePiece's space before a text is not streamed`() throws {
        let tokenizer = try Tokenizer(Fixture.sentencePiece())
        var stream = StreamingDetokenizer(tokenizer)
        let tokens = tokenizer.encode("the dog 區", parsesSpecial: false, addsBOS: false)
        #expect(tokens.map { stream.append($0) }.joined() + stream.finish() == "the dog 區")
    }
}

/// The same numbers at every run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
