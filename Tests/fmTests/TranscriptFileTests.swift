import Foundation
import FoundationModels
import FoundationModelsTesting
import Inference
import JSON
import TestSupport
import Testing
import fm

@Suite struct TranscriptFileTests {
    let fixture = CommandFixture()
    var path: String { "\(fixture.folder.path)/talk.json" }

    init() { fixture.installModel() }

    private func respond(_ turns: [[ScriptedStep]] = [[.text("fine")]], _ path: String? = nil) async
        -> CommandFixture.Outcome
    {
        await fixture.run(["respond", "--transcript", path ?? self.path, "hello"], turns)
    }

    private func text() -> String { String(decoding: fixture.folder.read("talk.json") ?? [], as: UTF8.self) }

    /// Runs code when a line is asked for, then types it.
    private final class WatchedLines: InputLines {
        private var lines: [(text: String, before: () -> Void)]
        init(_ lines: [(text: String, before: () -> Void)]) { self.lines = lines }
        func read(prompt: String) -> InputLine {
            guard !lines.isEmpty else { return .end }
            let next = lines.removeFirst()
            next.before()
            return .text(next.text)
        }
    }

    @Test func everyTurnOfAChatIsWritten() async throws {
        let (context, finish) = fixture.context(ScriptedLanguageModel(turns: [[.text("one")], [.text("two")]]))
        let sample = try ModelStore(environment: fixture.environment).resolve("sample")
        let kept = try TranscriptFile(path)
        var chat = Chat(
            context: context, options: GenerationOptions(), showsStatistics: false, model: .file(sample),
            instructions: nil, kept: kept)
        var seen: [String] = []
        try await chat.run(
            WatchedLines([
                ("first", {}), ("second", { seen.append(text()) }), ("/save \(path)", { seen.append(text()) }),
            ]))
        let said = finish()
        #expect(seen.count == 2)
        #expect(seen[0].contains("one") && !seen[0].contains("two") && seen[1].contains("two"))
        // The conversation may be saved where it is kept.
        #expect(said.1 == "saved to \(path)\n")
    }

    @Test func oneConversationHasOneWriter() async throws {
        var first: TranscriptFile? = try TranscriptFile(path)
        try first?.write(Transcript())
        // The file that has taken the place of the first is locked too.
        for _ in 0..<2 {
            let second = await respond([])
            #expect(second.code == .storage, "\(second)")
            #expect(second.messages == "cannot write '\(path)': another fm keeps its conversation in it")
            try first?.write(Transcript())
        }
        first = nil
        #expect(await respond().code == .success)
        #expect(fixture.folder.files().filter { $0.hasPrefix("talk") } == ["talk.json"])
    }

    @Test func modeAndLinksStay() async throws {
        fixture.folder.write([], "folder/real.json")
        let real = "\(fixture.folder.path)/folder/real.json"
        chmod(real, 0o640)
        symlink("folder/real.json", path)
        // Twice: an empty file is a new conversation, and the second goes on with it.
        for _ in 0..<2 { #expect(await respond().code == .success) }
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(stat(real, &status) == 0 && status.st_mode & 0o7777 == 0o640)
        #expect(text().components(separatedBy: "fine").count == 3)
        #expect(fixture.folder.files("folder") == ["real.json"])
    }

    @Test func aLinkThatLeadsNowhereGetsItsFile() async {
        symlink("later.json", path)
        #expect(await respond().code == .success)
        #expect(fixture.folder.files().contains("later.json") && text().contains("fine"))
    }

    @Test func whatIsNoFileIsRefusedAtOnce() async {
        mkfifo(path, 0o600)
        let pipe = await respond([])
        #expect(pipe.code == .storage && pipe.messages == "cannot write '\(path)': it is no regular file")
        let device = await respond([], "/dev/null")
        #expect(device.code == .storage && device.messages == "cannot write '/dev/null': it is no regular file")
    }

    @Test func nothingIsLeftOfWhatFailed() async {
        #expect(
            await respond([[.fail(LanguageModelError.refusal(.init(explanation: "", debugDescription: "")))]]).code
                != .success)
        #expect(!fixture.folder.files().contains("talk.json"))
    }

    @Test func whatIsUnknownIsKept() async throws {
        #expect(await respond().code == .success)
        var document = try #require(try JSONValue(parsing: text()).objectValue)
        var content = try #require(document["transcript"]?.objectValue)
        var entries = try #require(content["entries"]?.arrayValue).compactMap(\.objectValue)
        entries[0]["mood"] = "good"
        var segments = try #require(entries[0]["contents"]?.arrayValue).compactMap(\.objectValue)
        segments[0]["language"] = "en"
        entries[0]["contents"] = .array(segments.map(JSONValue.object))
        content["entries"] = .array(entries.map(JSONValue.object))
        document["transcript"] = .object(content)
        document["author"] = ["name": "me"]
        fixture.folder.write(Array(JSONValue.object(document).text().utf8), "talk.json")
        #expect(await respond([[.text("again")]]).code == .success)
        let kept = try JSONValue(parsing: text())
        #expect(kept["author"] == ["name": "me"])
        let written = try #require(kept["transcript"]?["entries"]?.arrayValue)
        #expect(written.count == 4 && Array(written[..<2]) == entries.map(JSONValue.object))
    }

    @Test(arguments: [
        ("[]", "it must be an object"), ("{}", "type is missing"), ("nonsense", "invalid JSON at byte 1"),
        (#"{"type": 3}"#, "type must be a text"), (#"{"type": "x"}"#, "type is wrong: The type is \"x\""),
        (
            #"{"type": "FoundationModels.Transcript", "version": 1, "transcript": {"entries": {}}}"#,
            "transcript.entries must be a list"
        ),
        (entry(#"{"id": "a"}"#), "transcript.entries[0].role is missing"),
        (
            entry(#"{"id": "a", "role": "poet"}"#),
            "transcript.entries[0].role is wrong: 'poet' is none of instructions, user, response, tool, reasoning"
        ),
        (entry(#"{"id": "a", "role": null}"#), "transcript.entries[0].role must be a text"),
        (
            entry(#"{"id": "a", "role": "user", "options": {"maximumResponseTokens": 1.5}}"#),
            "it has a number that does not fit its place"
        ),
        (
            entry(#"{"id": "a", "role": "reasoning", "signature": "?"}"#),
            "transcript.entries[0].signature must be Base64"
        ),
    ])
    func damageIsNamedInWordsOfOurOwn(_ text: String, _ reason: String) async {
        fixture.folder.write(Array(text.utf8), "talk.json")
        let outcome = await respond([])
        #expect(outcome.code == .usage, "\(outcome)")
        #expect(outcome.messages.hasPrefix("'\(path)' is no saved conversation: "))
        #expect(outcome.messages.contains(reason), "\(outcome.messages)")
        #expect(self.text() == text)
    }

    private static func entry(_ text: String) -> String {
        #"{"type": "FoundationModels.Transcript", "version": 1, "transcript": {"entries": [\#(text)]}}"#
    }
}
