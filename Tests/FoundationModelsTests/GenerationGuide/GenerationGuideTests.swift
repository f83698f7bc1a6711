import Foundation
import FoundationModels
import JSON
import RegexBuilder
import Testing

@Suite("Guides")
struct GenerationGuideTests {
    private func schema<Value: Generable>(
        _ type: Value.Type, _ guides: GenerationGuide<Value>...
    ) throws -> (JSONValue, [SchemaFault]) {
        let schema = try GenerationSchema(root: .init(type: type, guides: guides), dependencies: [])
        return (schema.publishedSchema, schema.faults)
    }

    @Test("Every guide is keywords of JSON Schema")
    func keywords() throws {
        func expect<Value: Generable>(
            _ type: Value.Type, _ guides: GenerationGuide<Value>, _ json: String,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let (schema, faults) = try schema(type, guides)
            #expect(try schema == JSONValue(parsing: json), sourceLocation: sourceLocation)
            #expect(faults == [], sourceLocation: sourceLocation)
        }
        try expect(String.self, .constant("a\"b"), #"{"type": "string", "enum": ["a\"b"]}"#)
        try expect(String.self, .anyOf(["a", "b", "a"]), #"{"type": "string", "enum": ["a", "b"]}"#)
        try expect(String.self, .pattern(/a|b/), #"{"type": "string", "pattern": "^(?:a|b)$"}"#)
        try expect(Int.self, .minimum(-3), #"{"type": "integer", "minimum": -3}"#)
        try expect(Int.self, .maximum(.max), #"{"type": "integer", "maximum": 9223372036854775807}"#)
        try expect(Int.self, .range(1...2), #"{"type": "integer", "minimum": 1, "maximum": 2}"#)
        try expect(Float.self, .range(0.1...0.2), #"{"type": "number", "minimum": 0.1, "maximum": 0.2}"#)
        try expect(Float.self, .minimum(-1), #"{"type": "number", "minimum": -1}"#)
        try expect(Float.self, .maximum(0.3), #"{"type": "number", "maximum": 0.3}"#)
        try expect(Double.self, .range(-0.5...1e300), #"{"type": "number", "minimum": -0.5, "maximum": 1e300}"#)
        try expect(Double.self, .minimum(0.1), #"{"type": "number", "minimum": 0.1}"#)
        try expect(Double.self, .maximum(1 / 3), #"{"type": "number", "maximum": 0.3333333333333333}"#)
        let small = try #require(Decimal(string: "0.10000000000000000001"))
        try expect(Decimal.self, .minimum(small), #"{"type": "number", "minimum": 0.10000000000000000001}"#)
        try expect(Decimal.self, .maximum(small), #"{"type": "number", "maximum": 0.10000000000000000001}"#)
        try expect(
            Decimal.self, .range(small...1), #"{"type": "number", "minimum": 0.10000000000000000001, "maximum": 1}"#)
        try expect([Int].self, .minimumCount(1), #"{"type": "array", "items": {"type": "integer"}, "minItems": 1}"#)
        try expect([Int].self, .maximumCount(3), #"{"type": "array", "items": {"type": "integer"}, "maxItems": 3}"#)
        try expect(
            [Int].self, .count(2), #"{"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}"#)
        try expect(
            [Int].self, .count(0...4), #"{"type": "array", "items": {"type": "integer"}, "minItems": 0, "maxItems": 4}"#
        )
        try expect(
            [Int].self, .element(.range(1...9)),
            #"{"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 9}}"#)
        try expect(
            [[String]].self, .element(.element(.anyOf(["a"]))),
            #"{"type": "array", "items": {"type": "array", "items": {"type": "string", "enum": ["a"]}}}"#)
    }

    @Test("Several guides hold together")
    func together() throws {
        #expect(
            try schema(Int.self, .minimum(1), .range(0...9), .maximum(7), .minimum(-5)).0 == [
                "type": "integer", "minimum": 1, "maximum": 7,
            ])
        #expect(
            try schema(String.self, .anyOf(["a", "b", "c"]), .anyOf(["c", "b", "x"])).0 == [
                "type": "string", "enum": ["b", "c"],
            ])
        #expect(
            try schema([String].self, .minimumCount(1), .count(0...4), .element(.constant("x"))).0
                == ["type": "array", "items": ["type": "string", "enum": ["x"]], "minItems": 1, "maxItems": 4])
        #expect(
            try schema(String.self, .pattern(/a+/), .pattern(/a{2}/)).0
                == ["type": "string", "pattern": "^(?:a+)$", "allOf": [["pattern": "^(?:a{2})$"]]])
    }

    @Test("What cannot be kept is named")
    func faults() throws {
        func expect<Value: Generable>(
            _ type: Value.Type, _ guides: [GenerationGuide<Value>], _ reason: String,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let schema = try GenerationSchema(root: .init(type: type, guides: guides), dependencies: [])
            #expect(schema.faults.map(\.reason) == [reason], sourceLocation: sourceLocation)
        }
        let kept = "cannot be kept:"
        try expect(String.self, [.anyOf([])], "the guide 'anyOf' \(kept) there are no choices")
        try expect(
            String.self, [.anyOf(["a"]), .constant("b")],
            "the guide 'constant' \(kept) no value is left that all guides allow")
        try expect(
            Int.self, [.minimum(3), .maximum(2)], "the guide 'maximum' \(kept) the bounds 3 and 2 leave no value")
        try expect(Double.self, [.minimum(.nan)], "the guide 'minimum' \(kept) the bound nan is not a finite number")
        try expect(
            Double.self, [.maximum(.infinity)], "the guide 'maximum' \(kept) the bound inf is not a finite number")
        try expect([Int].self, [.minimumCount(-1)], "the guide 'minimumCount' \(kept) the count -1 is negative")
        try expect(
            [Int].self, [.minimumCount(3), .maximumCount(2)],
            "the guide 'maximumCount' \(kept) the bounds 3 and 2 leave no value")
        try expect(
            String.self,
            [
                .pattern(
                    Regex {
                        Capture {
                            OneOrMore(.digit)
                        } transform: {
                            Int($0)
                        }
                    })
            ],
            "the guide 'pattern' \(kept) the regular expression is not supported: it has parts that are code: "
                + "a transform, a custom component or a predicate")
    }

    /// Which guide may be put on which type where types are not checked by a compiler.
    @Test("The matrix of guides and types")
    func matrix() {
        let types: [(String, JSONObject)] = [
            ("string", ["type": "string"]), ("integer", ["type": "integer"]), ("number", ["type": "number"]),
            ("boolean", ["type": "boolean"]), ("strings", ["type": "array", "items": ["type": "string"]]),
            ("integers", ["type": "array", "items": ["type": "integer"]]), ("reference", ["$ref": "#/$defs/A"]),
            ("any", [:]),
        ]
        let guides: [(GuideConstraint, Set<String>)] = [
            (.constant("a"), ["string"]),
            (.anyOf(["a"]), ["string", "strings"]),
            (.pattern("a"), ["string"]),
            (.minimum(JSONNumber(1)), ["integer", "number"]),
            (.maximum(JSONNumber(1)), ["integer", "number"]),
            (.minimumCount(1), ["strings", "integers"]),
            (.maximumCount(1), ["strings", "integers"]),
            (.element(.constant("a")), ["strings"]),
            (.element(.pattern("a")), ["strings"]),
            (.element(.minimum(JSONNumber(1))), ["integers"]),
            (.element(.maximumCount(1)), []),
            (.unsupported(guide: "x", reason: "y"), []),
        ]
        for (guide, legal) in guides {
            for (name, schema) in types {
                var schema = schema
                let fault = guide.apply(to: &schema)
                #expect((fault == nil) == legal.contains(name), "\(guide) on \(name): \(fault ?? "kept")")
            }
        }
    }

    @Test("A guide on a property names the property that it is on")
    func paths() {
        struct Holder: Generable {
            static var generationSchema: GenerationSchema {
                GenerationSchema(
                    type: Self.self,
                    properties: [.init(name: "a", type: Int?.self, guides: [.minimum(2), .maximum(1)])])
            }
            init(_ content: GeneratedContent) throws {}
            var generatedContent: GeneratedContent { GeneratedContent(kind: .null) }
        }
        #expect([Holder].generationSchema.faults.map(\.path) == ["Holder.a"])
    }
}
