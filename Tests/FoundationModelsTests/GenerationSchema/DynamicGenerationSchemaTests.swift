import Foundation
import FoundationModels
import JSON
import Testing

@Suite("DynamicGenerationSchema")
struct DynamicGenerationSchemaTests {
    typealias Dynamic = DynamicGenerationSchema

    @Test("Structures, arrays, choices, unions, null, types and references")
    func document() throws {
        let item = Dynamic(
            name: "Item",
            properties: [
                .init(name: "n", schema: .init(type: String.self)),
                .init(name: "kind", description: "k", schema: .init(name: "Kind", anyOf: ["a", "b"])),
                .init(name: "parent", schema: .init(referenceTo: "Item"), isOptional: true),
                .init(name: "menu", schema: .init(referenceTo: "Menu"), isOptional: true),
            ])
        let menu = Dynamic(
            name: "Menu", description: "d",
            properties: [
                .init(
                    name: "items",
                    schema: .init(arrayOf: .init(referenceTo: "Item"), minimumElements: 1, maximumElements: 3)),
                .init(name: "price", schema: .init(type: Int.self, guides: [.range(1...9)])),
                .init(name: "code", schema: .init(type: String.self, guides: [.pattern(/[A-Z]+/)]), isOptional: true),
                .init(name: "union", schema: .init(name: "U", anyOf: [Dynamic(type: Int.self), .null])),
                .init(name: "age", schema: .init(type: Age.self)),
            ])
        let schema = try GenerationSchema(root: menu, dependencies: [item])
        #expect(schema.name == "Menu")
        #expect(schema.faults == [])
        let expected = try JSONValue(
            parsing: #"""
                {"title": "Menu", "description": "d", "type": "object", "properties": {
                   "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}, "minItems": 1, "maxItems": 3},
                   "price": {"type": "integer", "minimum": 1, "maximum": 9},
                   "code": {"type": "string", "pattern": "^(?:[A-Z]+)$"},
                   "union": {"$ref": "#/$defs/U"},
                   "age": {"$ref": "#/$defs/Age"}},
                 "required": ["items", "price", "union", "age"], "additionalProperties": false,
                 "x-order": ["items", "price", "code", "union", "age"],
                 "$defs": {
                   "Item": {"title": "Item", "type": "object", "properties": {
                       "n": {"type": "string"}, "kind": {"$ref": "#/$defs/Kind", "description": "k"},
                       "parent": {"$ref": "#/$defs/Item"}, "menu": {"$ref": "#"}},
                     "required": ["n", "kind"], "additionalProperties": false, "x-order": ["n", "kind", "parent", "menu"]},
                   "Kind": {"title": "Kind", "type": "string", "enum": ["a", "b"]},
                   "U": {"title": "U", "anyOf": [{"type": "integer"}, {"type": "null"}]},
                   "Age": {"title": "Age", "type": "object", "properties": {
                       "years": {"type": "integer"}, "months": {"type": "integer"}},
                     "required": ["years", "months"], "additionalProperties": false, "x-order": ["years", "months"]}}}
                """#)
        #expect(schema.publishedSchema == expected)
        let data = try JSONEncoder().encode(schema)
        #expect(try JSONDecoder().decode(GenerationSchema.self, from: data).enforcedSchema == schema.enforcedSchema)
    }

    @Test("Roots without a name")
    func roots() throws {
        let array = try GenerationSchema(
            root: .init(arrayOf: .init(referenceTo: "A")), dependencies: [.init(name: "A", anyOf: ["x"])])
        #expect(array.enforcedSchema["items"] == ["$ref": "#/$defs/A"])
        let reference = try GenerationSchema(
            root: .init(referenceTo: "A"), dependencies: [.init(name: "A", anyOf: ["x"])])
        #expect(reference.enforcedSchema["$ref"] == "#/$defs/A")
        let type = try GenerationSchema(root: .init(type: Person.self), dependencies: [])
        #expect(type.enforcedSchema == Person.generationSchema.enforcedSchema)
        let guided = try GenerationSchema(root: .init(type: Int.self, guides: [.minimum(3)]), dependencies: [])
        #expect(guided.enforcedSchema == ["type": "integer", "minimum": 3])
        #expect(try GenerationSchema(root: .null, dependencies: []).enforcedSchema == ["type": "null"])
    }

    @Test("Nil that is to be written")
    func explicitNil() throws {
        let schema = try GenerationSchema(
            root: .init(
                name: "A", representNilExplicitlyInGeneratedContent: true,
                properties: [.init(name: "a", schema: .init(type: Int.self), isOptional: true)]), dependencies: [])
        #expect(schema.enforcedSchema["required"] == ["a"])
        #expect(schema.publishedSchema["properties"]?["a"] == ["anyOf": [["type": "integer"], ["type": "null"]]])
    }

    @Test("One schema may be written out in several places if it is the same")
    func sharing() throws {
        let kind = Dynamic(name: "Kind", anyOf: ["a"])
        let again = Dynamic(name: "Kind", anyOf: ["a"])
        let schema = try GenerationSchema(
            root: .init(name: "R", properties: [.init(name: "a", schema: kind), .init(name: "b", schema: again)]),
            dependencies: [])
        #expect(schema.enforcedSchema["$defs"]?.objectValue?.keys == ["Kind"])
        let other = Dynamic(name: "Kind", anyOf: ["b"])
        #expect {
            try GenerationSchema(
                root: .init(name: "R", properties: [.init(name: "a", schema: kind), .init(name: "b", schema: other)]),
                dependencies: [])
        } throws: {
            guard case GenerationSchema.SchemaError.duplicateType("R", "Kind", _) = $0 else { return false }
            return true
        }
    }

    @Test("Schemas that nothing refers to are left out")
    func unused() throws {
        let schema = try GenerationSchema(
            root: .init(name: "A", anyOf: ["x"]), dependencies: [.init(name: "B", anyOf: ["y"])])
        #expect(schema.enforcedSchema["$defs"] == nil)
    }

    @Test("A type among the dependencies can be referred to")
    func typeDependency() throws {
        let root = Dynamic(name: "R", properties: [.init(name: "age", schema: .init(referenceTo: "Age"))])
        let schema = try GenerationSchema(root: root, dependencies: [.init(type: Age.self)])
        #expect(schema.enforcedSchema["$defs"]?["Age"] == Age.generationSchema.enforcedSchema)
    }

    @Test("What is wrong is named")
    func errors() throws {
        let a = Dynamic(name: "A", anyOf: ["x"])
        func error(_ root: Dynamic, _ dependencies: [Dynamic] = []) -> GenerationSchema.SchemaError? {
            do {
                _ = try GenerationSchema(root: root, dependencies: dependencies)
                return nil
            } catch {
                return error as? GenerationSchema.SchemaError
            }
        }
        for dependencies in [[a], [Dynamic(name: "B", anyOf: ["x"]), Dynamic(name: "B", anyOf: ["x"])]] {
            let found = error(a, dependencies)
            guard case .duplicateType("A", let type, _) = found else {
                Issue.record("\(String(describing: found))")
                continue
            }
            #expect(type == (dependencies.count == 1 ? "A" : "B"))
            #expect(found?.errorDescription == "There are several schemas named '\(type)'.")
            #expect(found?.recoverySuggestion?.contains("'\(type)'") == true)
        }
        let twice = error(
            .init(
                name: "P",
                properties: [
                    .init(name: "x", schema: .init(type: Int.self)), .init(name: "x", schema: .init(type: Int.self)),
                ]))
        guard case .duplicateProperty("P", "x", _) = twice else {
            Issue.record("\(String(describing: twice))")
            return
        }
        #expect(twice?.errorDescription == "'P' has several properties named 'x'.")
        for empty in [Dynamic(name: "E", anyOf: [] as [String]), Dynamic(name: "E", anyOf: [] as [Dynamic])] {
            for root in [empty, Dynamic(name: "R", properties: [.init(name: "e", schema: .init(arrayOf: empty))])] {
                guard case .emptyTypeChoices("E", _) = error(root) else {
                    Issue.record("\(root)")
                    continue
                }
            }
            guard case .emptyTypeChoices("E", _) = error(a, [empty]) else {
                Issue.record("\(empty)")
                continue
            }
        }
        let lost = error(
            .init(
                name: "R",
                properties: [
                    .init(name: "x", schema: .init(referenceTo: "X")),
                    .init(name: "y", schema: .init(arrayOf: .init(referenceTo: "Y"))),
                ]), [a])
        guard case .undefinedReferences("R", ["X", "Y"], let context) = lost else {
            Issue.record("\(String(describing: lost))")
            return
        }
        #expect(context.debugDescription == "'R' refers to 'X', 'Y', which no schema is named.")
        #expect(lost?.recoverySuggestion == "Pass schemas named 'X', 'Y' among the dependencies.")
        guard case .undefinedReferences(nil, ["X"], _) = error(.init(referenceTo: "X")) else {
            Issue.record("a root that refers to nothing")
            return
        }
    }

    @Test("Hostile nesting is answered", .timeLimit(.minutes(1)))
    func nesting() throws {
        var deep = Dynamic(type: Int.self)
        for _ in 0..<10_000 { deep = Dynamic(arrayOf: deep) }
        let schema = try GenerationSchema(root: deep, dependencies: [])
        #expect(schema.faults.map(\.reason) == ["arrays are nested deeper than 256"])
        // Each level holds the one below twice: written out, the whole would have 2^200 parts.
        var bomb = Dynamic(name: "0", anyOf: ["x"])
        for level in 1...200 {
            bomb = Dynamic(
                name: "\(level)", properties: [.init(name: "a", schema: bomb), .init(name: "b", schema: bomb)])
        }
        #expect(try GenerationSchema(root: bomb, dependencies: []).enforcedSchema["$defs"]?.objectValue?.count == 200)
    }
}
