import FoundationModels
import JSON
import TestSupport
import Testing
import fm

@Suite struct SchemaCommandTests {
    private func run(_ words: String...) async -> CommandFixture.Outcome {
        await CommandFixture().run(["schema", "object"] + words)
    }

    @Test func everyKindOfProperty() async throws {
        let outcome = await run(
            "--name", "Person", "--description", "A person", "--string", "name", "--description", "full", "--integer",
            "age", "--minimum", "0", "--maximum", "150", "--optional", "--number", "height", "--minimum", "0.5",
            "--boolean", "member", "--string", "tags", "--array", "--min-items", "1", "--max-items", "3", "--string",
            "colour", "--choice", "red", "--choice", "blue", "--object", "home", "--optional", "--string", "city",
            "--object", "inner", "--integer", "n", "--end", "--end", "--boolean", "last")
        #expect(outcome.code == .success)
        let schema = try JSONValue(parsing: outcome.output)
        #expect(schema["title"] == "Person" && schema["description"] == "A person")
        #expect(schema["x-order"] == ["name", "age", "height", "member", "tags", "colour", "home", "last"])
        #expect(schema["required"] == ["name", "height", "member", "tags", "colour", "last"])
        let properties = try #require(schema["properties"])
        let name: JSONValue = ["type": "string", "description": "full"]
        #expect(properties["name"] == name)
        let age: JSONValue = ["type": "integer", "minimum": 0, "maximum": 150]
        #expect(properties["age"] == age)
        let tags: JSONValue = ["type": "array", "items": ["type": "string"], "minItems": 1, "maxItems": 3]
        #expect(properties["tags"] == tags)
        let definitions = try #require(schema["$defs"])
        #expect(definitions["Person.colour"]?["enum"] == ["red", "blue"])
        #expect(definitions["Person.home"]?["x-order"] == ["city", "inner"])
        #expect(definitions["Person.home.inner"]?["required"] == ["n"])
    }

    @Test func whatItWritesCanBeReadBack() async throws {
        let fixture = CommandFixture()
        let outcome = await run("--name", "T", "--string", "z", "--integer", "a", "--optional")
        fixture.folder.write(Array(outcome.output.utf8), "schema.json")
        let schema = try SchemaFile.read("\(fixture.folder.path)/schema.json")
        #expect(schema.publishedSchema.text(indent: 2) + "\n" == outcome.output)
        // What only the decoder needs, such as the bounds of Int, is not written.
        let unbounded: JSONValue = ["type": "integer"]
        #expect(try JSONValue(parsing: outcome.output)["properties"]?["a"] == unbounded)
    }

    @Test func wholeBoundsKeepTheirDigits() async throws {
        let outcome = await CommandFixture().run([
            "schema", "object", "--name", "T", "--integer", "a", "--minimum", "9007199254740993", "--maximum", "1e18",
        ])
        let property = try JSONValue(parsing: outcome.output)["properties"]?["a"]
        #expect(
            property == ["type": "integer", "minimum": 9_007_199_254_740_993, "maximum": 1_000_000_000_000_000_000])
    }

    @Test(arguments: [
        (["--string", "a"], "'schema object' needs --name NAME"),
        (["--name", "T", "--object", "o", "--string", "a"], "--object o has no --end"),
        (["--name", "T", "--end"], "--end without an --object before it"),
        (["--name", "T", "--optional"], "--optional has no property before it"),
        (
            ["--name", "T", "--string", "a", "--minimum", "1"],
            "--minimum goes with --integer or --number, not with --string a"
        ),
        (["--name", "T", "--integer", "a", "--choice", "1"], "--choice goes with --string, not with --integer a"),
        (["--name", "T", "--integer", "a", "--minimum", "1.5"], "--minimum takes a whole number, not '1.5'"),
        (
            ["--name", "T", "--integer", "a", "--minimum", "9007199254740993", "--maximum", "9007199254740992"],
            "the least value of 'a' is above the greatest"
        ),
        (["--name", "T", "--number", "a", "--maximum", "x"], "--maximum takes a number, not 'x'"),
        (
            ["--name", "T", "--string", "a", "--min-items", "1"],
            "--min-items goes with a list (--array before it), not with --string a"
        ),
        (
            ["--name", "T", "--integer", "a", "--minimum", "5", "--maximum", "1"],
            "the least value of 'a' is above the greatest"
        ),
        (["--name", "T", "--string", ""], "--string needs the name of the property"),
    ]) func mistakesAreNamed(words: [String], message: String) async {
        let outcome = await CommandFixture().run(["schema", "object"] + words)
        #expect(outcome.messages == message)
        #expect(outcome.code == .usage)
    }

    @Test func objectsAreNestedToALimit() async throws {
        func nested(_ depth: Int) async -> CommandFixture.Outcome {
            let opening = (0..<depth).flatMap { _ in ["--object", "o"] }
            return await CommandFixture().run(
                ["schema", "object", "--name", "T"] + opening + Array(repeating: "--end", count: depth))
        }
        let deepest = await nested(64)
        #expect(deepest.code == .success, "\(deepest.messages)")
        let definitions = try #require(try JSONValue(parsing: deepest.output)["$defs"]?.objectValue)
        #expect(definitions.count == 64)
        for depth in [65, 20_000] {
            let outcome = await nested(depth)
            #expect(outcome.code == .usage)
            #expect(outcome.messages == "--object o is inside 64 objects; more cannot be nested")
        }
    }

    @Test func twoPropertiesOfOneNameAreRefused() async {
        let outcome = await run("--name", "T", "--string", "a", "--integer", "a")
        #expect(outcome.code == .schema && outcome.messages.contains("a"))
        let wrong = await CommandFixture().run(["schema", "array", "--name", "T"])
        #expect(wrong.code == .usage && wrong.messages == "'schema' makes an 'object', not 'array'")
    }

    @Test func aFileIsEnforcedAsItStands() throws {
        let text =
            #"{"type": "object", "properties": {"z": {}, "properties": {"type": "object", "properties": {"b": {}, "a": {"pattern": "[0-9]"}}}, "a": {"type": "integer"}}, "required": ["a"]}"#
        let schema = try SchemaFile.schema(try JSONValue(parsing: text), source: "file")
        // Neither the order of Apple's dialect is put into it, nor what that dialect means by a pattern.
        #expect(schema.enforcedSchema.text() == (try JSONValue(parsing: text)).text())
    }
}
