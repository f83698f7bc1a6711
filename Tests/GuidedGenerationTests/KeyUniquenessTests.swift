import GuidedGeneration
import JSON
import Testing

/// A key comes once in an object, declared or not, and however it is spelled.
@Suite struct KeyUniquenessTests {
    private static let open = #"{"type": "object", "properties": {"id": {"type": "integer"}}}"#

    @Test(
        arguments: [
            (open, #"{"a":1,"b":2,"ab":3}"#), (open, #"{"id":1,"a":{"a":1,"id":2},"b":{"a":1}}"#),
            (open, #"{"a":[{"a":1},{"a":2}]}"#), (open, #"{"a\\":1,"a":2,"a\"":3}"#),
            (
                #"{"patternProperties": {"^x-": {"type": "null"}}, "additionalProperties": false}"#,
                #"{"x-a":null,"x-":null}"#
            ),
            // Behind `a` only the declared key goes on with `b`: that was no undeclared `a`.
            (
                #"{"properties": {"ab": true}, "patternProperties": {"^a(-.*)?$": true}, "additionalProperties": false}"#,
                #"{"ab":1,"a":2,"a-":3}"#
            ),
            // Of keys that are few, none can be left out.
            (#"{"patternProperties": {"^[a-z]{2}$": true}, "additionalProperties": false}"#, #"{"ab":1,"ac":2}"#),
        ] as [(String, String)])
    func differentKeys(_ schema: String, _ text: String) throws {
        #expect(try Grammar.schema(schema).accepts(text))
    }

    @Test(
        arguments: [
            (open, #"{"a":1,"a""#), (open, #"{"a":1,"b":[{}],"a""#), (open, #"{"":1,"""#), (open, #"{"a":1,"\u0061""#),
            (open, #"{"\u00e9":1,"é""#), (open, #"{"🙂":1,"\uD83d\ude42""#), (open, #"{"a\"b":1,"a\"b""#),
            (open, #"{"n\n":1,"n\u000A""#), (open, #"{"b":{"a":1,"a""#), (open, #"{"id":1,"id""#),
            (#"{"type": "object", "minProperties": 2}"#, #"{"a":1,"a""#),
            (#"{"minProperties": 200000, "maxProperties": 300000}"#, #"{"a":1,"a""#),
            (
                #"{"patternProperties": {"^x-": {"type": "null"}}, "additionalProperties": false}"#,
                #"{"x-a":null,"x-a""#
            ),
            (
                #"{"anyOf": [{"properties": {"a": {"type": "null"}}}, {"properties": {"b": {"minimum": 1}}}]}"#,
                #"{"a":1,"a""#
            ),
        ] as [(String, String)])
    func repeatedKeys(_ schema: String, _ text: String) throws {
        let grammar = try Grammar.schema(schema)
        // Everything but the quotation mark that would end the key.
        #expect(grammar.allowedPrefix(text) == text.dropLast())
    }

    @Test func spacedKeys() throws {
        let grammar = try Grammar.schema(Self.open, SchemaOptions(isSpaced: true))
        #expect(grammar.accepts(#"{"a": 1, "b": 2}"#))
        #expect(grammar.allowedPrefix(#"{"a": 1, "a""#) == #"{"a": 1, "a"#)
    }

    /// Tokens that end a key, that have a whole key in them, and that are cut anywhere.
    private static let tokens = Vocabulary.mixed(
        Vocabulary.pieces + [
            ",\"a\":", ",\"b\":1", "}},\"a\":", "1,\"ab\"", "b\":", "b\"", "ab\":{", "\\u0061\":", "0061\"", "61\"",
            "\\\"\"",
            "a\":1,\"b\":1,\"a\":1", "\":1,\"c\":", "\"a\"",
        ], broken: Vocabulary.broken + [[0xc3], [0xa9, 0x22], [0xc3, 0xa9, 0x22, 0x3a]])

    @Test(arguments: [
        #"{"a":1,"ab":{"a":0,"b":1},"b":"x","abc":1}"#, #"{"é":1,"\u0061":2,"b\"":3,"b":{},"\\":4}"#,
        #"{"b":[{"a":1},{"a":{}}],"ab":1}"#,
    ])
    func masksAgreeWithWalking(_ text: String) throws {
        let trie = Vocabulary.trie(Self.tokens)
        for options in [SchemaOptions(), SchemaOptions(isSpaced: true)] {
            var matcher = Matcher(try Grammar.schema("{}", options), trie: trie)
            let spelled = options.isSpaced ? try JSONValue(parsing: text).text(spaced: true) : text
            for byte in spelled.utf8 {
                let isAccepted = matcher.accept(bytes: [byte])
                #expect(isAccepted)
                let mask = matcher.mask()
                for token in 0..<Int32(Self.tokens.count - 1) {
                    var copy = matcher
                    let isAllowed = copy.accept(token)
                    #expect(
                        mask.contains(token) == isAllowed,
                        "\(spelled), \(String(decoding: Self.tokens[Int(token)], as: UTF8.self))")
                }
            }
        }
    }
}
