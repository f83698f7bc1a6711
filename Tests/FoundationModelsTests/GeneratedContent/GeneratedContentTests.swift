import Foundation
import FoundationModels
import JSON
import Testing

@Suite("GeneratedContent")
struct GeneratedContentTests {
    @Test("Structures keep the order of their keys")
    func order() throws {
        let content = GeneratedContent(properties: ["z": 1, "a": "x", "m": [true, false]])
        #expect(content.jsonString == #"{"z": 1, "a": "x", "m": [true, false]}"#)
        guard case .structure(let properties, let keys) = content.kind else {
            Issue.record("\(content)")
            return
        }
        #expect(keys == ["z", "a", "m"])
        #expect(properties["a"] == GeneratedContent("x"))
        #expect(try GeneratedContent(json: #"{"z": 1, "a": "x", "m": [true, false]}"#).jsonString == content.jsonString)
    }

    @Test("Repeated keys")
    func repeatedKeys() {
        #expect(GeneratedContent(properties: ["a": 1, "b": 2, "a": 3]).jsonString == #"{"a": 3, "b": 2}"#)
        let members: [(String, any ConvertibleToGeneratedContent)] = [("a", "1"), ("b", "2"), ("a", "3")]
        let merged = GeneratedContent(properties: members) { first, second in
            "\(first.jsonString)\(second.jsonString)"
        }
        #expect(merged.jsonString == #"{"a": "\"1\"\"3\"", "b": "2"}"#)
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            try GeneratedContent(properties: members) { _, _ -> String in throw Refused() }
        }
    }

    @Test("Elements of several types")
    func elements() {
        let elements: [any ConvertibleToGeneratedContent] = [1, "a", true, Optional<Int>.none, [1.5]]
        #expect(GeneratedContent(elements: elements).jsonString == #"[1, "a", true, null, [1.5]]"#)
    }

    @Test("Kinds that contradict themselves")
    func kinds() {
        let content = GeneratedContent(
            kind: .structure(
                properties: ["b": GeneratedContent(1), "a": GeneratedContent(2), "c": GeneratedContent(3)],
                orderedKeys: ["c", "missing", "c"]))
        #expect(content.jsonString == #"{"c": 3, "a": 2, "b": 1}"#)
        #expect(GeneratedContent(kind: .number(.infinity)).jsonString == "null")
        #expect(GeneratedContent(kind: .number(.infinity)).kind == .number(.infinity))
        #expect(GeneratedContent(kind: .null).kind == .null)
    }

    @Test("Equality goes by the values, neither by the order of keys nor by identity")
    func equality() throws {
        let a = try GeneratedContent(json: #"{"x": 1, "y": [2.0]}"#)
        let b = try GeneratedContent(json: #"{"y": [2], "x": 1.0}"#, id: GenerationID())
        #expect(a == b)
        #expect(a.kind == b.kind)
        for other in [
            #"{"x": 1}"#, #"{"x": 1, "y": [2.0]"#, #"{"x": "1", "y": [2.0]}"#, #"{"x": 1, "y": [2.0], "z": null}"#,
        ] {
            #expect(try GeneratedContent(json: other) != a, "\(other)")
        }
    }

    private static let doubles: [Double] = [
        0, -0.0, 1, -1, 0.1, 1 / 3, 1e-7, .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude,
        9_007_199_254_740_991,
        9_007_199_254_740_994, 1e22, 123456.789, -2.5e-10,
    ]

    @Test("Every Double and Float comes back as it was", arguments: doubles)
    func roundTripsDoubles(_ value: Double) throws {
        let text = value.generatedContent.jsonString
        let back = try Double(GeneratedContent(json: text))
        #expect(back == value && back.sign == value.sign, "\(text)")
        let float = Float(value)
        guard float.isFinite else { return }
        let floatBack = try Float(GeneratedContent(json: float.generatedContent.jsonString))
        #expect(floatBack == float && floatBack.sign == float.sign)
    }

    @Test(
        "Every Decimal comes back as it was",
        arguments: [
            "0", "0.10", "-1.005", "12345678901234567890123456789012345678", "0.00000000000000000001", "1e100",
            "-3e-90",
        ])
    func decimals(_ text: String) throws {
        let value = try #require(Decimal(string: text))
        #expect(try Decimal(GeneratedContent(json: value.generatedContent.jsonString)) == value)
        #expect(try Decimal(GeneratedContent(json: text)) == value)
    }

    @Test("Numbers that no JSON says come back within the program")
    func nonFinite() throws {
        #expect(try Double(Double.infinity.generatedContent) == .infinity)
        #expect(try Double(Double.nan.generatedContent).isNaN)
        #expect(try Float((-Float.infinity).generatedContent) == -.infinity)
        #expect(try Decimal(Decimal.nan.generatedContent).isNaN)
        #expect(throws: GeneratedContent.ParsingError.self) { try Int(Double.nan.generatedContent) }
    }

    @Test(
        "Whole numbers however they are spelled",
        arguments: [
            ("3", 3), ("3.0", 3), ("3e0", 3), ("30e-1", 3), ("-0", 0), ("-0.0", 0), ("1e3", 1000),
            ("9223372036854775807", Int.max), ("-9223372036854775808", Int.min), ("9223372036854775807.0", Int.max),
        ])
    func integers(_ text: String, _ value: Int) throws {
        #expect(try Int(GeneratedContent(json: text)) == value)
    }

    @Test(
        "Numbers that are no Int",
        arguments: ["3.5", "1e-1", "9223372036854775808", "1e400", "-1e19", "1e999999999999", "0.5e0", "\"3\"", "null"])
    func noIntegers(_ text: String) {
        #expect(throws: GeneratedContent.ParsingError.self) { try Int(GeneratedContent(json: text)) }
    }

    @Test("Numbers beyond a type are refused, not rounded to infinity")
    func overflow() {
        #expect(throws: GeneratedContent.ParsingError.self) { try Double(GeneratedContent(json: "1e400")) }
        #expect(throws: GeneratedContent.ParsingError.self) { try Float(GeneratedContent(json: "1e39")) }
        #expect(throws: GeneratedContent.ParsingError.self) { try Decimal(GeneratedContent(json: "1e400")) }
    }

    @Test("Content of another type is told")
    func mismatches() throws {
        let content = try GeneratedContent(json: #"{"s": "x", "n": 1, "b": true, "a": [1], "o": {}, "z": null}"#)
        func text(_ read: () throws -> some Any) -> String? {
            do {
                _ = try read()
                return nil
            } catch {
                return (error as? GeneratedContent.ParsingError)?.debugDescription
            }
        }
        #expect(
            text { try content.value(Int.self, forProperty: "s") } == "GeneratedContent is a string, not an integer.")
        #expect(
            text { try content.value(String.self, forProperty: "n") } == "GeneratedContent is a number, not a string.")
        #expect(
            text { try content.value([Int].self, forProperty: "b") } == "GeneratedContent is a boolean, not an array.")
        #expect(
            text { try content.value(Bool.self, forProperty: "a") } == "GeneratedContent is an array, not a boolean.")
        #expect(text { try content.value(Double.self, forProperty: "z") } == "GeneratedContent is null, not a number.")
        #expect(
            text { try GeneratedContent("x").value(Int.self, forProperty: "a") }
                == "GeneratedContent is a string, not a structure.")
    }

    @Test("A missing property")
    func missing() throws {
        let content = try GeneratedContent(json: #"{"a": 1, "n": null}"#)
        #expect(try content.value(Int?.self, forProperty: "x") == nil)
        #expect(try content.value(Int?.self, forProperty: "n") == nil)
        #expect(try content.value(Int?.self, forProperty: "a") == 1)
        do {
            _ = try content.value(Int.self, forProperty: "x")
            Issue.record("a value for a property that is not there")
        } catch let error as GeneratedContent.ParsingError {
            #expect(error.debugDescription == "GeneratedContent does not contain a property 'x'.")
            #expect(error.errorDescription == error.debugDescription)
            #expect(error.localizedDescription == error.debugDescription)
            #expect((error as NSError).code == 1)
            #expect(error.rawContent == #"{"a": 1, "n": null}"#)
        }
    }

    @Test(
        "Text that is no beginning of JSON",
        arguments: ["", " ", "}", "{]", "[1 2]", "nul1", #"{"a" 1}"#, "01", "[1]]", "x"])
    func invalid(_ json: String) {
        #expect {
            try GeneratedContent(json: json)
        } throws: { error in
            guard let error = error as? GeneratedContent.ParsingError else { return false }
            return error.rawContent == json && error.underlyingError is JSONError
        }
    }

    @Test("Nesting that is too deep is refused")
    func deep() {
        #expect(throws: GeneratedContent.ParsingError.self) {
            try GeneratedContent(json: String(repeating: "[", count: 100_000))
        }
    }

    @Test("The description is JSON")
    func description() throws {
        let content = try GeneratedContent(json: #"{"a":"é\n\u0001🙂"}"#)
        #expect(content.debugDescription == #"{"a": "é\n\u0001🙂"}"#)
        #expect(try GeneratedContent(json: content.jsonString) == content)
    }
}
