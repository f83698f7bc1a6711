import Foundation
import FoundationModels
import JSON
import Testing

/// Schemas as Apple's framework writes them.
private func fixture(_ name: String) throws -> Data {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    return try Data(contentsOf: folder.appendingPathComponent("Fixtures/\(name).json"))
}

@Generable
struct Age {
    var years: Int
    var months: Int
}

@Generable(description: "A description of a cute cat")
struct Cat {
    var name: String
    @Guide(description: "The age of the cat, at most 20 years")
    var age: Age
    @Guide(description: "One sentence about this cat's personality")
    var profile: String
}

@Generable
struct Hedgehog {
    @Guide(description: "A cute old-timey name")
    var name: String
    @Guide(description: "The hedgehog's age, at most 8 years.")
    var age: Age
    @Guide(description: "The hedgehog's favorite food", .anyOf(["carrot", "turnip", "leek"]))
    var favoriteFood: String
    @Guide(.constant("a hedge"))
    var home: String
    @Guide(description: "The hedgehog's hobbies", .count(3))
    var hobbies: [String]
}

private enum PersonSpace {
    @Generable
    struct Person {
        @Guide(description: "The person's age", .range(18...100))
        var age: Int?
        @Guide(description: "The person's children", .maximumCount(3))
        var children: [Person]
        @Guide(description: "The person's name")
        var name: String
    }
}

private enum ClubSpace {
    @Generable(description: "Basic profile information about a cat")
    struct Cat {
        var name: String
        @Guide(description: "The age of the cat, at most 20 years")
        var age: Age
        @Guide(description: "One sentence about this cat's personality")
        var profile: String
    }

    @Generable
    struct Person {
        @Guide(description: "The person's age", .range(18...100))
        var age: Int?
        @Guide(description: "The person's children", .maximumCount(10))
        var children: [Person]
        @Guide(description: "The person's name")
        var name: String
    }

    @Generable
    struct PetClub {
        var members: [Person]
        var cats: [Cat]
        var hedgehogs: [Hedgehog]
        var otherPets: [String]
        @Guide(description: "Should be the name of one of the members")
        var presidentName: String
    }

    @Generable
    struct Shelter {
        var cats: [Cat]
    }

    @Generable
    struct ShelterNewsletter {
        var title: String
        var topic: String
        @Guide(description: "A local company that's sponsoring this newsletter, if applicable")
        var sponsor: String?
        var issueNumber: Int?
        @Guide(description: "Search keywords for this newsletter")
        var tags: [String]?
        var featuredCats: [Cat]?
        var featuredHedgehog: Hedgehog?
        var featuredStaff: [Person]?
    }
}

@Suite("Schemas that Apple's framework wrote")
struct FixtureTests {
    private static let names = ["age", "cat", "hedgehog", "newsletter", "person", "petClub", "shelter"]

    @Test("Decoding and encoding changes nothing", arguments: names)
    func identity(_ name: String) throws {
        let data = try fixture(name)
        let schema = try JSONDecoder().decode(GenerationSchema.self, from: data)
        let before = try JSONValue(parsing: Array(data))
        let after = try JSONValue(parsing: Array(JSONEncoder().encode(schema)))
        #expect(after == before)
        #expect(schema.publishedSchema == before)
        #expect(schema.name == before["title"]?.stringValue)
        #expect(schema.faults == [])
        // The order in which properties are generated is the declared one.
        #expect(
            schema.enforcedSchema["properties"]?.objectValue?.keys.map(JSONValue.string)
                == before["x-order"]?.arrayValue)
    }

    private static let types: [(String, any Generable.Type)] = [
        ("age", Age.self), ("cat", Cat.self), ("hedgehog", Hedgehog.self), ("person", PersonSpace.Person.self),
        ("petClub", ClubSpace.PetClub.self), ("shelter", ClubSpace.Shelter.self),
        ("newsletter", ClubSpace.ShelterNewsletter.self),
    ]

    @Test("Swift types of the same shape have the same schemas", arguments: types.indices)
    func fromTypes(_ index: Int) throws {
        let (name, type) = Self.types[index]
        let expected = try JSONValue(parsing: Array(fixture(name)))
        #expect(type.generationSchema.publishedSchema == expected)
        #expect(try JSONValue(parsing: Array(JSONEncoder().encode(type.generationSchema))) == expected)
    }
}
