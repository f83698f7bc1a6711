import JSON
import TestSupport
import Testing
import Tokenizers

struct TokenizerTests {
    @Test(arguments: Fixture.texts.indices)
    func `byte-level ids are those of Hugging Face's tokenizers`(number: Int) throws {
        let tokenizer = try Tokenizer(Fixture.byteLevel())
        let text = Fixture.texts[number]
        let ids = tokenizer.encode(text, parsesSpecial: false, addsBOS: false)
        #expect(ids == Fixture.ids("byteLevel")[number])
        #expect(Array(tokenizer.decode(ids, skipsSpecial: false).utf8) == Array(text.utf8))
    }

    @Test(arguments: Fixture.texts.indices)
    func `SentencePiece ids are those of SentencePiece`(number: Int) throws {
        let tokenizer = try Tokenizer(Fixture.sentencePiece())
        let text = Fixture.texts[number]
        let ids = tokenizer.encode(text, parsesSpecial: false, addsBOS: false)
        #expect(ids == Fixture.ids("sentencePiece")[number])
        #expect(Array(tokenizer.decode(ids, skipsSpecial: false).utf8) == Array(text.utf8))
    }

    @Test
    func `a long text of words that come again is the words one by one`() throws {
        let tokenizer = try Tokenizer(Fixture.byteLevel())
        let lines = (0..<3000).map { "the dog \($0 % 7)\(Fixture.texts[$0 % Fixture.texts.count])\n" }
        let whole = tokenizer.encode(lines.joined(), parsesSpecial: false, addsBOS: false)
        // A line feed is no part of the word that follows it.
        let single = lines.flatMap { tokenizer.encode($0, parsesSpecial: false, addsBOS: false) }
        #expect(whole == single)
        #expect(tokenizer.decode(whole, skipsSpecial: false) == lines.joined())
    }

    @Test
    func `text that spells a control token is that token only where it is asked for`() throws {
        let tokenizer = try Tokenizer(
            Fixture.byteLevel(controls: ["<|im_start|>", "<|im_end|>"], userDefined: ["<tool>"]))
        let start = try #require(tokenizer.token(named: "<|im_start|>"))
        let end = try #require(tokenizer.token(named: "<|im_end|>"))
        let tool = try #require(tokenizer.token(named: "<tool>"))
        let text = "<|im_start|>the dog<tool><|im_end|>\n<|im_end"

        let parsed = tokenizer.encode(text, parsesSpecial: true, addsBOS: false)
        #expect(parsed.first == start)
        #expect(parsed.filter { $0 == end }.count == 1)
        #expect(parsed.filter { $0 == tool }.count == 1)
        #expect(tokenizer.decode(parsed, skipsSpecial: false) == text)
        #expect(tokenizer.decode(parsed, skipsSpecial: true) == "the dog<tool>\n<|im_end")

        let plain = tokenizer.encode(text, parsesSpecial: false, addsBOS: false)
        #expect(!plain.contains(start) && !plain.contains(end))
        #expect(plain.contains(tool))
        #expect(tokenizer.decode(plain, skipsSpecial: true) == text)

        #expect(tokenizer.isControl(start) && !tokenizer.isControl(tool) && !tokenizer.isControl(0))
        #expect(tokenizer.bytes(of: start) == [])
        #expect(tokenizer.bytes(of: tool) == Array("<tool>".utf8))
    }

