import Foundation
import FoundationModels
import JSON
import Testing

@Suite("Shapes of generable types")
struct GenerableShapesTests {
    /// Values of every shape: each is written as content, as JSON text, and read again from both.
    @Test("Values come back from content and from JSON text")
    func roundTrips() throws {
        try check(
            PlainStruct(
                text: "a\n\"b\"", flag: true, whole: -3, single: 0.1, double: 1e-7, exact: Decimal(string: "0.10")!,
                list: ["x", ""], maybe: nil, maybeList: [1, 2], anything: GeneratedContent(json: #"{"z": [1, null]}"#)))
        try check(
            Described(
                one: "1", two: ["2"], three: 3, four: "ABC-1234", five: nil, six: [6], seven: "7", eight: "a",
                nine: [9],
                ten: "x", eleven: ["north"], twelve: "INV-1234", thirteen: "x", fourteen: 1.25, fifteen: 1))
        try check(PlainEnum.in)
        try check(PlainEnum.default)
        for value in StringEnum.allCases { try check(value) }
        try check(IntEnum.assistant)
        try check(Shape.circle(radius: 1.5))
        try check(Shape.polygon(corners: [1, 2], name: nil))
        try check(Shape.label("a"))
        try check(Shape.pair(1, 2))
        try check(Shape.group([.empty, .group([.circle(radius: 2)])]))
        try check(Shape.empty)
        try check(TypeLabel.a(type: "b"))
        try check(Person(name: "A", children: [Person(name: "B", children: [])]))
        try check(Outer(items: [.init(name: "a", kind: .b)], one: nil))
        try check(PublicStruct(name: "a", hidden: 1, kind: .b))
        try check(PublicSpace.InExtension(a: 1))
        try check(PublicSpace.InPublicExtension(a: 1))
        try check(ViewModel.Draft(title: "a"))
        try check(Box(value: 1, others: [2]))
        try check(Box(value: [Person(name: "A", children: [])], others: []))
        try check(GenericSpace<String>.Inner(element: "a"))
        try check(
            Keywords(
                default: "a", class: 1, name: "b", description: "c", properties: ["d"], content: "e", add: true,
                type: "f", guides: 2))
        try check(OwnID(id: 3, text: "a"))
        try check(ExplicitNil(a: nil, b: 1))
        try check(HasOtherName(a: "b"))
        try check(HasOtherNameToo.b)
        try check(WithAliases(names: ["a"], maybe: nil, pair: nil))
        try check(DeclaredConformance(a: "b"))
        try check(Empty())
        try check(UsesByHand(number: ByHand(value: 3)))
        #expect(try PrivateShapes.roundTrips() == [true, true, true])
    }

    private func check<Value: Generable & Equatable>(
        _ value: Value, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let content = value.generatedContent
        #expect(try Value(content) == value, sourceLocation: sourceLocation)
        #expect(try Value(GeneratedContent(json: content.jsonString)) == value, sourceLocation: sourceLocation)
        #expect(Value.generationSchema.faults == [], sourceLocation: sourceLocation)
        _ = value.asPartiallyGenerated()
    }

    @Test("What a type gives itself is left to it")
    func defaults() throws {
        var value = try WithDefaults(
            GeneratedContent(
                json: #"{"tags": [], "observed": 5, "count": 2, "a": 1, "b": 2, "unwrapped": "u", "spelled": 9}"#))
        #expect(value.tags == [] && value.observed == 5 && value.count == 2 && value.unwrapped == "u")
        #expect(value.constant == 7 && value.computed == 10 && value.later == 5 && value.spelled == 9)
        let schema = WithDefaults.generationSchema.enforcedSchema
        #expect(
            schema["properties"]?.objectValue?.keys == ["tags", "observed", "count", "a", "b", "unwrapped", "spelled"])
        #expect(schema["required"] == ["tags", "observed", "count", "a", "b"])
        #expect(WithDefaults.PartiallyGenerated.self != WithDefaults.self)
    }

    @MainActor
    @Test("A type on the main actor")
    func mainActor() async throws {
        let value = OnMainActor(a: "x", b: nil)
        let text = await Task.detached { value.generatedContent.jsonString }.value
        #expect(text == #"{"a": "x"}"#)
        #expect(try OnMainActor(GeneratedContent(json: text)).a == "x")
    }

    @Test("Nil is left out, or written as null when the type asks for it")
    func representationOfNil() throws {
        #expect(Outer(items: [], one: nil).generatedContent.jsonString == #"{"items": []}"#)
        #expect(ExplicitNil(a: nil, b: 1).generatedContent.jsonString == #"{"a": null, "b": 1}"#)
        #expect(WithAliases(names: [], maybe: nil, pair: nil).generatedContent.jsonString == #"{"names": []}"#)
        #expect(try ExplicitNil(GeneratedContent(json: #"{"b": 1}"#)).a == nil)
        let schema = ExplicitNil.generationSchema.enforcedSchema
        #expect(schema["required"] == ["a", "b"])
        #expect(schema["properties"]?["a"] == ["anyOf": [["type": "string"], ["type": "null"]]])
    }

    @Test("An absent, null, right or wrong value, for a property that is required and one that is optional")
    func optionality() throws {
        #expect(throws: GeneratedContent.ParsingError.self) { try ExplicitNil(GeneratedContent(json: #"{"a": "x"}"#)) }
        #expect(throws: GeneratedContent.ParsingError.self) { try ExplicitNil(GeneratedContent(json: #"{"b": null}"#)) }
        #expect(throws: GeneratedContent.ParsingError.self) { try ExplicitNil(GeneratedContent(json: #"{"b": "1"}"#)) }
        #expect(throws: GeneratedContent.ParsingError.self) {
            try ExplicitNil(GeneratedContent(json: #"{"a": 1, "b": 1}"#))
        }
        for json in [#"{"b": 1}"#, #"{"a": null, "b": 1}"#] {
            #expect(try ExplicitNil(GeneratedContent(json: json)) == ExplicitNil(a: nil, b: 1))
        }
        #expect(try ExplicitNil(GeneratedContent(json: #"{"a": "x", "b": 1}"#)) == ExplicitNil(a: "x", b: 1))
    }

    @Test("Identities are filled in and no part of the schema")
    func identities() throws {
        let id = GenerationID()
        let content = try GeneratedContent(json: #"{"text": "a"}"#, id: id)
        #expect(try Identified(content) == Identified(id: id, text: "a"))
        #expect(try IdentifiedByDefault(content).id == id)
        #expect(try Identified.PartiallyGenerated(content).id == id)
        #expect(try PlainStruct.PartiallyGenerated(content).id == id)
        #expect(Identified(id: id, text: "a").generatedContent.id == id)
        #expect(Identified.generationSchema.enforcedSchema["properties"]?.objectValue?.keys == ["text"])
        #expect(try OwnID.PartiallyGenerated(GeneratedContent(json: #"{"id": 3, "#)).id == 3)
        // Not given one, a value has one of its own.
        let plain = try GeneratedContent(json: #"{"text": "a"}"#)
        #expect(try Identified(plain).id != Identified(plain).id)
    }

    @Test("Members written by hand are kept")
    func handWritten() throws {
        let value = try HandWritten(GeneratedContent(json: #"{"a": "x"}"#))
        #expect(value == HandWritten(a: "x", b: 42))
        #expect(HandWritten("y").generatedContent.jsonString == #"{"a": "y!"}"#)
        #expect(HandWritten.generationSchema.enforcedSchema["description"] == "by hand")
        #expect(value.asPartiallyGenerated().note == "hand-written")
    }

    @Test("Each case of an enumeration, and what is none")
    func enumerations() throws {
        #expect(StringEnum.one.generatedContent.jsonString == #""number one""#)
        #expect(IntEnum.assistant.generatedContent.jsonString == #""assistant""#)
        #expect(Shape.pair(1, 2).generatedContent.jsonString == #"{"type": "pair", "value1": 1, "value2": 2}"#)
        #expect(TypeLabel.a(type: "b").generatedContent.jsonString == #"{"case": "a", "type": "b"}"#)
        for json in [#""west""#, "3", "null", #"{"type": "north"}"#] {
            #expect(throws: GeneratedContent.ParsingError.self, "\(json)") {
                try PlainEnum(GeneratedContent(json: json))
            }
        }
        for json in [#"{"type": "square"}"#, #"{"type": "circle"}"#, #""circle""#, #"{"type": 3}"#, "{}"] {
            #expect(throws: GeneratedContent.ParsingError.self, "\(json)") { try Shape(GeneratedContent(json: json)) }
        }
    }
}
