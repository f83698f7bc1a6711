import Foundation
import FoundationModels
import FoundationModelsTesting
import JSON
import TestSupport
import Testing
import fm

@Suite struct ExecutableToolTests {
    let fixture = CommandFixture()

    init() { fixture.installModel() }

    /// Writes a program and what describes it; returns the program's path.
    private func tool(
        _ script: String,
        description: String? =
            #"{"description": "Adds.", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}"#
    ) throws -> String {
        fixture.folder.write(Array("#!/bin/sh\n\(script)\n".utf8), "add")
        let path = "\(fixture.folder.path)/add"
        chmod(path, 0o755)
        if let description { fixture.folder.write(Array(description.utf8), "add.json") }
        return path
    }

    private let turns: [[ScriptedStep]] = [[.toolCall("add", arguments: #"{"a": 5}"#)], [.text("done")]]

    @Test func theProgramIsCalledWithTheArguments() async throws {
        let path = try tool(#"read -r line; echo "$line" > "$0.called"; echo "sum 7""#)
        let outcome = await fixture.run(
            ["respond", "--tool", path, "--transcript", "\(fixture.folder.path)/t.json", "add"], turns)
        #expect(outcome.output == "done\n", "\(outcome.messages)")
        let called = String(decoding: fixture.folder.read("add.called") ?? [], as: UTF8.self)
        #expect(try JSONValue(parsing: called) == ["a": 5])
        let transcript = String(decoding: fixture.folder.read("t.json") ?? [], as: UTF8.self)
        #expect(transcript.contains("sum 7"))
    }

    @Test(arguments: [("exit 3", "status 3"), ("kill -9 $$", "signal 9"), (#"printf '\377'"#, "UTF-8")])
    func aFailureOfTheProgramIsAToolFailure(script: String, text: String) async throws {
        let outcome = await fixture.run(["respond", "--tool", try tool(script), "add"], turns)
        #expect(outcome.code == .tool)
        #expect(outcome.messages.contains("add") && outcome.messages.contains(text), "\(outcome.messages)")
    }

    @Test func whatIsNoToolIsRefused() async throws {
        #expect(await fixture.run(["respond", "--tool", "/nowhere/x", "add"]).code == .usage)
        let bare = await fixture.run(["respond", "--tool", try tool("true", description: nil), "add"])
        #expect(bare.code == .usage && bare.messages.contains("add.json"))
        for description in ["[]", "{}", #"{"description": "x", "extra": 1}"#, "{"] {
            let outcome = await fixture.run(
                ["respond", "--tool", try tool("true", description: description), "add"])
            #expect(outcome.code == .schema, "\(description): \(outcome.messages)")
        }
    }

    @Test func aConversationGoesOnInItsFile() async throws {
        let path = "\(fixture.folder.path)/talk.json"
        #expect(
            await fixture.run(["respond", "--transcript", path, "-i", "be kind", "one"], [[.text("first")]]).output
                == "first\n")
        let model = ScriptedLanguageModel(turns: [[.text("second")]])
        let (context, finish) = fixture.context(model)
        let (command, arguments) = try #require(try CommandTable.parse(["respond", "--transcript", path, "two"]))
        try await command.run(arguments, context)
        _ = finish()
        let texts = try #require(model.requests.first).transcript.map { "\($0)" }.joined(separator: "\n")
        for text in ["be kind", "one", "first", "two"] { #expect(texts.contains(text)) }
        #expect(await fixture.run(["respond", "--transcript", path, "-i", "anew", "x"]).code == .usage)
        fixture.folder.write(Array("{".utf8), "talk.json")
        #expect(await fixture.run(["respond", "--transcript", path, "x"]).code == .usage)
    }

    @Test func imagesAndLevels() async throws {
        let image = await fixture.run(["respond", "--image", "/nowhere.png", "what?"])
        #expect(image.code == .usage && image.messages.contains("cannot read '/nowhere.png'"))
        let blind = ScriptedLanguageModel(
            capabilities: LanguageModelCapabilities([]), turns: [[.text("no")]])
        let (context, finish) = fixture.context(blind)
        let (command, arguments) = try #require(
            try CommandTable.parse(["respond", "--image", "/nowhere.png", "what?"]))
        let failure = await #expect(throws: Failure.self) { try await command.run(arguments, context) }
        #expect(failure?.code == .unavailable && failure?.message.contains("text alone") == true)
        _ = finish()
        let level = await fixture.run(["respond", "--reasoning", "much", "what?"])
        #expect(level.code == .usage && level.messages.contains("light, moderate or deep"))
    }
}
