import Foundation
import FoundationModels
import JSON
import Testing

private func decode(_ json: String) throws -> GenerationSchema {
    try JSONDecoder().decode(GenerationSchema.self, from: Data(json.utf8))
}

@Suite("GenerationSchema")
struct GenerationSchemaTests {
    @Test("Scalars, arrays and what is generated of no type")
    func roots() {
        #expect(String.generationSchema.enforcedSchema == ["type": "string"])
        #expect(Int.generationSchema.enforcedSchema == ["type": "integer"])
        for schema in [Float.generationSchema, Double.generationSchema, Decimal.generationSchema] {
            #expect(schema.enforcedSchema == ["type": "number"])
        }
        #expect(Bool.generationSchema.enforcedSchema == ["type": "boolean"])
        #expect(
            [[Int]].generationSchema.enforcedSchema == [
                "type": "array", "items": ["type": "array", "items": ["type": "integer"]],
            ])
        #expect(GeneratedContent.generationSchema.enforcedSchema == [:])
        #expect(Never.generationSchema.enforcedSchema == ["not": [:]])
        #expect(String.generationSchema.name == "String")
        #expect([Int].generationSchema.name == "Array<Int>")
        #expect(Outer.Item.generationSchema.name == "Item")
    }

    @Test(
        "Integers that are read from JSON Schema fit an Int, whatever says the dialect",
        arguments: [
            (#"{"type": "integer"}"#, "0", "9223372036854775808"),
            (#"{"type": "integer"}"#, "9223372036854775807", "-9223372036854775809"),
            (#"{"type": ["integer", "null"]}"#, "null", "9223372036854775808"),
            (
                #"{"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]}"#,
                #"{"a":1}"#, #"{"a":9223372036854775808}"#
            ),
            // What the schema itself asks for.
            (#"{"type": "integer", "minimum": 9223372036854775808}"#, "9223372036854775809", "1"),
            (#"{"type": "integer", "maximum": -9223372036854775809}"#, "-9223372036854775810", "1"),
            (#"{"type": "integer", "enum": [18446744073709551616]}"#, "18446744073709551616", "1"),
            (#"{"type": ["integer", "number"]}"#, "9223372036854775808", "true"),
        ])
    func integers(schema: String, good: String, bad: String) throws {
        let check = try StructuredOutputCheck(decode(schema), name: "integers")
        #expect(throws: Never.self) { try check.canonicalText(of: good, what: "It", wasCut: false) }
        #expect(throws: GeneratedContent.ParsingError.self) {
            try check.canonicalText(of: bad, what: "It", wasCut: false)
        }
    }

    @Test("Properties come in the order of declaration, in every kind of schema")
    func order() throws {
        #expect(WithDefaults.generationSchema.enforcedSchema["x-order"]?.arrayValue?.first == "tags")
        let dynamic = try GenerationSchema(
            root: DynamicGenerationSchema(
                name: "A",
                properties: ["reasoning", "answer"].map { .init(name: $0, schema: .init(type: String.self)) }),
            dependencies: [])
        #expect(dynamic.enforcedSchema["properties"]?.objectValue?.keys == ["reasoning", "answer"])
        let decoded = try decode(
            #"{"type": "object", "properties": {"answer": {}, "reasoning": {}}, "x-order": ["reasoning", "answer"]}"#)
        #expect(decoded.enforcedSchema["properties"]?.objectValue?.keys == ["reasoning", "answer"])
        let required = try decode(
            #"{"type": "object", "properties": {"z": {}, "b": {}, "a": {}}, "required": ["z"]}"#)
        #expect(required.enforcedSchema["properties"]?.objectValue?.keys == ["z", "a", "b"])
        let parsed = try JSONValue(parsing: #"{"properties": {"b": {"properties": {"y": {}, "x": {}}}, "a": {}}}"#)
        let document = GenerationSchema(document: try #require(parsed.objectValue)).enforcedSchema
        #expect(document["properties"]?.objectValue?.keys == ["b", "a"])
    }

    @Test("A type that refers to itself is the root, or has a definition when it is not")
    func recursion() {
        let root = Person.generationSchema.enforcedSchema
        #expect(root["properties"]?["children"]?["items"] == ["$ref": "#"])
        #expect(root["$defs"] == nil)
        let array = [Person].generationSchema.enforcedSchema
        #expect(array["items"] == ["$ref": "#/$defs/Person"])
        #expect(array["$defs"]?["Person"]?["properties"]?["children"]?["items"] == ["$ref": "#/$defs/Person"])
    }

    @Test("Two types of one name have two definitions")
    func sameNames() {
        let schema = SameNames.generationSchema.publishedSchema
        #expect(schema["properties"]?["first"] == ["$ref": "#/$defs/Item"])
        #expect(schema["properties"]?["second"] == ["$ref": "#/$defs/Item2"])
        #expect(schema["$defs"]?["Item2"]?["properties"]?["count"] == ["type": "integer"])
    }

    @Test("Enumerations")
    func enumerations() {
        #expect(
            StringEnum.generationSchema.enforcedSchema["enum"]
                == ["number one", "two", "with-a-dash", "a \"quoted\" one", "🙂"])
        #expect(
            IntEnum.generationSchema.enforcedSchema == [
                "title": "IntEnum", "type": "string", "enum": ["user", "assistant"],
            ])
        let shape = Shape.generationSchema.publishedSchema
        #expect(shape["anyOf"]?.arrayValue?.count == 6)
        #expect(
            shape["anyOf"]?.arrayValue?[1] == [
                "title": "polygon", "type": "object", "additionalProperties": false,
                "properties": [
                    "type": ["type": "string", "enum": ["polygon"]],
                    "corners": ["type": "array", "items": ["type": "integer"]], "name": ["type": "string"],
                ],
                "required": ["type", "corners"], "x-order": ["type", "corners", "name"],
            ])
        #expect(shape["anyOf"]?.arrayValue?[4]["properties"]?["value"]?["items"] == ["$ref": "#"])
    }

    @Test("Names and descriptions that the macro is given")
    func names() {
        let schema = HasOtherName.generationSchema
        #expect(schema.name == "Renamed")
        #expect(schema.enforcedSchema["title"] == "Renamed")
        #expect(schema.enforcedSchema["description"] == "Under another name")
        #expect(HasOtherNameToo.generationSchema.name == "Renamed choice")
        let seven = Described.generationSchema.enforcedSchema["properties"]?["seven"]?["description"]
        #expect(
            seven == "Several lines,\n  one of them indented, with \"quotation marks\" and a \\ backslash.")
        #expect(Box<Int>.generationSchema.name == "Box<Int>")
    }

    @Test("A document that stands for a type keeps its own references")
    func embedding() {
        struct Embedded: Generable {
            static var generationSchema: GenerationSchema {
                GenerationSchema(document: [
                    "title": "Embedded/1", "type": "object",
                    "properties": ["self": ["$ref": "#"], "other": ["$ref": "#/$defs/Other"]],
                    "$defs": ["Other": ["type": "string"]],
                ])
            }
            init(_ content: GeneratedContent) throws {}
            var generatedContent: GeneratedContent { GeneratedContent(kind: .null) }
        }
        struct Holder: Generable {
            static var generationSchema: GenerationSchema {
                GenerationSchema(type: Self.self, properties: [.init(name: "value", type: Embedded.self)])
            }
            init(_ content: GeneratedContent) throws {}
            var generatedContent: GeneratedContent { GeneratedContent(kind: .null) }
        }
        let schema = Holder.generationSchema.enforcedSchema
        #expect(schema["properties"]?["value"] == ["$ref": "#/$defs/Embedded~11"])
        let embedded = schema["$defs"]?["Embedded/1"]
        #expect(embedded?["properties"]?["self"] == ["$ref": "#/$defs/Embedded~11"])
        #expect(embedded?["properties"]?["other"] == ["$ref": "#/$defs/Embedded~11/$defs/Other"])
        #expect(embedded?["$defs"]?["Other"] == ["type": "string"])
    }

    @Test(
        "Documents from outside keep every keyword",
        arguments: [
            #"{"type": ["string", "null"], "maxLength": 4000, "format": "email", "not": {"const": "x"}}"#,
            ##"{"definitions": {"A": {"$ref": "#/definitions/A"}}, "patternProperties": {"^x": {"multipleOf": 0.01}}}"##,
            #"{"const": {"b": 1, "a": [1.50, -0.0, 1e400, 123456789012345678901234567890, true, null]}}"#,
            #"{"properties": {"pattern": {"type": "string"}, "const": {"pattern": "x"}}, "title": "T"}"#,
            "{}",
        ])
    func foreign(_ json: String) throws {
        let value = try JSONValue(parsing: json)
        let schema = GenerationSchema(document: try #require(value.objectValue))
        #expect(schema.enforcedSchema == value)
        // A decoder cannot hold a number beyond all its types.
        guard !json.contains("1e400") else { return }
        let decoded = try decode(json)
        #expect(decoded.enforcedSchema == value)
        #expect(try JSONValue(parsing: Array(JSONEncoder().encode(decoded))) == value)
    }

    @Test("What is no schema is refused", arguments: ["[]", "3", "null", #""string""#])
    func noSchema(_ json: String) {
        #expect(throws: DecodingError.self) { try decode(json) }
    }

    @Test("Patterns are whole in Apple's dialect and what JSON Schema makes of them elsewhere")
    func patterns() throws {
        let apples = try decode(
            #"{"type": "object", "x-order": ["a"], "properties": {"a": {"type": "string", "pattern": "a|b"}}}"#)
        #expect(
            apples.enforcedSchema["properties"]?["a"] == [
                "type": "string", "pattern": "^(?:a|b)$", "x-swift-regex": "a|b",
            ])
        #expect(apples.publishedSchema["properties"]?["a"] == ["type": "string", "pattern": "a|b"])
        let foreign = try decode(#"{"properties": {"a": {"type": "string", "pattern": "a|b"}}}"#)
        #expect(foreign.enforcedSchema["properties"]?["a"] == ["type": "string", "pattern": "a|b"])
        // A pattern survives being written and read.
        let written = try JSONEncoder().encode(Described.generationSchema)
        let read = try JSONDecoder().decode(GenerationSchema.self, from: written)
        #expect(read.enforcedSchema == Described.generationSchema.enforcedSchema)
    }

    @Test("Faults of schemas that are put together without an error to throw")
    func faults() {
        struct Faulty: Generable {
            static var generationSchema: GenerationSchema {
                GenerationSchema(
                    type: Self.self,
                    properties: [.init(name: "a", type: Int.self), .init(name: "a", type: String.self)])
            }
            init(_ content: GeneratedContent) throws {}
            var generatedContent: GeneratedContent { GeneratedContent(kind: .null) }
        }
        #expect(Faulty.generationSchema.faults.map(\.description) == ["Faulty.a: the property is declared twice"])
        let none = GenerationSchema(type: Faulty.self, anyOf: [] as [String])
        #expect(none.faults.map(\.description) == ["Faulty: there are no choices"])
        let nothing = GenerationSchema(type: Faulty.self, anyOf: [] as [any Generable.Type])
        #expect(nothing.faults.map(\.description) == ["Faulty: there are no choices"])
    }
}
