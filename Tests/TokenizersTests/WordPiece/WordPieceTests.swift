import JSON
import Testing
import Tokenizers

struct WordPieceTests {
    static let texts = Fixture.texts + Fixture.strings(Fixture.file["wordTexts"])

    @Test(arguments: ["wordPiece", "casedWordPiece"], texts.indices)
    func `ids are those of Hugging Face's tokenizers`(name: String, number: Int) throws {
        let tokenizer = try Tokenizer(Fixture.wordPiece(name))
        let ids = tokenizer.encode(Self.texts[number], parsesSpecial: false, addsBOS: false)
        #expect(ids == Fixture.ids(name)[number], "\(Self.texts[number].debugDescription)")
    }

    @Test
    func `the ends of a text are marked, and texts do not spell the marks`() throws {
        let tokenizer = try Tokenizer(Fixture.wordPiece("wordPiece"))
        let plain = tokenizer.encode("the dog", parsesSpecial: false, addsBOS: false)
        #expect(tokenizer.encode("the dog", parsesSpecial: false, addsBOS: true, addsEOS: true) == [2] + plain + [3])
        #expect(tokenizer.encode("", parsesSpecial: false, addsBOS: true, addsEOS: true) == [2, 3])
        #expect(
            !tokenizer.encode("[CLS] the [SEP]", parsesSpecial: false, addsBOS: false).contains { $0 == 2 || $0 == 3 })
        #expect(tokenizer.encode("[CLS] the", parsesSpecial: true, addsBOS: false).first == 2)
        #expect(tokenizer.decode(plain, skipsSpecial: true) == "the dog")
    }

    @Test
    func `the mark of a begin is no begin inside a word`() throws {
        let tokenizer = try Tokenizer(Fixture.wordPiece("wordPiece"))
        #expect(tokenizer.encode("the\u{2581}dog", parsesSpecial: false, addsBOS: false) == [1])
    }

    @Test
    func `a file may say that its ends are not marked`() throws {
        var description = Fixture.wordPiece("wordPiece")
        description.addsBOS = false
        description.addsEOS = false
        let tokenizer = try Tokenizer(description)
        #expect(
            tokenizer.encode("the", parsesSpecial: false, addsBOS: true, addsEOS: true)
                == tokenizer.encode("the", parsesSpecial: false, addsBOS: false))
    }

    @Test
    func `a vocabulary without an unknown token is refused`() {
        var description = Fixture.wordPiece("wordPiece")
        // As a file says "none".
        description.unknownToken = -1
        #expect(throws: TokenizerError.missing(key: "tokenizer.ggml.unknown_token_id")) { try Tokenizer(description) }
        description.unknownToken = 100_000
        #expect(
            throws: TokenizerError.tokenOutOfRange(
                key: "tokenizer.ggml.unknown_token_id", id: 100_000, count: description.tokens.count)
        ) { try Tokenizer(description) }
    }

    @Test
    func `long texts of one word take linear time`() throws {
        let tokenizer = try Tokenizer(Fixture.wordPiece("wordPiece"))
        let text = String(repeating: "x", count: 2_000_000)
        #expect(tokenizer.encode(text, parsesSpecial: false, addsBOS: false) == [1])
    }
}
