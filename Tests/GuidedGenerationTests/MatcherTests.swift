import GuidedGeneration
import JSON
import Testing

@Suite struct MatcherTests {
    @Test func everyCharacterAndEveryEscapeCanBeWritten() throws {
        let grammar = try Grammar.schema(#"{"type": "string"}"#)
        let text = "“naïve” — 日本、\n\t\\\"/🙂\u{0}\u{7f}\u{10ffff}\u{fffd}"
        let quoted = JSONValue.quoted(text)
        #expect(grammar.accepts(quoted))
        #expect(try JSONValue(parsing: quoted) == .string(text))
        for escape in [
            #"\""#, #"\\"#, #"\/"#, #"\b"#, #"\f"#, #"\n"#, #"\r"#, #"\t"#, #"\u0041"#, #"\uABCD"#, #"\ud83d\ude42"#,
            #"\uD7FF"#, #"\uE000"#,
        ] {
            #expect(grammar.accepts("\"\(escape)\""), "\(escape)")
        }
        for escape in [
            #"\a"#, #"\u12"#, #"\ud83d"#, #"\ude42"#, #"\ud83dx"#, #"\ud83d\u0041"#, #"\ud83d\n"#, #"\U0041"#, "\n",
            "\u{1f}",
        ] {
            #expect(!grammar.accepts("\"\(escape)\""), "\(escape)")
        }
    }

    @Test func bytesAreUTF8() throws {
        let grammar = try Grammar.schema(#"{"type": "string"}"#)
        let good: [[UInt8]] = [
            [0xc2, 0x80], [0xe0, 0xa0, 0x80], [0xed, 0x9f, 0xbf], [0xee, 0x80, 0x80], [0xf0, 0x90, 0x80, 0x80],
            [0xf4, 0x8f, 0xbf, 0xbf],
        ]
        let bad: [[UInt8]] = [
            [0x80], [0xc0, 0x80], [0xc1, 0xbf], [0xc2], [0xe0, 0x9f, 0xbf], [0xed, 0xa0, 0x80],
            [0xf0, 0x8f, 0xbf, 0xbf], [0xf4, 0x90, 0x80, 0x80],
            [0xf5, 0x80, 0x80, 0x80], [0xff], [0xe6, 0x97],
        ]
        for bytes in good { #expect(grammar.accepts([0x22] + bytes + [0x22])) }
        for bytes in bad { #expect(!grammar.accepts([0x22] + bytes + [0x22]), "\(bytes)") }
    }

    @Test func whatIsForcedIsKnownAhead() throws {
        let grammar = try Grammar.schema(
            #"{"type": "object", "properties": {"reasoning": {"const": "yes \"é\""}, "answer": {"enum": ["abc", "abd"]}, "flag": {"type": "boolean"}}, "required": ["reasoning", "answer", "flag"], "additionalProperties": false}"#
        )
        var matcher = Matcher(grammar, trie: Vocabulary.bytes)
        let first = #"{"reasoning":"yes \"é\"","answer":"ab"#
        #expect(String(decoding: matcher.forcedBytes(), as: UTF8.self) == first)
        #expect(matcher.accept(bytes: first.utf8))
        #expect(matcher.forcedBytes().isEmpty)
        #expect(matcher.accept(bytes: "d".utf8))
        #expect(String(decoding: matcher.forcedBytes(), as: UTF8.self) == "\",\"flag\":")
        #expect(matcher.accept(bytes: "\",\"flag\":t".utf8))
        #expect(String(decoding: matcher.forcedBytes(), as: UTF8.self) == "rue}")
        #expect(matcher.accept(bytes: "rue}".utf8))
        #expect(matcher.forcedBytes().isEmpty)
        #expect(matcher.isAccepting && matcher.isFinished)
    }

    @Test func aCopyIsASnapshot() throws {
        let grammar = try Grammar.schema(#"{"type": "array", "items": {"type": "integer"}, "maxItems": 500}"#)
        var matcher = Matcher(grammar, trie: Vocabulary.bytes)
        #expect(matcher.accept(bytes: "[1".utf8))
        let snapshot = matcher
        #expect(matcher.accept(bytes: "2,3]".utf8))
        #expect(matcher.isFinished)
        var again = snapshot
        #expect(!again.isAccepting)
        #expect(again.accept(bytes: "]".utf8) && again.isFinished)
    }

    @Test func whatIsNotAllowedChangesNothing() throws {
        let grammar = try Grammar.schema(#"{"type": "array", "items": {"type": "integer"}}"#)
        var matcher = Matcher(grammar, trie: Vocabulary.standard)
        #expect(!matcher.accept(bytes: "[1,x".utf8))
        #expect(matcher.accept(bytes: "[1".utf8))
        let before = matcher.mask().count
        #expect(!matcher.accept(Int32(UInt8(ascii: "x"))))
        #expect(!matcher.accept(-1) && !matcher.accept(Int32.max))
        #expect(matcher.mask().count == before)
    }

    @Test func theStopTokenEndsACompleteText() throws {
        let stop = Int32(Vocabulary.standardTokens.count - 1)
        var matcher = Matcher(try Grammar.schema(#"{"type": "integer"}"#), trie: Vocabulary.standard)
        #expect(!matcher.mask().contains(stop) && !matcher.accept(stop))
        #expect(matcher.accept(bytes: "12".utf8))
        #expect(matcher.isAccepting && !matcher.isFinished)
        #expect(matcher.mask().contains(stop) && matcher.accept(stop))
        #expect(matcher.isFinished && matcher.mask().count == 0 && !matcher.accept(Int32(UInt8(ascii: "1"))))
    }

    @Test func aMaskIsAListOrABitSetOfTheSameTokens() throws {
        var matcher = Matcher(try Grammar.schema("{}"), trie: Vocabulary.standard)
        let mask = matcher.mask()
        var listed: [Int32] = []
        mask.forEach { listed.append($0) }
        #expect(listed.count == mask.count && listed == listed.sorted())
        mask.withWords { words in
            for token in 0..<Int32(Vocabulary.standardTokens.count) {
                let bit = words[Int(token) >> 6] >> UInt64(token & 63) & 1 == 1
                #expect(bit == mask.contains(token))
                #expect(bit == listed.contains(token))
            }
        }
    }

    @Test func aKeyOfTheSchemaCannotComeTwice() throws {
        let grammar = try Grammar.schema(
            #"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#)
        #expect(grammar.allowedPrefix(#"{"a":1,"a":"#) == #"{"a":1,"a"#)
        #expect(grammar.allowedPrefix(#"{"a":1,"\u0061":"#) == #"{"a":1,"\u0061"#)
        #expect(grammar.accepts(#"{"a":1,"aa":2}"#))
    }

    @Test func matchersOfOneGrammarMayRunBesideOneAnother() async throws {
        let grammar = try Grammar.schema(#"{"type": "array", "items": {"type": "string", "maxLength": 300}}"#)
        let text = "[\"\(String(repeating: "né\\n", count: 90))\",\"\"]"
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var matcher = Matcher(grammar, trie: Vocabulary.standard)
                    for byte in text.utf8 {
                        guard matcher.mask().contains(Int32(byte)), matcher.accept(Int32(byte)) else { return false }
                    }
                    return matcher.isFinished
                }
            }
            for await result in group { #expect(result) }
        }
    }
}
