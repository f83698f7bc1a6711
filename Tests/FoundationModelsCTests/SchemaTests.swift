import CFoundationModels
import Foundation
import Testing

@Suite struct SchemaTests {
    /// A schema with one property, under the guides that `guide` adds.
    private func schema(
        ofType type: String, optional: Bool = false, _ guide: (UnsafeRawPointer?) -> Void = { _ in }
    ) -> (value: String?, status: Int32, text: String?) {
        let schema = FMGenerationSchemaCreate("Thing", "What it is")
        let property = FMGenerationSchemaPropertyCreate("field", "About it", type, optional)
        guide(property)
        FMGenerationSchemaAddProperty(schema, property)
        FMRelease(property)
        defer { FMRelease(schema) }
        let found = reporting { FMGenerationSchemaGetJSONString(schema, $0, $1) }
        return (taken(found.value), found.status, found.text)
    }

    private func field(_ json: String?) throws -> NSDictionary {
        let object = try JSONSerialization.jsonObject(with: Data(try #require(json).utf8)) as? [String: Any]
        let properties = try #require(object?["properties"] as? [String: Any])
        let field = NSMutableDictionary(dictionary: try #require(properties["field"] as? [String: Any]))
        field.removeObject(forKey: "description")
        return field
    }

    @Test(arguments: [
        ("string", "{\"type\": \"string\"}"), ("integer", "{\"type\": \"integer\"}"),
        ("number", "{\"type\": \"number\"}"), ("boolean", "{\"type\": \"boolean\"}"),
        ("array<string>", "{\"type\": \"array\", \"items\": {\"type\": \"string\"}}"),
        (
            "array<array<int>>",
            "{\"type\": \"array\", \"items\": {\"type\": \"array\", \"items\": {\"type\": \"integer\"}}}"
        ),
    ]) func types(_ type: String, _ expected: String) throws {
        let found = schema(ofType: type)
        #expect(found.status == 0)
        let json = try JSONSerialization.jsonObject(with: Data(expected.utf8)) as? NSDictionary
        #expect(try field(found.value) == json)
    }

    @Test func guidesOfNumbers() throws {
        #expect(
            try field(schema(ofType: "integer") { FMGenerationSchemaPropertyAddRangeGuide($0, 0.5, 2.5, false) }.value)
                == ["type": "integer", "minimum": 1, "maximum": 2])
        #expect(
            try field(schema(ofType: "number") { FMGenerationSchemaPropertyAddMinimumGuide($0, 0.5, false) }.value)
                == ["type": "number", "minimum": 0.5])
    }

    @Test func guidesOfArrays() throws {
        let found = schema(ofType: "array<integer>") {
            FMGenerationSchemaPropertyAddMinItemsGuide($0, 1)
            FMGenerationSchemaPropertyAddMaxItemsGuide($0, 4)
            FMGenerationSchemaPropertyAddMaximumGuide($0, 5, true)
        }
        #expect(
            try field(found.value)
                == ["type": "array", "minItems": 1, "maxItems": 4, "items": ["type": "integer", "maximum": 5]])
        let choices = schema(ofType: "array<string>") { property in
            "red".withCString { red in
                "blue".withCString { blue in
                    FMGenerationSchemaPropertyAddAnyOfGuide(property, [red, blue], 2, false)
                }
            }
        }
        #expect(
            try field(choices.value)
                == ["type": "array", "items": ["type": "string", "enum": ["red", "blue"]]])
    }

    /// Which guides go with which types. A guide of arrays is for any array, choices for strings and arrays of them.
    @Test(arguments: [
        "string", "integer", "number", "boolean", "array<string>", "array<integer>", "array<number>", "Other",
    ])
    func guidesThatDoNotFit(_ type: String) {
        let guides: [(name: String, fits: Set<String>, add: (UnsafeRawPointer?) -> Void)] = [
            ("minimum", ["integer", "number"], { FMGenerationSchemaPropertyAddMinimumGuide($0, 1, false) }),
            ("maximum", ["integer", "number"], { FMGenerationSchemaPropertyAddMaximumGuide($0, 1, false) }),
            ("range", ["integer", "number"], { FMGenerationSchemaPropertyAddRangeGuide($0, 1, 2, false) }),
            (
                "count", ["array<string>", "array<integer>", "array<number>"],
                { FMGenerationSchemaPropertyAddCountGuide($0, 2, false) }
            ),
            (
                "minItems", ["array<string>", "array<integer>", "array<number>"],
                { FMGenerationSchemaPropertyAddMinItemsGuide($0, 2) }
            ),
            (
                "maxItems", ["array<string>", "array<integer>", "array<number>"],
                { FMGenerationSchemaPropertyAddMaxItemsGuide($0, 2) }
            ),
            ("regex", ["string"], { FMGenerationSchemaPropertyAddRegex($0, "a+", false) }),
            (
                "anyOf", ["string", "array<string>"],
                { property in
                    "red".withCString { FMGenerationSchemaPropertyAddAnyOfGuide(property, [$0], 1, false) }
                }
            ),
        ]
        for guide in guides {
            let found = schema(ofType: type, guide.add)
            if guide.fits.contains(type) {
                #expect(found.status == 0, "\(guide.name) on \(type): \(found.text ?? "")")
            } else {
                #expect(found.status == 4, "\(guide.name) on \(type)")
                #expect(found.text?.contains(guide.name) == true)
            }
        }
    }

    @Test func valuesThatNothingFitsAreRefused() {
        #expect(schema(ofType: "integer") { FMGenerationSchemaPropertyAddRangeGuide($0, 2, 1, false) }.status == 11)
        #expect(schema(ofType: "number") { FMGenerationSchemaPropertyAddMaximumGuide($0, .nan, false) }.status == 11)
        #expect(
            schema(ofType: "number") { FMGenerationSchemaPropertyAddMinimumGuide($0, -.infinity, false) }.status == 11)
        #expect(schema(ofType: "integer") { FMGenerationSchemaPropertyAddMaximumGuide($0, 1e300, false) }.status == 4)
        #expect(schema(ofType: "array<string>") { FMGenerationSchemaPropertyAddCountGuide($0, -1, false) }.status == 11)
        #expect(schema(ofType: "string") { FMGenerationSchemaPropertyAddRegex($0, "(", false) }.status == 4)
        #expect(schema(ofType: "string") { FMGenerationSchemaPropertyAddRegex($0, notUTF8, false) }.status == 11)
        #expect(schema(ofType: "string") { FMGenerationSchemaPropertyAddRegex($0, nil, false) }.status == 11)
        #expect(schema(ofType: "string") { FMGenerationSchemaPropertyAddAnyOfGuide($0, nil, 3, false) }.status == 11)
        #expect(schema(ofType: "string") { FMGenerationSchemaPropertyAddAnyOfGuide($0, [nil], 1, false) }.status == 11)
        #expect(schema(ofType: "").status == 11)
        #expect(schema(ofType: String(repeating: "array<", count: 10_000)).status == 10)
        let nested = String(repeating: "array<", count: 5_000) + "int" + String(repeating: ">", count: 5_000)
        #expect(schema(ofType: nested).status == 11)
    }

    @Test func referencesAreToSchemasThatWereAdded() throws {
        #expect(schema(ofType: "Other").status == 10)
        let other = FMGenerationSchemaCreate("Other", nil)
        let number = FMGenerationSchemaPropertyCreate("number", nil, "int", false)
        FMGenerationSchemaAddProperty(other, number)
        let thing = FMGenerationSchemaCreate("Thing", nil)
        let others = FMGenerationSchemaPropertyCreate("others", nil, "array<Other>", true)
        let parent = FMGenerationSchemaPropertyCreate("parent", nil, "Thing", true)
        FMGenerationSchemaAddProperty(thing, others)
        FMGenerationSchemaAddProperty(thing, parent)
        FMGenerationSchemaAddReferenceSchema(thing, other)
        FMGenerationSchemaAddReferenceSchema(thing, thing)
        // What was added stays when its own handle goes.
        for handle in [other, number, others, parent] { FMRelease(handle) }
        let found = reporting { FMGenerationSchemaGetJSONString(thing, $0, $1) }
        #expect(found.status == 0)
        let json = try #require(taken(found.value))
        #expect(json.contains("\"number\"") && json.contains("Other"))
        FMRelease(thing)
    }

    @Test func namesThatAreNoTextAreTold() {
        for bad in [nil, notUTF8] as [[CChar]?] {
            let schema = FMGenerationSchemaCreate(bad, nil)
            #expect(reporting { FMGenerationSchemaGetJSONString(schema, $0, $1) }.status == 11)
            FMRelease(schema)
            let good = FMGenerationSchemaCreate("Thing", nil)
            let property = FMGenerationSchemaPropertyCreate("field", nil, bad, false)
            FMGenerationSchemaAddProperty(good, property)
            #expect(reporting { FMGenerationSchemaGetJSONString(good, $0, $1) }.status == 11)
            FMRelease(property)
            FMRelease(good)
        }
    }
}
