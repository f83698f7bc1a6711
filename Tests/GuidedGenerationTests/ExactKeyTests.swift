import GuidedGeneration
import JSON
import Testing

/// Keys, names and texts that differ by their normalisation alone, which Swift's `String` finds equal, are different here.
@Suite struct ExactKeyTests {
    private static let composed = "\u{e9}"
    private static let decomposed = "e\u{301}"

    /// A schema with `C` for the composed letter and `D` for the decomposed one.
    private static func spelled(_ text: String) -> String {
        text.replacing("C", with: composed).replacing("D", with: decomposed)
    }

    @Test(arguments: [
        // Two members, each with its own value.
        (
            #"{"type":"object","properties":{"C":{"type":"integer"},"D":{"type":"boolean"}},"required":["C","D"],"additionalProperties":false}"#,
            [#"{"C":1,"D":true}"#], [#"{"C":true,"D":1}"#, #"{"C":1,"C":true}"#, #"{"C":1}"#]
        ),
        // A key that is required is not there by the other.
        (
            #"{"type":"object","properties":{"C":{"type":"integer"}},"required":["D"]}"#,
            [#"{"C":1,"D":"x"}"#, #"{"D":"x"}"#],
            [#"{"C":1}"#]
        ),
        // Keys that are not declared must differ from the declared one only.
        (
            #"{"type":"object","properties":{"C":{"type":"integer"}},"additionalProperties":{"type":"boolean"}}"#,
            [#"{"C":1,"D":true}"#, #"{"D":true}"#], [#"{"C":true}"#, #"{"D":1}"#]
        ),
        (
            #"{"allOf":[{"type":"object","properties":{"C":{"type":"integer"}}},{"properties":{"D":{"type":"null"}}}],"required":["C","D"]}"#,
            [#"{"C":1,"D":null}"#], [#"{"C":null,"D":1}"#]
        ),
        (#"{"enum":["C","D","x"]}"#, [#""C""#, #""D""#, #""x""#], [#""E""#]),
        (#"{"enum":["C"]}"#, [#""C""#], [#""D""#]),
        (#"{"type":"string","not":{"enum":["C"]}}"#, [#""D""#], [#""C""#]),
        (
            #"{"type":"object","properties":{"a":{"pattern":"^C$"},"b":{"pattern":"^D$"}},"required":["a","b"]}"#,
            [#"{"a":"C","b":"D"}"#], [#"{"a":"D","b":"C"}"#, #"{"a":"C","b":"C"}"#]
        ),
        (
            #"{"type":"object","patternProperties":{"^C$":{"type":"integer"},"^D$":{"type":"null"}},"minProperties":2,"maxProperties":2,"additionalProperties":false}"#,
            [#"{"C":1,"D":null}"#], [#"{"C":null,"D":1}"#, #"{"C":1}"#]
        ),
        (
            #"{"type":"object","dependentRequired":{"C":["x"]},"properties":{"C":{},"D":{},"x":{}},"additionalProperties":false}"#,
            [#"{"D":1}"#, #"{"C":1,"x":1}"#], [#"{"C":1}"#]
        ),
        // Definitions and anchors are found by their own names.
        (
            ##"{"$defs":{"C":{"type":"integer"},"D":{"type":"null"}},"type":"array","prefixItems":[{"$ref":"#/$defs/C"},{"$ref":"#/$defs/D"}],"minItems":2,"items":false}"##,
            ["[1,null]"], ["[null,1]", "[1,1]"]
        ),
        (
            ##"{"$defs":{"a":{"$anchor":"xC","type":"integer"},"b":{"$anchor":"xD","type":"null"}},"type":"array","prefixItems":[{"$ref":"#xC"},{"$ref":"#xD"}],"minItems":2,"items":false}"##,
            ["[1,null]"], ["[null,1]"]
        ),
        (
            ##"{"$defs":{"a":{"$id":"http://h/C","type":"integer"},"b":{"$id":"http://h/D","type":"null"}},"type":"array","prefixItems":[{"$ref":"http://h/C"},{"$ref":"http://h/D"}],"minItems":2,"items":false}"##,
            ["[1,null]"], ["[null,1]"]
        ),
    ])
    func normalisationTellsApart(_ schema: String, _ valid: [String], _ invalid: [String]) throws {
        let grammar = try Grammar.schema(Self.spelled(schema))
        for text in valid.map(Self.spelled) { #expect(grammar.accepts(text), "\(text)") }
        for text in invalid.map(Self.spelled) { #expect(!grammar.accepts(text), "\(text)") }
    }

    /// A mark that combines with a character before it hides neither the `/` of a pointer nor the `#` of a reference.
    @Test(arguments: ["\u{301}x", "/\u{301}", "~\u{301}", "~1", "\u{1f3fd}", "a/\u{20dd}~\u{20dd}"])
    func pointersAreReadByCodePoint(_ key: String) throws {
        let token = key.unicodeScalars.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : String(Character($0)) }.joined()
        // By code points here too: the first character may be the quotation mark with what combines with it.
        let escaped = String(JSONValue.quoted(token).unicodeScalars.dropFirst().dropLast())
        let quoted = JSONValue.quoted(key)
        let grammar = try Grammar.schema(
            ##"{"$defs": {\##(quoted): {"type": "null"}}, "$ref": "#/$defs/\##(escaped)"}"##)
        #expect(grammar.accepts("null") && !grammar.accepts("1"))
        // The same schema where it is come to by way of its parent and by reference is one.
        let both = try Grammar.schema(
            ##"{"type": "object", "properties": {\##(quoted): {"type": "null"}, "b": {"$ref": "#/properties/\##(escaped)"}}, "required": ["b"]}"##
        )
        #expect(both.accepts(#"{"b":null}"#) && !both.accepts(#"{"b":1}"#))
    }
}
