import GuidedGeneration
import JSON
import TestSupport
import Testing

private struct Refusal: Sendable {
    var schema: String
    var keyword: String
    var reason: GrammarError.Reason
    var path = "#"
}

private let refusals: [Refusal] = [
    .init(
        schema: #"{"properties": {"a": {"type": "string", "pattern": "(?<=a)b"}}}"#, keyword: "pattern",
        reason: .unsupported, path: "#/properties/a"),
    .init(schema: #"{"type": "array", "uniqueItems": true}"#, keyword: "uniqueItems", reason: .unsupported),
    .init(
        schema: #"{"unevaluatedProperties": false, "allOf": [{"properties": {"a": true}}]}"#,
        keyword: "unevaluatedProperties", reason: .unsupported),
    .init(schema: #"{"type": "strnig"}"#, keyword: "type", reason: .invalid),
    .init(schema: #"{"minlength": 3}"#, keyword: "minlength", reason: .unsupported),
    .init(schema: #"{"minLength": -1}"#, keyword: "minLength", reason: .invalid),
    .init(schema: #"{"minLength": "2"}"#, keyword: "minLength", reason: .invalid),
    .init(schema: #"{"multipleOf": 0}"#, keyword: "multipleOf", reason: .invalid),
    .init(schema: #"{"required": "a"}"#, keyword: "required", reason: .invalid),
    .init(schema: #"{"properties": [1]}"#, keyword: "properties", reason: .invalid),
    .init(schema: #"{"enum": []}"#, keyword: "enum", reason: .invalid),
    .init(schema: #"{"anyOf": []}"#, keyword: "anyOf", reason: .invalid),
    .init(schema: #"{"oneOf": []}"#, keyword: "oneOf", reason: .invalid),
    .init(schema: ##"{"$ref": "#/$defs/none"}"##, keyword: "$ref", reason: .unresolvable),
    .init(schema: #"{"$ref": "http://example.com/other.json"}"#, keyword: "$ref", reason: .unresolvable),
    .init(
        schema: ##"{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}"##,
        keyword: "$ref", reason: .unresolvable, path: "#/$defs/b"),
    .init(schema: ##"{"allOf": [{"$ref": "#"}]}"##, keyword: "$ref", reason: .unresolvable, path: "#/allOf/0"),
    .init(schema: #"{"$schema": "http://example.com/mine"}"#, keyword: "$schema", reason: .unsupported),
    .init(schema: "false", keyword: "schema", reason: .unsatisfiable),
    .init(
        schema: #"{"type": "object", "required": ["a"], "properties": {"a": false}}"#, keyword: "required",
        reason: .unsatisfiable),
    .init(
        schema: #"{"type": "object", "required": ["a", "b"], "propertyNames": {"enum": ["b"]}}"#, keyword: "required",
        reason: .unsatisfiable),
    .init(schema: #"{"const": 7, "maximum": 5}"#, keyword: "const", reason: .unsatisfiable),
    .init(schema: #"{"type": "integer", "minimum": 3, "maximum": 2}"#, keyword: "minimum", reason: .unsatisfiable),
    .init(
        schema: #"{"type": "integer", "multipleOf": 10, "minimum": 1, "maximum": 9}"#, keyword: "schema",
        reason: .unsatisfiable),
    .init(
        schema: #"{"type": "string", "pattern": "^a{3}$", "maxLength": 2}"#, keyword: "schema", reason: .unsatisfiable),
    .init(
        schema: ##"{"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}"##, keyword: "required",
        reason: .unsatisfiable, path: "#/properties/a"),
    .init(
        schema: #"{"type": "object", "required": ["z"], "additionalProperties": false}"#, keyword: "required",
        reason: .unsatisfiable),
    .init(
        schema: #"{"properties": {"a/b": {"type": "array", "enum": ["x"]}}, "required": ["a/b"], "type": "object"}"#,
        keyword: "enum", reason: .unsatisfiable, path: "#/properties/a~1b"),
    .init(
        schema: #"{"type": "array", "minItems": 1, "items": {"type": "string", "const": 1}}"#, keyword: "const",
        reason: .unsatisfiable, path: "#/items"),
    .init(
        schema: ##"{"type": "object", "properties": {"a": {"$ref": "#/$defs/d"}}, "required": ["a"], "##
            + ##""$defs": {"d": {"type": "string", "allOf": [{"type": "null"}]}}}"##,
        keyword: "$ref", reason: .unsatisfiable, path: "#/properties/a"),
    .init(
        schema: #"{"type": "object", "required": ["A"], "propertyNames": {"pattern": "^[a-z]+$"}}"#,
        keyword: "required", reason: .unsatisfiable),
    .init(schema: #"{"allOf": [{"type": "string"}, {"type": "integer"}]}"#, keyword: "allOf", reason: .unsatisfiable),
]

@Suite struct RefusalTests {
    @Test func refusesByName() {
        for refusal in refusals {
            #expect {
                _ = try Grammar.schema(refusal.schema)
            } throws: { error in
                guard let error = error as? GrammarError else { return false }
                let isRight =
                    error.keyword == refusal.keyword && error.reason == refusal.reason && error.path == refusal.path
                if !isRight { Issue.record("\(refusal.schema): \(error)") }
                return isRight
            }
        }
    }

    private static func bomb(_ name: String) -> JSONValue {
        switch name {
        case "anyOf inside allOf":
            return [
                "allOf": .array(
                    (0..<24).map { index in
                        [
                            "anyOf": .array(
                                (0..<3).map { choice in
                                    [
                                        "properties": .object(["k\(index)": ["const": .number(JSONNumber(choice))]]),
                                        "required": [.string("k\(index)")],
                                    ]
                                })
                        ]
                    })
            ]
        case "references that double":
            var definitions: JSONObject = ["d0": ["type": "string", "maxLength": 3]]
            for level in 1...60 {
                let reference: JSONValue = ["$ref": .string("#/$defs/d\(level - 1)")]
                definitions["d\(level)"] = ["anyOf": [reference, reference]]
            }
            return ["$defs": .object(definitions), "$ref": "#/$defs/d60"]
        case "objects of objects that double":
            var definitions: JSONObject = ["d0": ["type": "null"]]
            for level in 1...60 {
                let reference: JSONValue = ["$ref": .string("#/$defs/d\(level - 1)")]
                definitions["d\(level)"] = [
                    "type": "object", "properties": ["a": reference, "b": reference], "additionalProperties": false,
                ]
            }
            return ["$defs": .object(definitions), "$ref": "#/$defs/d60"]
        case "negations":
            var schema: JSONValue = ["type": "object", "properties": ["a": ["type": "string"], "b": ["minimum": 3]]]
            for _ in 0..<40 { schema = ["not": schema] }
            return schema
        case "oneOf that doubles":
            var definitions: JSONObject = ["d0": ["type": "string", "maxLength": 3]]
            for level in 1...20 {
                let reference: JSONValue = ["$ref": .string("#/$defs/d\(level - 1)")]
                definitions["d\(level)"] = ["oneOf": [reference, ["type": "object", "properties": ["a": reference]]]]
            }
            return ["$defs": .object(definitions), "$ref": "#/$defs/d20"]
        case "oneOf of many":
            return [
                "oneOf": .array((0..<60).map { index in ["properties": .object(["p\(index)": ["type": "string"]])] })
            ]
        case "deep": return nested(400)
        case "deep in place":
            // Half as deep again as is allowed, on the small stack of a task.
            var schema: JSONValue = ["type": "object"]
            for level in 0..<96 {
                schema =
                    [
                        ["allOf": [schema]], ["oneOf": [schema, false]], ["not": ["not": schema]],
                        ["if": true, "then": schema],
                    ][level % 4]
            }
            return schema
        case "huge bounds":
            return [
                "type": "array", "minItems": 1_000_000_000, "maxItems": 1_000_000_001,
                "items": ["type": "string", "minLength": 1_000_000_000],
            ]
        case "dependencies":
            return ["dependentRequired": .object(JSONObject((0..<40).map { ("a\($0)", [.string("b\($0)")]) }))]
        case "ten thousand choices":
            return ["enum": .array((0..<10_000).map { .string("choice number \($0)") })]
        case "a million choices":
            return ["enum": .array((0..<1_000_000).map { .number(JSONNumber($0)) })]
        case "a million words": return ["enum": .array((0..<1_000_000).map { .string("\($0 &* 2_654_435_761)") })]
        case "ten thousand properties":
            return [
                "type": "object", "additionalProperties": false,
                "properties": .object(JSONObject((0..<10_000).map { ("property\($0)", ["type": "integer"]) })),
            ]
        case "a chain of references":
            var definitions: JSONObject = ["d0": ["type": "null"]]
            for level in 1...10_000 { definitions["d\(level)"] = ["$ref": .string("#/$defs/d\(level - 1)")] }
            return ["$defs": .object(definitions), "$ref": "#/$defs/d10000"]
        case "patterns that overlap":
            return [
                "type": "object",
                "patternProperties": .object(
                    JSONObject((0..<24).map { ("x\($0)y.*z\($0)", ["minimum": .number(JSONNumber($0))]) })),
            ]
        case "patterns that meet":
            return ["type": "string", "allOf": .array((0..<16).map { ["pattern": .string("a.{\($0)}b")] })]
        case "tiny multiples": return ["type": "number", "multipleOf": try! JSONValue(parsing: "1e-300")]
        case "many multiples":
            return [
                "allOf": .array(
                    [97, 101, 103, 107, 109].map { ["type": "integer", "multipleOf": .number(JSONNumber($0))] })
            ]
        case "unique items":
            return [
                "type": "array", "uniqueItems": true, "minItems": 20,
                "items": ["enum": .array((0..<24).map { .number(JSONNumber($0)) })],
            ]
        case "bounds of a thousand digits":
            return [
                "type": "number",
                "minimum": try! JSONValue(parsing: String(repeating: "7", count: 1_000)),
                "maximum": try! JSONValue(parsing: String(repeating: "8", count: 1_000)),
            ]
        case "dependent schemas":
            return [
                "dependentSchemas": .object(
                    JSONObject(
                        (0..<30).map { index in
                            ("a\(index)", ["required": [.string("b\(index)")], "properties": ["c": ["minimum": 1]]])
                        }))
            ]
        default: return ["type": "integer", "multipleOf": 999_999_937]
        }
    }

    private static func nested(_ depth: Int) -> JSONValue {
        var schema: JSONValue = ["type": "null"]
        for _ in 0..<depth / 2 { schema = ["properties": ["a": schema]] }
        return schema
    }

    @Test(arguments: [
        "anyOf inside allOf", "references that double", "objects of objects that double", "negations", "oneOf of many",
        "oneOf that doubles",
        "deep", "deep in place", "huge bounds", "dependencies", "multipleOf", "ten thousand choices",
        "a million choices",
        "a million words", "ten thousand properties", "a chain of references", "patterns that overlap",
        "patterns that meet",
        "tiny multiples", "many multiples", "unique items", "bounds of a thousand digits", "dependent schemas",
    ])
    func bombsEndInTime(_ name: String) {
        let schema = Self.bomb(name)
        let time = processorTime {
            guard let grammar = try? Grammar.jsonSchema(schema) else { return }
            var matcher = Matcher(grammar, trie: Vocabulary.standard)
            for _ in 0..<50 {
                let mask = matcher.mask()
                #expect(mask.count > 0)
                var chosen: Int32?
                mask.forEach { if chosen == nil { chosen = $0 } }
                guard let chosen, matcher.accept(chosen), !matcher.isFinished else { break }
            }
        }
        // Without limits these would take hours.
        #expect(time < .seconds(30), "\(name) \(time)")
    }

    @Test func nestingOfTenThousandIsRefusedAsASchemaAndWalkedAsAText() throws {
        // Built and torn down on a thread with a stack for it: the value itself is recursive.
        #expect {
            _ = try Grammar.schema(
                String(repeating: "{\"not\":", count: 600) + "{}" + String(repeating: "}", count: 600))
        } throws: { ($0 as? GrammarError)?.reason == .tooComplex }
        let text = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        #expect(try Grammar.schema("{}").accepts(text))
    }

    @Test func nothingIsIgnored() throws {
        // Annotations are harmless; everything else is obeyed or refused.
        let annotated = try Grammar.schema(
            #"{"type": "null", "title": "t", "description": "d", "default": 1, "examples": [2], "deprecated": true, "readOnly": true, "x-order": [], "vendor": 3}"#
        )
        #expect(annotated.accepts("null"))
        #expect(!annotated.accepts("1"))
    }
}
