import GuidedGeneration
import JSON
import Testing

/// A schema with instances that it allows and others that it does not, each as the text that is to be walked.
struct KeywordCase: CustomTestStringConvertible, Sendable {
    var keyword: String
    var schema: String
    var valid: [String]
    var invalid: [String]
    var options = SchemaOptions()

    var testDescription: String { "\(keyword): \(schema)" }
}

private let cases: [KeywordCase] = [
    .init(
        keyword: "type", schema: #"{"type": "integer"}"#, valid: ["0", "-1", "12345678901234567890123"],
        invalid: ["1.5", "01", "-0", "1e3", "\"1\"", "", "-", "+1", " 1", "1 "]),
    .init(
        keyword: "type", schema: #"{"type": "integer"}"#, valid: ["9223372036854775807", "-9223372036854775808", "0"],
        invalid: ["9223372036854775808", "-9223372036854775809", "12345678901234567890123"],
        options: .init(keepsIntegersReadable: true)),
    .init(
        keyword: "type", schema: #"{"type": "integer", "minimum": 0, "not": {"multipleOf": 2}}"#,
        valid: ["1", "9223372036854775807"], invalid: ["9223372036854775809", "2", "-1"],
        options: .init(keepsIntegersReadable: true)),
    .init(
        keyword: "minimum", schema: #"{"type": "integer", "minimum": 1e20}"#,
        valid: ["100000000000000000000", "100000000000000000001"], invalid: ["5", "99999999999999999999"],
        options: .init(keepsIntegersReadable: true)),
    .init(
        keyword: "not", schema: #"{"enum": [1e20, 5, 0.5], "not": {"type": "integer"}}"#, valid: ["0.5"],
        invalid: ["100000000000000000000", "1e20", "5"], options: .init(keepsIntegersReadable: true)),
    .init(
        keyword: "multipleOf", schema: #"{"type": "integer", "multipleOf": 1e300}"#, valid: ["0"],
        invalid: ["-", "1"]),
    .init(
        keyword: "required",
        schema:
            #"{"anyOf": [{"type": "object", "required": ["z"], "additionalProperties": false}, {"type": "integer", "minimum": 1, "maximum": 5}]}"#,
        valid: ["1", "5"], invalid: ["{}", "{\"z\":1}"]),
    .init(
        keyword: "type", schema: #"{"type": "number"}"#, valid: ["0", "-0.5", "1e5", "1E-7", "10.00"],
        invalid: [".5", "1.", "1e", "NaN", "00"]),
    .init(
        keyword: "type", schema: #"{"type": ["string", "null"]}"#, valid: ["null", "\"\"", "\"a\""],
        invalid: ["0", "nul", "true"]),
    .init(keyword: "type", schema: #"{"type": "boolean"}"#, valid: ["true", "false"], invalid: ["null", "True"]),
    .init(
        keyword: "enum", schema: #"{"enum": ["a", "ab", 1, 12, null, [1, "x"], {"k": true}]}"#,
        valid: ["\"a\"", "\"ab\"", "1", "12", "null", "[1,\"x\"]", "{\"k\":true}"],
        invalid: ["\"abc\"", "2", "[1]", "{}", "{\"k\":false}"]),
    .init(
        keyword: "const", schema: #"{"const": {"a": [0, "é"]}}"#, valid: ["{\"a\":[0,\"é\"]}"],
        invalid: ["{\"a\":[0]}", "{}"]),
    // Names that are not allowed cannot be required of objects; other values are not objects.
    .init(
        keyword: "propertyNames", schema: #"{"required": ["a", "b"], "propertyNames": {"enum": ["b"]}}"#,
        valid: ["1", "[]", "\"a\""], invalid: ["{}", #"{"b":1}"#, #"{"a":1,"b":1}"#]),
    .init(keyword: "const", schema: #"{"const": -2.50}"#, valid: ["-2.5"], invalid: ["2.5", "-2", "-2.51"]),
    .init(
        keyword: "minLength", schema: #"{"type": "string", "minLength": 2, "maxLength": 3}"#,
        valid: ["\"ab\"", "\"日本語\"", "\"😀😀\"", "\"\\ud83d\\ude00a\"", "\"\\n\\n\\n\""],
        invalid: ["\"a\"", "\"abcd\"", "\"😀\"", "\"\""]),
    .init(
        keyword: "maxLength", schema: #"{"type": "string", "maxLength": 4000}"#,
        valid: ["\"\(String(repeating: "x", count: 4000))\""], invalid: ["\"\(String(repeating: "x", count: 4001))\""]),
    .init(
        keyword: "minLength", schema: #"{"type": "string", "minLength": 1000, "maxLength": 1001}"#,
        valid: ["\"\(String(repeating: "é", count: 1000))\"", "\"\(String(repeating: "é", count: 1001))\""],
        invalid: ["\"\(String(repeating: "é", count: 999))\"", "\"\(String(repeating: "é", count: 1002))\""]),
    .init(
        keyword: "pattern", schema: #"{"type": "string", "pattern": "^[a-z]{3}$"}"#, valid: ["\"abc\""],
        invalid: ["\"ab\"", "\"abcd\"", "\"Abc\""]),
    .init(
        keyword: "pattern", schema: #"{"type": "string", "pattern": "b+"}"#, valid: ["\"b\"", "\"abba\"", "\"\\nb\""],
        invalid: ["\"\"", "\"ac\""]),
    .init(
        keyword: "pattern", schema: #"{"type": "string", "pattern": "^\"\\\\\\n$"}"#, valid: [#""\"\\\n""#],
        invalid: [#""\"\\n""#]),
    .init(
        keyword: "pattern", schema: #"{"type": "string", "pattern": "^[a-z]{1,100}$", "maxLength": 3}"#,
        valid: ["\"a\"", "\"abc\""], invalid: ["\"\"", "\"abcd\"", "\"a1\""]),
    .init(
        keyword: "pattern", schema: #"{"allOf": [{"type": "string", "pattern": "^a"}, {"pattern": "z$"}]}"#,
        valid: ["\"az\"", "\"a-z\""], invalid: ["\"a\"", "\"z\""]),
    .init(
        keyword: "pattern",
        schema: #"{"type": "string", "pattern": "^(https:\\/\\/)?(www\\.)?instagram\\.com\\/[a-z]+$"}"#,
        valid: ["\"https://www.instagram.com/a\"", "\"instagram.com/abc\""],
        invalid: ["\"http://instagram.com/a\"", "\"instagram.com/\""]),
    .init(
        keyword: "minimum", schema: #"{"type": "number", "minimum": -1.5, "exclusiveMaximum": 10}"#,
        valid: ["-1.5", "-1.50", "0", "9.999", "-0.1", "3"], invalid: ["-1.51", "10", "10.0", "-2", "11", "1e0"]),
    .init(
        keyword: "minimum", schema: #"{"type": "integer", "exclusiveMinimum": -3, "maximum": 120}"#,
        valid: ["-2", "0", "99", "120"], invalid: ["-3", "121", "-12", "1.0"]),
    .init(
        keyword: "exclusiveMinimum",
        schema:
            #"{"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": 0, "exclusiveMinimum": true}"#,
        valid: ["1"], invalid: ["0", "-1"]),
    .init(
        keyword: "multipleOf", schema: #"{"type": "integer", "multipleOf": 7}"#, valid: ["0", "7", "-14", "7000"],
        invalid: ["1", "8", "-13"]),
    .init(
        keyword: "multipleOf", schema: #"{"type": "number", "multipleOf": 0.25}"#,
        valid: ["0", "0.25", "-1.5", "2", "0.750"], invalid: ["0.1", "0.26", "1.125"]),
    .init(
        keyword: "multipleOf", schema: #"{"type": "integer", "multipleOf": 1000000000}"#, valid: ["0", "3000000000"],
        invalid: ["100000000", "1"]),
    .init(
        keyword: "properties",
        schema:
            #"{"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "null"}}, "required": ["a"], "additionalProperties": false}"#,
        valid: ["{\"b\":1,\"a\":null}", "{\"a\":null}"],
        invalid: [
            "{}", "{\"a\":null,\"b\":1}", "{\"b\":1}", "{\"a\":null,\"c\":1}", "{\"a\":null,}",
            "{\"b\":1,\"b\":1,\"a\":null}",
        ]),
    .init(
        keyword: "x-order",
        schema:
            #"{"type": "object", "properties": {"b": {"type": "null"}, "a": {"type": "null"}}, "x-order": ["a", "b"], "additionalProperties": false}"#,
        valid: ["{\"a\":null,\"b\":null}"], invalid: ["{\"b\":null,\"a\":null}"]),
    .init(
        keyword: "additionalProperties",
        schema:
            #"{"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": {"type": "integer"}}"#,
        valid: ["{}", "{\"a\":null,\"b\":1}", "{\"aa\":1}", "{\"\":1,\"x\":2}"],
        invalid: ["{\"a\":1}", "{\"b\":null}", "{\"\\u0061\":1}", "{\"b\":1,\"a\":null}"]),
    .init(
        keyword: "patternProperties",
        schema:
            #"{"type": "object", "patternProperties": {"^s": {"type": "string"}, "n$": {"minLength": 2}}, "additionalProperties": false}"#,
        valid: ["{\"s\":\"\"}", "{\"sn\":\"ab\"}", "{\"n\":0}"], invalid: ["{\"s\":1}", "{\"sn\":\"a\"}", "{\"x\":1}"]),
    .init(
        keyword: "propertyNames", schema: #"{"type": "object", "propertyNames": {"pattern": "^[a-z]$"}}"#,
        valid: ["{}", "{\"a\":1}"], invalid: ["{\"ab\":1}", "{\"A\":1}"]),
    .init(
        keyword: "propertyNames",
        schema:
            #"{"type": "object", "propertyNames": {"enum": ["x", "y"]}, "additionalProperties": {"type": "integer"}}"#,
        valid: ["{}", "{\"x\":1,\"y\":2}", "{\"y\":2}"], invalid: ["{\"z\":1}", "{\"x\":1,\"x\":1}"]),
    .init(
        keyword: "minProperties",
        schema:
            #"{"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}, "c": {"type": "null"}}, "additionalProperties": false, "minProperties": 2, "maxProperties": 2}"#,
        valid: ["{\"a\":null,\"b\":null}", "{\"a\":null,\"c\":null}", "{\"b\":null,\"c\":null}"],
        invalid: ["{}", "{\"c\":null}", "{\"a\":null,\"b\":null,\"c\":null}"]),
    .init(
        keyword: "items", schema: #"{"type": "array", "items": {"type": "integer"}}"#, valid: ["[]", "[1]", "[1,2]"],
        invalid: ["[1,]", "[,1]", "[\"a\"]", "[1", "[1, 2]"]),
    .init(
        keyword: "prefixItems",
        schema: #"{"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false}"#,
        valid: ["[]", "[1]", "[1,\"a\"]"], invalid: ["[\"a\"]", "[1,\"a\",2]"]),
    .init(
        keyword: "items",
        schema:
            #"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "items": [{"type": "integer"}], "additionalItems": {"type": "null"}}"#,
        valid: ["[]", "[1,null,null]"], invalid: ["[null]", "[1,2]"]),
    .init(
        keyword: "minItems", schema: #"{"type": "array", "items": {"type": "null"}, "minItems": 2, "maxItems": 3}"#,
        valid: ["[null,null]", "[null,null,null]"], invalid: ["[]", "[null]", "[null,null,null,null]"]),
    .init(
        keyword: "uniqueItems", schema: #"{"type": "array", "items": {"enum": ["a", "b", 1]}, "uniqueItems": true}"#,
        valid: ["[]", "[\"a\",1]", "[1,\"b\",\"a\"]"], invalid: ["[\"a\",\"a\"]", "[1,\"b\",1]"]),
    .init(
        keyword: "contains",
        schema: #"{"type": "array", "items": {"type": "integer"}, "contains": {"minimum": 5}, "maxItems": 3}"#,
        valid: ["[5]", "[1,6]", "[1,2,9]"], invalid: ["[]", "[1]", "[1,2,3]"]),
    .init(
        keyword: "minContains",
        schema: #"{"type": "array", "contains": {"const": 1}, "minContains": 2, "maxContains": 2}"#,
        valid: ["[1,1]", "[1,\"a\",1]"], invalid: ["[1]", "[1,1,1]"]),
    .init(
        keyword: "anyOf", schema: #"{"anyOf": [{"type": "integer"}, {"type": "string", "maxLength": 1}]}"#,
        valid: ["1", "\"a\""], invalid: ["\"ab\"", "null"]),
    .init(
        keyword: "anyOf",
        schema:
            #"{"anyOf": [{"type": "object", "properties": {"k": {"const": "a"}, "x": {"type": "integer"}}, "required": ["k", "x"], "additionalProperties": false}, {"type": "object", "properties": {"k": {"const": "ab"}, "y": {"type": "null"}}, "required": ["k", "y"], "additionalProperties": false}]}"#,
        valid: ["{\"k\":\"a\",\"x\":1}", "{\"k\":\"ab\",\"y\":null}"],
        invalid: ["{\"k\":\"a\",\"y\":null}", "{\"k\":\"ab\",\"x\":1}"]),
    .init(
        keyword: "oneOf", schema: #"{"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 2}]}"#,
        valid: ["1", "2.5", "-4"], invalid: ["3", "1.5"]),
    .init(
        keyword: "oneOf",
        schema:
            #"{"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}, "additionalProperties": false, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}"#,
        valid: ["{\"a\":null}", "{\"b\":null}"], invalid: ["{}", "{\"a\":null,\"b\":null}"]),
    .init(
        keyword: "allOf",
        schema:
            #"{"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"properties": {"a": {"minimum": 3}, "b": {"type": "null"}}}]}"#,
        valid: ["{\"a\":3}", "{\"a\":4,\"b\":null}"], invalid: ["{\"a\":2}", "{}", "{\"a\":3,\"b\":1}"]),
    .init(
        keyword: "not", schema: #"{"type": ["string", "integer"], "not": {"enum": ["a", 3]}}"#,
        valid: ["\"\"", "\"ab\"", "4", "30"], invalid: ["\"a\"", "3"]),
    .init(
        keyword: "not",
        schema: #"{"type": "object", "not": {"required": ["a"]}, "additionalProperties": {"type": "null"}}"#,
        valid: ["{}", "{\"b\":null}"], invalid: ["{\"a\":null}"]),
    .init(
        keyword: "if",
        schema: #"{"type": "integer", "if": {"minimum": 10}, "then": {"multipleOf": 10}, "else": {"maximum": 3}}"#,
        valid: ["20", "3", "-5"], invalid: ["15", "4"]),
    .init(
        keyword: "dependentRequired",
        schema:
            #"{"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "null"}}, "additionalProperties": false, "dependentRequired": {"a": ["b"]}}"#,
        valid: ["{}", "{\"b\":null}", "{\"a\":null,\"b\":null}"], invalid: ["{\"a\":null}"]),
    .init(
        keyword: "dependencies",
        schema:
            #"{"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "integer"}}, "additionalProperties": false, "dependencies": {"a": {"properties": {"b": {"minimum": 5}}}}}"#,
        valid: ["{\"b\":1}", "{\"a\":null,\"b\":5}", "{\"a\":null}"], invalid: ["{\"a\":null,\"b\":1}"]),
    .init(
        keyword: "$ref",
        schema:
            ##"{"$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "additionalProperties": false}}, "$ref": "#/$defs/node"}"##,
        valid: ["{}", "{\"next\":{\"next\":{}}}"], invalid: ["{\"next\":null}", "{\"next\":{}"]),
    .init(
        keyword: "$anchor",
        schema:
            ##"{"properties": {"a": {"$ref": "#here"}}, "additionalProperties": false, "type": "object", "$defs": {"x": {"$anchor": "here", "type": "null"}}}"##,
        valid: ["{\"a\":null}"], invalid: ["{\"a\":1}"]),
    .init(
        keyword: "definitions",
        schema: ##"{"definitions": {"a~/b": {"type": "null"}}, "$ref": "#/definitions/a~0~1b"}"##, valid: ["null"],
        invalid: ["1"]),
    .init(
        keyword: "free", schema: "{}", valid: ["{\"a\":[1,{\"b\":null}],\"c\":\"\\\\\"}", "[[[]]]", "\"\"", "-1.5e+7"],
        invalid: ["{\"a\"}", "[1 ,2]", "{a:1}", "'a'"]),
    .init(
        keyword: "isSpaced",
        schema:
            #"{"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}, "additionalProperties": {"type": "null"}}"#,
        valid: ["{\"a\": [1, 2], \"b\": null}", "{}"], invalid: ["{\"a\":[1,2]}", "{\"a\": [1,2]}", "{ }"],
        options: .init(isSpaced: true)),
]

@Suite struct KeywordTests {
    @Test(arguments: cases) func valid(_ entry: KeywordCase) throws {
        let grammar = try Grammar.schema(entry.schema, entry.options)
        for text in entry.valid { #expect(grammar.accepts(text), "\(text.prefix(80))") }
    }

    @Test(arguments: cases) func valid_failures(_ entry: KeywordCase) throws {
        let grammar = try Grammar.schema(entry.schema, entry.options)
        for text in entry.invalid { #expect(!grammar.accepts(text), "\(text.prefix(80))") }
    }

    @Test func numbersAgreeWithArithmetic() throws {
        for (lower, upper) in [(-37, 152), (-5, -1), (0, 9), (98, 1001), (-1000, 7)] {
            let integers = try Grammar.schema("{\"type\": \"integer\", \"minimum\": \(lower), \"maximum\": \(upper)}")
            let numbers = try Grammar.schema(
                "{\"type\": \"number\", \"exclusiveMinimum\": \(lower), \"exclusiveMaximum\": \(upper)}")
            for value in -1100...1100 {
                #expect(integers.accepts("\(value)") == (lower...upper).contains(value))
                let tenths = Double(value) / 10
                let text = JSONNumber(tenths)!.text
                guard text != "-0" else { continue }
                #expect(
                    numbers.accepts(text) == (tenths > Double(lower) && tenths < Double(upper)),
                    "\(text) \(lower) \(upper)")
            }
        }
    }
}
