import JSON
import Testing

@Suite struct JSONValueTests {
    @Test func keepsOrderAndDigits() throws {
        let text = #"{"b":1.50,"a":[true,null,"x\n\u00e9🙂"],"c":{}}"#
        let value = try JSONValue(parsing: text)
        #expect(value.objectValue?.keys == ["b", "a", "c"])
        #expect(value.text() == #"{"b":1.50,"a":[true,null,"x\né🙂"],"c":{}}"#)
    }

    @Test(arguments: [
        ("", 0), ("{", 1), ("[1,]", 3), ("01", 1), ("1.", 2), ("-", 1), ("\"\\x\"", 1), ("\"\\ud800\"", 1), ("tru", 3),
        ("1 2", 2), ("\"\u{1}\"", 1), ("{\"a\" 1}", 5), ("[1}", 2),
    ])
    func refusesWhatIsNotJSON(text: String, offset: Int) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(error?.offset == offset)
    }

    @Test func textsAreEqualByCodePoints() throws {
        let both = #"{"\u00e9":1,"e\u0301":2,"\u00e9":3}"#
        var object = try #require(try JSONValue(parsing: both).objectValue)
        #expect(object.count == 2)
        #expect(object["\u{e9}"] == 3 && object["e\u{301}"] == 2)
        #expect(JSONValue.object(object).text().utf8.elementsEqual("{\"\u{e9}\":3,\"e\u{301}\":2}".utf8))
        object["\u{e9}"] = nil
        #expect(object.keys.count == 1 && object["e\u{301}"] == 2)
        #expect(JSONValue.string("\u{e9}") != .string("e\u{301}"))
        #expect(Set<JSONValue>(["\u{e9}", "e\u{301}", "\u{e9}"]).count == 2)
        #expect(try JSONValue(parsing: #"{"\u00e9":1}"#) != JSONValue(parsing: #"{"e\u0301":1}"#))
    }

    @Test func repeatedKeysAreRefusedWhereAsked() throws {
        let text = #"{"a": {"\u0062": 1, "c": 2, "b": 3}}"#
        #expect(try JSONValue(parsing: text)["a"]?["b"] == 3)
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text, allowsRepeatedKeys: false) }
        #expect(error?.reason == .repeatedKey("b"))
        #expect(throws: Never.self) { try JSONValue(parsing: #"[{"a": 1}, {"a": 2}]"#, allowsRepeatedKeys: false) }
    }

    @Test(arguments: [("1", "1.0"), ("10", "1e1"), ("0", "-0.00"), ("0.5", "5e-1"), ("100", "1E+2")])
    func numbersAreEqualByValue(left: String, right: String) throws {
        #expect(try JSONValue(parsing: left) == JSONValue(parsing: right))
    }

    @Test func partialTextKeepsWhatHasCome() throws {
        let cases: [(String, String, Int)] = [
            (#"{"title": "A story of"#, #"{"title":"A story of"}"#, 2),
            (#"{"a": [1, 2"#, #"{"a":[1,2]}"#, 3),
            (#"{"a": [1, 2]"#, #"{"a":[1,2]}"#, 1),
            (#"{"a": 1, "b"#, #"{"a":1}"#, 1),
            (#"{"a": 1, "b":"#, #"{"a":1}"#, 1),
            (#"{"a": tr"#, #"{}"#, 1),
            (#"[1.5e"#, #"[1.5]"#, 2),
            (#"["\ud83d\ude"#, #"[""]"#, 2),
            (#"{"a":1}"#, #"{"a":1}"#, 0),
        ]
        for (text, value, open) in cases {
            let partial = try JSONValue.parsePartial(text)
            #expect(partial.value.text() == value, "\(text)")
            #expect(partial.openDepth == open, "\(text)")
        }
    }

    @Test func nestingHasALimit() {
        let text = String(repeating: "[", count: 100_000)
        #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(throws: JSONError.self) { try JSONValue.parsePartial(text) }
    }
}
