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
        let walk = Walk(grammar, Vocabulary.bytes)
        let first = #"{"reasoning":"yes \"é\"","answer":"ab"#
        #expect(walk.forced == first)
        #expect(walk.accept(first))
        #expect(walk.forced.isEmpty)
        #expect(walk.accept("d"))
        #expect(walk.forced == "\",\"flag\":")
        #expect(walk.accept("\",\"flag\":t"))
        #expect(walk.forced == "rue}")
        #expect(walk.accept("rue}"))
        #expect(walk.forced.isEmpty)
        #expect(walk.isAccepting && walk.isFinished)
    }

    @Test func aCopyIsASnapshot() throws {
        let grammar = try Grammar.schema(#"{"type": "array", "items": {"type": "integer"}, "maxItems": 500}"#)
        let walk = Walk(grammar, Vocabulary.bytes)
        #expect(walk.accept("[1"))
        let snapshot = walk.matcher
        #expect(walk.accept("2,3]"))
        #expect(walk.isFinished)
        let again = Walk(snapshot)
        #expect(!again.isAccepting)
        #expect(again.accept("]") && again.isFinished)
    }

    @Test func whatIsNotAllowedChangesNothing() throws {
        let grammar = try Grammar.schema(#"{"type": "array", "items": {"type": "integer"}}"#)
        let walk = Walk(grammar, Vocabulary.standard)
        #expect(!walk.accept("[1,x"))
        #expect(walk.accept("[1"))
        let before = walk.mask.count
        #expect(!walk.accept(Int32(UInt8(ascii: "x"))))
        #expect(!walk.accept(-1) && !walk.accept(Int32.max))
        #expect(walk.mask.count == before)
    }

    @Test func theStopTokenEndsACompleteText() throws {
        let stop = Int32(Vocabulary.standardTokens.count - 1)
        let walk = Walk(try Grammar.schema(#"{"type": "integer"}"#), Vocabulary.standard)
        #expect(!walk.allows(stop) && !walk.accept(stop))
        #expect(walk.accept("12"))
        #expect(walk.isAccepting && !walk.isFinished)
        #expect(walk.allows(stop) && walk.accept(stop))
        #expect(walk.isFinished && walk.mask.count == 0 && !walk.accept(Int32(UInt8(ascii: "1"))))
    }

    @Test func aMaskIsAListOrABitSetOfTheSameTokens() throws {
        let walk = Walk(try Grammar.schema("{}"), Vocabulary.standard)
        let mask = walk.mask
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
                    let walk = Walk(grammar, Vocabulary.standard)
                    for byte in text.utf8 {
                        guard walk.allows(Int32(byte)), walk.accept(Int32(byte)) else { return false }
                    }
                    return walk.isFinished
                }
            }
            for await result in group { #expect(result) }
        }
    }
}
