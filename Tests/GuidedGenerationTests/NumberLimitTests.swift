import GuidedGeneration
import JSON
import Testing

/// A number comes to an end however long the model goes on with digits.
@Suite struct NumberLimitTests {
    @Test(arguments: [
        #"{"type": "integer"}"#, #"{"type": "number"}"#, #"{"type": "number", "minimum": 0}"#,
        #"{"type": "integer", "maximum": -3}"#, #"{"type": "number", "multipleOf": 0.5}"#,
        #"{"type": "number", "exclusiveMinimum": 0.25, "maximum": 0.75}"#, #"{"type": ["number", "null"]}"#,
    ])
    func digitsEnd(_ schema: String) throws {
        let walk = Walk(try Grammar.schema(schema))
        var text = ""
        while !walk.isFinished, text.count < 200 {
            // The longest way there is: a digit where one may come, else whatever else goes on.
            guard let next = "1234567890-.eE+".first(where: { walk.accept(String($0)) }) else { break }
            text.append(next)
        }
        #expect(walk.isAccepting, "\(text)")
        #expect(text.count <= 41, "\(text)")
        #expect((try? JSONValue(parsing: text)) != nil, "\(text)")
    }

    @Test(arguments: [
        "-9223372036854775808", "18446744073709551615", "-1.7976931348623157e+308", "5e-324", "0.30000000000000004",
        "-0.99999999999999999999999999999999999999", "12345678901234567890123456789012345678",
    ])
    func whatTypesCarryIsAllowed(_ number: String) throws {
        #expect(try Grammar.schema(#"{"type": "number"}"#).accepts(number))
    }

    @Test func boundsOfManyDigitsHaveRoom() throws {
        let bound = "1" + String(repeating: "0", count: 60)
        let grammar = try Grammar.schema("{\"type\": \"integer\", \"minimum\": \(bound)}")
        #expect(grammar.accepts(bound))
        #expect(!grammar.accepts(String(bound.dropLast())))
        #expect(try Grammar.schema("{\"enum\": [\(bound)]}").accepts(bound))
    }
}
