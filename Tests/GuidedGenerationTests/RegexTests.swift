import GuidedGeneration
import JSON
import TestSupport
import Testing

private let patterns: [(pattern: String, matching: [String], others: [String])] = [
    (#"\d{3}-\w+"#, ["123-a", "000-x_9Я"], ["12-a", "123-", "1234-a"]),
    (#"[\w-]+"#, ["a-b", "_"], ["", "a b"]),
    (#"^\d+$"#, ["0", "42"], ["", "4a"]),
    (#"a|bc|"#, ["a", "bc", ""], ["b", "abc"]),
    (#"(?:ab)+?c*?"#, ["ab", "ababcc"], ["", "a"]),
    (#"(?<year>\d{4})-(\d\d)"#, ["2024-01"], ["2024-1"]),
    (#"x{2,3}y{0}z{1,}"#, ["xxz", "xxxzz"], ["xz", "xxxxz", "xxyz"]),
    (#"[^a-c\d]"#, ["d", "é", "日", "-"], ["a", "5", ""]),
    (#"\p{Lu}\p{L}*"#, ["A", "Éa", "Жук"], ["a", "1"]),
    (#"\P{L}"#, ["1", "!"], ["a", "я"]),
    (#"[[:alpha:]&&[^a-z]]"#, ["A", "Ж"], ["a", "1"]),
    (#"[a-z--[aeiou]]+"#, ["bcd"], ["a", "be"]),
    (#"\Qa.b\E+"#, ["a.b", "a.bbb"], ["aXb"]),
    (#"(?i)straße|x(?-i)y"#, ["STRAßE", "straße", "Xy"], ["XY"]),
    (#"(?i:a)b"#, ["ab", "Ab"], ["aB", "AB"]),
    (#"\x41\u0042\u{1F600}"#, ["AB😀"], ["AB"]),
    (#"\/\-\.\,"#, ["/-.,"], ["/-a,"]),
    (#"\t\n\s"#, ["\t\n "], ["\t\n"]),
    (#"."#, ["a", "日", "\""], ["\n", "", "ab"]),
    (#"(?s)."#, ["a", "\n"], ["ab"]),
    (#"(?x) a b # comment"#, ["ab"], ["a b"]),
    (#"(#a)?#"#, ["#", "#a#"], ["a"]),
]

@Suite struct RegexTests {
    @Test func matches() throws {
        for (pattern, matching, _) in patterns {
            let grammar = try Grammar.regex(pattern)
            for text in matching { #expect(grammar.accepts(text), "\(pattern) \(text)") }
        }
    }

    @Test func matches_failures() throws {
        for (pattern, _, others) in patterns {
            let grammar = try Grammar.regex(pattern)
            for text in others { #expect(!grammar.accepts(text), "\(pattern) \(text)") }
        }
    }

    @Test(arguments: [
        (#"(?<=a)b"#, "look-behind"), ("(?<!a)b", "look-behind"), ("(?=a)a", "look-ahead"), ("(?!a)b", "look-ahead"),
        (#"(a)\1"#, "back-reference"), (#"(?<x>a)\k<x>"#, "back-reference"), (#"\bword"#, "word boundary"),
        ("(?>a)", "atomic"),
        ("a++", "possessive"), (#"\p{Nonsense}"#, "property"), ("(?m)^a$", "flag"),
    ])
    func refusesByName(_ pattern: String, _ name: String) {
        #expect {
            try Grammar.regex(pattern)
        } throws: { error in
            guard let error = error as? GrammarError else { return false }
            return error.reason == .unsupported && error.message.contains(name)
        }
    }

    @Test(arguments: ["(", ")", "[a", "a**", "*", "[b-a]", "a{3,2}", #"\"#, "(?<a", #"\xZ"#, #"\u12"#])
    func refusesWhatIsNoPattern(_ pattern: String) {
        #expect {
            try Grammar.regex(pattern)
        } throws: { ($0 as? GrammarError)?.reason == .invalid }
    }

    @Test(arguments: [
        "(a{1000}){1000}", "(?:a|b){100000}", "((((a{50}){50}){50}){50})", "(a|aa|aaa){5000}[^a]*",
        String(repeating: "(", count: 5000) + String(repeating: ")", count: 5000), "(.*a.{20}){3}",
    ])
    func bombsEndInTime(_ pattern: String) {
        let time = processorTime {
            #expect(throws: GrammarError.self) { try Grammar.regex(pattern) }
        }
        // Without a limit these would take hours.
        #expect(time < .seconds(30))
    }

    @Test func aLongCountIsCounted() throws {
        let grammar = try Grammar.schema(#"{"type": "string", "pattern": "^[a-z]{1,100000}$"}"#)
        #expect(grammar.accepts("\"\(String(repeating: "a", count: 100_000))\""))
        #expect(!grammar.accepts("\"\(String(repeating: "a", count: 100_001))\""))
        #expect(!grammar.accepts("\"\""))
    }

    /// Beside the spelling for JSON Schema's readers stands the expression as Swift has it, and that is what holds.
    @Test(
        arguments: [
            (#"\w+"#, ["Жук", "naïve", "x_1"], ["a b", ""]), (#"(?i)ja"#, ["JA", "ja"], ["nein"]),
            (#"[[:upper:]]"#, ["É"], ["é"]), (#"a|b"#, ["a", "b"], ["ab"]), (#"."#, ["日", "\u{2027}"], ["\n"]),
            (#"x{40,90}"#, [String(repeating: "x", count: 40)], [String(repeating: "x", count: 91)]),
            (#"\s"#, ["\u{85}"], ["\u{feff}"]),
        ] as [(String, [String], [String])])
    func swiftsExpressionHoldsWhereBothAreGiven(_ regex: String, _ matching: [String], _ others: [String]) throws {
        let grammar = try Grammar.jsonSchema([
            "type": "string", "pattern": .string("^(?:\(regex))$"), "x-swift-regex": .string(regex),
        ])
        for text in matching { #expect(grammar.accepts(JSONValue.quoted(text)), "\(regex) \(text)") }
        for text in others { #expect(!grammar.accepts(JSONValue.quoted(text)), "\(regex) \(text)") }
    }

    @Test func swiftsExpressionIsMetWithAnotherPattern() throws {
        let grammar = try Grammar.schema(#"{"type": "string", "pattern": "b", "x-swift-regex": "[a-c]{2}"}"#)
        for text in ["ab", "ba", "bb", "cb"] { #expect(grammar.accepts("\"\(text)\""), "\(text)") }
        for text in ["ac", "abc", "xb"] { #expect(!grammar.accepts("\"\(text)\""), "\(text)") }
    }

    @Test(arguments: [#"{"x-swift-regex": 3}"#, #"{"type": "string", "x-swift-regex": "(?=a)a"}"#])
    func swiftsExpressionIsRefusedWhenItIsNone(_ schema: String) {
        #expect(throws: GrammarError.self) { try Grammar.schema(schema) }
    }

    @Test func choicesAreAllReachable() throws {
        let grammar = try Grammar.choice(["red", "green", "gre"])
        for text in ["red", "green", "gre"] { #expect(grammar.accepts(text)) }
        for text in ["r", "", "greenx"] { #expect(!grammar.accepts(text)) }
        #expect(throws: GrammarError.self) { try Grammar.choice([]) }
    }
}
