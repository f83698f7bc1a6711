import Testing
import Tokenizers

/// Files lie: each fault of a description is one error that names it.
struct HostileVocabularyTests {
    struct Fault: CustomTestStringConvertible, Sendable {
        let name: String
        let isSentencePiece: Bool
        let change: @Sendable (inout TokenizerDescription) -> Void
        let isExpected: @Sendable (TokenizerError) -> Bool
        var testDescription: String { name }

        init(
            _ name: String, sentencePiece: Bool = false,
            _ change: @escaping @Sendable (inout TokenizerDescription) -> Void,
            _ isExpected: @escaping @Sendable (TokenizerError) -> Bool
        ) {
            self.name = name
            isSentencePiece = sentencePiece
            self.change = change
            self.isExpected = isExpected
        }
    }

    static let faults = [
        Fault(
            "no tokens",
            {
                $0.tokens = []; $0.types = []
            }, { $0 == .emptyVocabulary }),
        Fault(
            "an unknown pre-tokenizer", { $0.model = .byteLevelBPE(preTokenizer: "who") },
            { $0 == .unknownPreTokenizer("who") }),
        Fault(
            "a token twice",
            {
                $0.tokens.append("a".utf8); $0.types.append(1)
            },
            {
                if case .duplicateToken("a", _, _) = $0 { true } else { false }
            }),
        Fault("a type that there is not", { $0.types[5] = 77 }, { $0 == .unknownTokenType(77, token: 5) }),
        Fault(
            "too few types", { $0.types.removeLast() },
            {
                if case .countMismatch("tokenizer.ggml.token_type", _, _) = $0 { true } else { false }
            }),
        Fault(
            "a token of a megabyte",
            {
                $0.tokens.append(repeatElement(0x61, count: 1 << 20)); $0.types.append(1)
            }, { if case .tokenTooLong(_, 1_048_576, _) = $0 { true } else { false } }),
        Fault("no merges", { $0.merges = [] }, { $0 == .missing(key: "tokenizer.ggml.merges") }),
        Fault("an empty merge", { $0.merges = [""] }, { isMerge($0, 0) }),
        Fault("a merge of one token", { $0.merges = ["a b", "ab"] }, { isMerge($0, 0) || isMerge($0, 1) }),
        Fault("a merge without a right side", { $0.merges = ["a "] }, { isMerge($0, 0) }),
        Fault("a merge of tokens that there are not", { $0.merges = ["qqq zzz"] }, { isMerge($0, 0) }),
        Fault(
            "a merge of bytes that are no text", { $0.merges.append([0xff, 0x20, 0xfe]) },
            {
                if case .invalidMerge = $0 { true } else { false }
            }),
        Fault(
            "an end of text out of range", { $0.eosToken = 1_000_000 },
            {
                if case .tokenOutOfRange("tokenizer.ggml.eos_token_id", 1_000_000, _) = $0 { true } else { false }
            }),
        Fault(
            "a negative begin of text", { $0.bosToken = -7 },
            {
                if case .tokenOutOfRange("tokenizer.ggml.bos_token_id", -7, _) = $0 { true } else { false }
            }),
        Fault(
            "a begin of text that is wanted and not there", { $0.addsBOS = true },
            {
                $0 == .missing(key: "tokenizer.ggml.bos_token_id")
            }),
        Fault("no scores", sentencePiece: true, { $0.scores = [] }, { $0 == .missing(key: "tokenizer.ggml.scores") }),
        Fault(
            "too few scores", sentencePiece: true, { $0.scores.removeLast() },
            {
                if case .countMismatch("tokenizer.ggml.scores", _, _) = $0 { true } else { false }
            }),
        Fault(
            "a score that is no number", sentencePiece: true, { $0.scores[300] = .nan },
            { $0 == .invalidScore(token: 300) }),
        Fault(
            "no way to spell unknown text", sentencePiece: true,
            {
                $0.tokens = ["a", "b"]; $0.types = [1, 1]; $0.scores = [0, 0]; $0.unknownToken = -1
            }, { $0 == .incompleteBytes(missing: 0) }),
    ]

    private static func isMerge(_ error: TokenizerError, _ index: Int) -> Bool {
        if case .invalidMerge(index, _, _) = error { true } else { false }
    }

    @Test(arguments: faults)
    func `a fault is named`(fault: Fault) {
        var description = fault.isSentencePiece ? Fixture.sentencePiece() : Fixture.byteLevel()
        fault.change(&description)
        #expect {
            try Tokenizer(description)
        } throws: { error in
            guard let error = error as? TokenizerError else { return false }
            return fault.isExpected(error) && !error.description.isEmpty
        }
    }

    @Test(arguments: ["t5", "rwkv", ""])
    func `an unknown model is named`(model: String) {
        #expect(throws: TokenizerError.unknownModel(model)) {
            try TokenizerDescription.Model(ggmlModel: model, preTokenizer: "qwen2")
        }
    }

    @Test
    func `odd vocabularies that can be used are used`() throws {
        // Empty tokens, one that is not UTF-8, scores at the ends of their range, the same merge twice.
        var description = Fixture.byteLevel(controls: [""], userDefined: [""])
        description.tokens.append([0xff, 0xfe, 0xc4])
        description.types.append(1)
        description.merges.append(description.merges[0])
        let tokenizer = try Tokenizer(description)
        let text = "the \u{fffd} dog"
        #expect(
            tokenizer.decode(tokenizer.encode(text, parsesSpecial: true, addsBOS: true), skipsSpecial: true) == text)

        var pieces = Fixture.sentencePiece()
        pieces.scores[300] = .infinity
        pieces.scores[301] = -.infinity
        let other = try Tokenizer(pieces)
        #expect(other.decode(other.encode(text, parsesSpecial: true, addsBOS: false), skipsSpecial: true) == text)
    }
}