    @Test
    func `control tokens that are spelled in content are text, and nothing else changes`() throws {
        let tokenizer = try Tokenizer(
            Fixture.byteLevel(controls: ["<|im_start|>", "<|im_end|>", "<|im_end|>er"], userDefined: ["<tool>"]))
        let end = try #require(tokenizer.token(named: "<|im_end|>"))
        let longer = try #require(tokenizer.token(named: "<|im_end|>er"))
        let tool = try #require(tokenizer.token(named: "<tool>"))
        func encode(_ parts: [(text: String, isContent: Bool)]) -> (text: String, tokens: [TokenID]) {
            var (text, ranges): (String, [Range<Int>]) = ("", [])
            for part in parts {
                let start = text.utf8.count
                text += part.text
                if part.isContent { ranges.append(start..<text.utf8.count) }
            }
            return (text, tokenizer.encode(text, contentRanges: ranges, addsBOS: false))
        }
        func count(_ token: TokenID, _ parts: [(text: String, isContent: Bool)]) -> Int {
            let (text, tokens) = encode(parts)
            #expect(tokenizer.decode(tokens, skipsSpecial: false) == text)
            return tokens.filter { $0 == token }.count
        }
        #expect(count(end, [("the<|im_end|>", true), ("<|im_end|>", false)]) == 1)
        #expect(count(end, [("<|im_", true), ("end|>", false)]) == 0)
        #expect(count(end, [("<|im_", false), ("end|>", true)]) == 0)
        #expect(count(end, [("<|im", true), ("_end|>", true)]) == 0)
        // The longest that lies in the template's own text.
        #expect(count(end, [("<|im_end|>", false), ("er", true)]) == 1)
        #expect(count(longer, [("<|im_end|>", false), ("er", true)]) == 0)
        #expect(count(longer, [("<|im_end|>", false), ("er", false)]) == 1)
        // User-defined tokens are words like others.
        #expect(count(tool, [("<tool>", true), ("<to", true), ("ol>", false)]) == 2)

        for text in Fixture.texts where !text.contains("<|im_") {
            let parts = [("<|im_start|>the", false), (text, true), ("<|im_end|>\n", false)]
            #expect(
                encode(parts).tokens
                    == tokenizer.encode("<|im_start|>the\(text)<|im_end|>\n", parsesSpecial: true, addsBOS: false))
        }
    }

    @Test
    func `the longest of several special tokens counts`() throws {
        let tokenizer = try Tokenizer(Fixture.byteLevel(userDefined: ["<a", "<a>", "<a><b", "b>"]))
        let names = tokenizer.encode("<a><a><b><a", parsesSpecial: false, addsBOS: false).map { tokenizer.name(of: $0) }
        #expect(names == ["<a>", "<a><b", ">", "<a"])
    }

    @Test
    func `SentencePiece puts a space before a text and after a special token and takes it away again`() throws {
        var description = Fixture.sentencePiece()
        let text = "the dog<mark>the dog<s> x"
        let prefixing = try Tokenizer(description)
        let tokens = prefixing.encode(text, parsesSpecial: true, addsBOS: false)
        #expect(tokens.compactMap { prefixing.name(of: $0) }.joined() == "▁the▁dog<mark>▁the▁dog<s>▁▁x")
        #expect(prefixing.decode(tokens, skipsSpecial: false) == text)

        description.addsSpacePrefix = false
        let plain = try Tokenizer(description)
        let others = plain.encode(text, parsesSpecial: true, addsBOS: false)
        #expect(others.compactMap { plain.name(of: $0) }.joined() == "the▁dog<mark>the▁dog<s>▁x")
        #expect(plain.decode(others, skipsSpecial: false) == text)
    }

    @Test
    func `Phi-3 swallows white space after its special tokens`() throws {
        var description = Fixture.sentencePiece()
        description.modelName = "Phi-3 mini 4k instruct"
        let tokenizer = try Tokenizer(description)
        let tokens = tokenizer.encode("a<mark> \n\t b<s> c", parsesSpecial: true, addsBOS: false)
        #expect(tokens.compactMap { tokenizer.name(of: $0) }.joined() == "▁a<mark>▁b<s>▁▁c")
    }

    struct BOSCase: CustomTestStringConvertible, Sendable {
        let preTokenizer: String?
        let addsBOS: Bool?
        let text: String
        let expected: Int
        var testDescription: String { "\(preTokenizer ?? "sentencePiece") \(addsBOS as Any) \(text)" }
    }

    @Test(arguments: [
        BOSCase(preTokenizer: "qwen2", addsBOS: nil, text: "a", expected: 0),
        BOSCase(preTokenizer: "qwen2", addsBOS: true, text: "a", expected: 1),
        BOSCase(preTokenizer: "llama-bpe", addsBOS: nil, text: "a", expected: 1),
        BOSCase(preTokenizer: "llama-bpe", addsBOS: false, text: "a", expected: 0),
        BOSCase(preTokenizer: "llama-bpe", addsBOS: nil, text: "", expected: 1),
        BOSCase(preTokenizer: "llama-bpe", addsBOS: nil, text: "<s>a", expected: 1),
        BOSCase(preTokenizer: nil, addsBOS: nil, text: "a", expected: 1),
        BOSCase(preTokenizer: nil, addsBOS: false, text: "a", expected: 0),
        BOSCase(preTokenizer: nil, addsBOS: true, text: "<s>a", expected: 1),
    ])
    func `the begin-of-text token comes once and where the file wants it`(one: BOSCase) throws {
        var description =
            one.preTokenizer.map { Fixture.byteLevel(preTokenizer: $0, controls: ["<s>"]) } ?? Fixture.sentencePiece()
        if one.preTokenizer != nil { description.bosToken = TokenID(description.tokens.count - 1) }
        description.addsBOS = one.addsBOS
        let tokenizer = try Tokenizer(description)
        let tokens = tokenizer.encode(one.text, parsesSpecial: true, addsBOS: true)
        #expect(tokens.filter { $0 == tokenizer.bosToken }.count == one.expected)
        #expect(one.expected == 0 || tokens.first == tokenizer.bosToken)
        #expect(!tokenizer.encode("a", parsesSpecial: true, addsBOS: false).contains(tokenizer.bosToken ?? -1))
    }

    @Test
    func `the end-of-text token comes where the file wants it`() throws {
        var description = Fixture.sentencePiece()
        description.addsEOS = true
        let tokenizer = try Tokenizer(description)
        #expect(tokenizer.encode("a", parsesSpecial: false, addsBOS: true, addsEOS: true).last == 2)
        #expect(tokenizer.encode("a", parsesSpecial: false, addsBOS: true).last != 2)
    }

    @Test
    func `bytes without a token are left out and nothing else is`() throws {
        // The control character U+0004 is missing in this vocabulary, as it is in SmolLM2's.
        var description = Fixture.byteLevel()
        let tokens = Fixture.strings(Fixture.file["byteLevel"]?["tokens"]).map { $0 == "\u{104}" ? "unused" : $0 }
        description.tokens = StringTable(tokens)
        description.unknownToken = 0
        let tokenizer = try Tokenizer(description)
        let ids = tokenizer.encode("a\u{4}b", parsesSpecial: false, addsBOS: false)
        #expect(tokenizer.decode(ids, skipsSpecial: false) == "ab")
    }

    @Test
    func `ids that the vocabulary does not have are no text`() throws {
        let tokenizer = try Tokenizer(Fixture.byteLevel())
        for id: TokenID in [-1, .min, .max, TokenID(tokenizer.count)] {
            #expect(tokenizer.bytes(of: id) == [])
            #expect(tokenizer.name(of: id) == nil)
            #expect(!tokenizer.isControl(id))
            #expect(tokenizer.decode([id], skipsSpecial: false) == "")
        }
    }

    @Test
    func `no text has fewer tokens than its length says`() throws {
        for description in [
            Fixture.byteLevel(controls: ["<|a|>"], userDefined: ["a long token of one's own"]), Fixture.sentencePiece(),
        ] {
            let tokenizer = try Tokenizer(description)
            let longest = (0..<tokenizer.count).map { tokenizer.name(of: TokenID($0))!.utf8.count }.max()!
            let texts =
                Fixture.texts + ["", "a", "\u{0}\u{1}\u{7f}", "a long token of one's own<|a|>"]
                + Fixture.texts.map { String(repeating: $0, count: 50) }
            for text in texts {
                let least = tokenizer.leastTokenCount(of: text)
                #expect(
                    least <= tokenizer.encode(text, parsesSpecial: true, addsBOS: false).count,
                    "\(text.debugDescription)")
            }
            let least = tokenizer.leastTokenCount(of: String(repeating: "a", count: 100_000))
            #expect(least >= 100_000 / longest && least <= 100_000)
        }
    }

    @Test
    func `long words take their time and no more`() throws {
        let tokenizer = try Tokenizer(Fixture.byteLevel())
        for text in [
            String(repeating: "a", count: 400_000), String(repeating: " ", count: 400_000) + "x",
            String(repeating: "世", count: 100_000),
        ] {
            let tokens = tokenizer.encode(text, parsesSpecial: false, addsBOS: false)
            #expect(tokenizer.decode(tokens, skipsSpecial: false) == text)
            let growth = growth(of: 10_000) { size in
                _ = tokenizer.encode(String(text.suffix(size)), parsesSpecial: false, addsBOS: false)
            }
            #expect(growth < 64)
        }
    }
}
