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

    /// Runs a program as a call of the tool does; returns its answer or its failure, and the seconds that it took. On this
    /// thread, since other tests may keep a task from being resumed for seconds.
    private func call(
        _ script: String, limit: Duration = .seconds(30), arguments: String = #"{"a": 5}"#
    ) throws -> (result: Result<String, any Error>, seconds: Double) {
        var program = try ExecutableTool(try tool(script))
        program.timeLimit = limit
        let start = ContinuousClock.now
        let result = Result { try program.run(Array(arguments.utf8), isCancelled: { false }) }
        return (result, (ContinuousClock.now - start) / .seconds(1))
    }

    private func message(_ result: Result<String, any Error>) -> String? {
        guard case .failure(let error) = result else { return nil }
        return (error as? ExecutableTool.CallFailure)?.errorDescription ?? "\(error)"
    }

    /// Whether the process whose number the program wrote beside itself is running, after a moment to die in.
    private func isRunning(_ file: String) async throws -> Bool {
        let text = String(decoding: fixture.folder.read(file) ?? [], as: UTF8.self)
        let process = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)), "\(file): \(text)")
        for _ in 0..<50 {
            // A process that nobody has reaped yet has ended all the same.
            let status = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ") Z"
            if status.split(separator: ")").last?.hasPrefix(" Z") == true { return false }
            try await Task.sleep(for: .milliseconds(10))
        }
        return true
    }

    @Test(arguments: [
        "sleep 40", "exec sleep 40", "trap '' TERM; sleep 40; sleep 40", "exec >&-; sleep 40", "yes >/dev/null",
    ])
    func aProgramThatDoesNotEndIsEndedAtTheLimit(script: String) async throws {
        let outcome = try call("echo $$ > \"$0.pid\"; \(script)", limit: .milliseconds(1500))
        #expect(message(outcome.result) == "it did not end within 1.5 seconds")
        #expect(outcome.seconds >= 1.5 && outcome.seconds < 20)
        #expect(try await !isRunning("add.pid"))
    }

    @Test func aProgramThatWritesWithoutEndIsEndedAtTheBound() async throws {
        let outcome = try call("echo $$ > \"$0.pid\"; yes")
        #expect(message(outcome.result) == "it wrote more than \(ExecutableTool.outputLimit) bytes")
        #expect(outcome.seconds < 20)
        #expect(try await !isRunning("add.pid"))
    }

    @Test func aProgramInTheBackgroundIsNeitherWaitedForNorEnded() async throws {
        let outcome = try call("echo sunny; sleep 40 & echo $! > \"$0.pid\"")
        #expect(try outcome.result.get() == "sunny")
        #expect(outcome.seconds < 20)
        #expect(try await isRunning("add.pid"))
        let text = String(decoding: fixture.folder.read("add.pid") ?? [], as: UTF8.self)
        kill(try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines))), SIGKILL)
    }

    @Test func aCancelledCallEndsTheProgramAndWhatItStarted() async throws {
        let script = "sleep 40 & echo $! > \"$0.child\"; echo $$ > \"$0.part\"; mv \"$0.part\" \"$0.pid\"; wait"
        let program = try ExecutableTool(try tool(script))
        let task = Task { try await program.call(arguments: try GeneratedContent(json: "{}")) }
        for _ in 0..<500 where fixture.folder.read("add.pid") == nil { try await Task.sleep(for: .milliseconds(10)) }
        let start = ContinuousClock.now
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(ContinuousClock.now - start < .seconds(30))
        #expect(try await !isRunning("add.pid"))
        #expect(try await !isRunning("add.child"))
    }

    @Test func whatAProgramInherits() throws {
        // A descriptor that is not closed on exec.
        let leak = open("/dev/null", O_RDONLY)
        defer { close(leak) }
        // `ls` itself opens one more, for the folder.
        let descriptors = try call("exec ls /proc/self/fd").result.get()
        #expect(descriptors.split(separator: "\n") == ["0", "1", "2", "3"])
        let signals = try call("exec grep -E '^Sig(Blk|Ign)' /proc/self/status").result.get()
        let masks = signals.split(separator: "\n").compactMap { UInt64($0.suffix(16), radix: 16) }
        // Signals 32 and 33 are the C library's own.
        #expect(masks.count == 2 && masks.allSatisfy { $0 & ~0x1_8000_0000 == 0 }, "\(signals)")
    }

    @Test func moreArgumentsThanAPipeHoldsAreReadOrNot() throws {
        let long = #"{"a": ""# + String(repeating: "x", count: 300_000) + #""}"#
        let count = try call("wc -c", arguments: long).result.get()
        #expect(try #require(Int(count.trimmingCharacters(in: .whitespaces))) >= 300_000)
        #expect(try call("exec <&-; echo deaf; sleep 0.1", arguments: long).result.get() == "deaf")
        #expect(try call("echo deaf", arguments: long).result.get() == "deaf")
    }

    @Test func outputUpToTheBoundArrivesWhole() throws {
        let text = try call("head -c \(ExecutableTool.outputLimit) /dev/zero | tr '\\0' x").result.get()
        #expect(text.utf8.count == ExecutableTool.outputLimit)
    }

    @Test func whatIsNoToolIsRefused() async throws {
        #expect(await fixture.run(["respond", "--tool", "/nowhere/x", "add"]).code == .usage)
        let bare = await fixture.run(["respond", "--tool", try tool("true", description: nil), "add"])
        #expect(bare.code == .usage && bare.messages.contains("add.json"))
        for description in [
            "[]", "{}", #"{"description": "x", "extra": 1}"#, "{", #"{"description": 5}"#, #"{"description": " "}"#,
            #"{"description": "x", "name": 5}"#, #"{"description": "x", "name": "a b"}"#,
            #"{"description": "x", "parameters": []}"#, #"{"description": "x", "parameters": {"type": "integer"}}"#,
            #"{"description": "x", "parameters": {"type": "object", "properties": {"a": {"type": "text"}}}}"#,
            #"{"description": "x", "description": "y"}"#,
        ] {
            let outcome = await fixture.run(
                ["respond", "--tool", try tool("true", description: description), "add"])
            #expect(outcome.code == .schema, "\(description): \(outcome.messages)")
            #expect(outcome.messages.contains("add.json"))
        }
        let path = try tool("true")
        let twice = await fixture.run(["respond", "--tool", path, "--tool", path, "add"])
        #expect(twice.code == .usage && twice.messages.contains("two tools are named 'add'"))
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
