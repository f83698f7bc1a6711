import Foundation
import Inference
import TestSupport
import Testing
import fm

/// The program itself, from outside: exit statuses, signals, limits of the system, several processes.
@Suite struct ProgramTests {
    let folder = ScratchFolder()

    /// `fm` as it was built together with these tests.
    static let program: String = {
        let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("fm").path
    }()

    /// Whoever runs the tests under nohup ignores SIGHUP, and what is ignored stays so.
    private static let anySignal = "exec env --default-signal=HUP \"$0\" \"$@\""

    struct Ended {
        var output: String
        var messages: String
        var status: Int32
    }

    private func start(_ script: String, _ arguments: [String]) throws -> (Process, () -> Ended) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", script, Self.program] + arguments
        var environment = ProcessInfo.processInfo.environment
        environment["HOME"] = folder.path
        environment["FM_MODELS_DIR"] = "\(folder.path)/models"
        environment["FM_MODEL"] = nil
        environment["XDG_CONFIG_HOME"] = nil
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        let name = UUID().uuidString
        for suffix in ["out", "err"] { folder.write([], "\(name).\(suffix)") }
        process.standardOutput = FileHandle(forWritingAtPath: "\(folder.path)/\(name).out")
        process.standardError = FileHandle(forWritingAtPath: "\(folder.path)/\(name).err")
        try process.run()
        return (
            process,
            {
                process.waitUntilExit()
                func text(_ suffix: String) -> String {
                    String(decoding: folder.read("\(name).\(suffix)") ?? [], as: UTF8.self)
                }
                // A signal ends the shell too; it says so as shells do.
                let status = process.terminationStatus + (process.terminationReason == .uncaughtSignal ? 128 : 0)
                return Ended(output: text("out"), messages: text("err"), status: status)
            }
        )
    }

    /// Runs `fm` with arguments, after shell commands that set the stage.
    private func run(_ arguments: String..., before: String = "") throws -> Ended {
        try start("\(before)\nexec \"$0\" \"$@\"", arguments).1()
    }

    @Test func exitStatuses() throws {
        #expect(try run("version").status == 0)
        #expect(try run("--help").status == 0)
        #expect(try run().status == 2)
        #expect(try run("nonsense").status == 2)
        #expect(try run("pull").status == 2)
        #expect(try run("pull", "nonsense").status == 2)
        #expect(try run("rm", "smollm2-135m").status == 5)
        #expect(try run("available").status == 5)
        #expect(try run("respond", "--no-pull", "x").status == 5)
        #expect(try run("respond", "--schema", "/etc/hostname", "x").status == 8)
    }

    @Test func aStateThatIsNoneIsRefused() throws {
        let ended = try run("respond", "x", before: "export FM_SIMULATE=nonsense")
        #expect(ended.status == 2 && ended.output == "")
        #expect(ended.messages.hasPrefix("fm: FM_SIMULATE must be one of device-not-eligible, switched-off, "))
        #expect(ended.messages.contains("not 'nonsense'"))
        #expect(try run("--help", before: "export FM_SIMULATE=nonsense").status == 0)
    }

    @Test func whatIsNotTextIsNamed() throws {
        let argument = try run("token-count", "a", before: #"set -- token-count $'b\xff'"#)
        #expect(argument.status == 2)
        #expect(argument.messages.hasPrefix("fm: argument 2 is not UTF-8 text"))
        folder.write([0x61, 0xff], "bad.txt")
        let file = try run("respond", "--file", "\(folder.path)/bad.txt")
        #expect(file.status == 2)
        #expect(file.messages.contains("bad.txt is not UTF-8 text"))
        let input = try run("respond", "-", before: #"exec < <(printf 'a\xc3')"#)
        #expect(input.status == 2)
        #expect(input.messages.contains("standard input is not UTF-8 text"))
    }

    @Test func aFullDiskUnderTheOutputIsNamed() throws {
        let ended = try run("version", before: "exec > /dev/full")
        #expect(ended.status == 7)
        #expect(ended.messages == "fm: cannot write standard output: No space left on device.\n")
    }

    @Test func aClosedOutputIsNamed() throws {
        let ended = try run("version", before: "exec >&-")
        #expect(ended.status == 7)
        #expect(ended.messages == "fm: cannot write standard output: it is closed.\n")
        // What writes no result needs none.
        #expect(try run("pull", "nonsense", before: "exec >&-").status == 2)
    }

    @Test func whatIsNoModelIsAFailedFetch() throws {
        let server = FaultServer { FaultServer.whole(Array("<html>\u{1b}[31m</html>".utf8), $0) }
        defer { server.stop() }
        let ended = try run("pull", "--quiet", server.url("/a.gguf"))
        #expect(ended.status == 6)
        #expect(ended.messages.contains("not a GGUF file"))
        folder.write([], "empty.gguf")
        let empty = try run("pull", "--quiet", "\(folder.path)/empty.gguf")
        #expect(empty.status == 6)
        #expect(empty.messages.contains("it is empty") && !empty.messages.contains("address"))
    }

    @Test func damagedFilesAreListedAndPassedOver() throws {
        // The version of the file's format is not one: the text of the error comes from the file's header.
        folder.write(Array("GGUF".utf8), "models/broken.gguf")
        folder.write(modelBytes(1000), "models/whole.gguf")
        let models = try run("models").output
        #expect(models.contains("  broken") && models.contains("damaged") && models.contains("* whole"))
        let available = try run("available")
        #expect(available.status == 0 && available.output == "available: whole\n")
        #expect(available.messages.contains("'broken' is passed over"))
        let named = try run("available", before: "export FM_MODEL=broken")
        #expect(named.status == 5 && named.output.contains("cannot be read as a model"))
    }

    @Test func aModelForEmbeddingsIsNoDefault() throws {
        folder.write(modelBytes(1000), "models/a.gguf")
        try TinyEncoder.write(to: URL(fileURLWithPath: "\(folder.path)/models/vectors.gguf"))
        let named = try run("available", before: "export FM_MODEL=vectors")
        #expect(named.status == 5)
        #expect(named.output == "not available: 'vectors' makes embeddings and writes no text.\n")
        #expect(try run("available").output == "available: a\n")
    }

    @Test func controlCharactersOfErrorsAreSpelledOut() throws {
        let name = "no\u{1b}[31m\u{9b}" + String(repeating: "x", count: 100_000)
        let ended = try run("models", "--path", name)
        #expect(ended.status == 2)
        #expect(!ended.messages.contains("\u{1b}") && !ended.messages.contains("\u{9b}"))
        #expect(ended.messages.contains("no\\u{1b}[31m\\u{9b}"))
        #expect(ended.messages.unicodeScalars.count < 2_200)
    }

    @Test func aStoreThatCannotBeIsNamed() throws {
        let ended = try run("pull", "http://127.0.0.1:9/a.gguf", before: "export FM_MODELS_DIR=/proc/self/models")
        #expect(ended.status == 7)
        #expect(
            ended.messages.hasPrefix("fm: cannot write '/proc/self/models': No such file or directory. FM_MODELS_DIR"))
    }

    @Test func resultsAndMessagesAreApart() throws {
        let version = try run("version")
        #expect(version.output.hasPrefix("fm ") && version.messages == "")
        let wrong = try run("pull", "--nmae", "x")
        #expect(wrong.output == "")
        #expect(wrong.messages.hasPrefix("fm: 'pull' has no option --nmae, did you mean --name?"))
        #expect(!wrong.messages.contains("\u{1b}"))
    }

    @Test func modelsAreFetchedListedAndRemoved() throws {
        let body = modelBytes(100_000)
        let server = FaultServer { FaultServer.whole(body, $0) }
        defer { server.stop() }
        let pulled = try run("pull", server.url("/tiny.gguf"))
        #expect(pulled.status == 0 && pulled.output == "", "\(pulled.messages)")
        #expect(pulled.messages.contains("tiny: 100 kB at \(folder.path)/models/tiny.gguf\nsha256 "))
        #expect(try run("models", "--path", "tiny").output == "\(folder.path)/models/tiny.gguf\n")
        #expect(try run("models", "--quiet").output == "tiny\n")
        #expect(try run("models").output.contains("* tiny "))
        #expect(try run("models", "--use", "tiny").status == 0)
        #expect(try run("available").output == "available: tiny\n")
        #expect(try run("rm", "tiny").status == 0)
        #expect(folder.files("models") == [".incomplete"])
        #expect(try run("pull", server.url("/")).status == 2)
    }

    @Test func aFileThatMayNotGrowIsAnErrorAndNotADeath() throws {
        let body = modelBytes(2_000_000)
        let server = FaultServer { FaultServer.whole(body, $0) }
        defer { server.stop() }
        let ended = try run("pull", server.url("/large.gguf"), before: "ulimit -f 500")
        #expect(ended.status == 7, "\(ended.messages)")
        #expect(ended.messages.contains("ulimit"))
        #expect(folder.files("models") == [".incomplete"])
        // Without the limit it goes on from where it was.
        #expect(try run("pull", server.url("/large.gguf")).status == 0)
        #expect(server.requests.last?.rangeStart ?? 0 > 0)
        #expect(folder.read("models/large.gguf") == body)
    }

    @Test func twoProcessesFetchOnce() throws {
        let body = modelBytes(400_000)
        let server = FaultServer { request in
            let steps = FaultServer.whole(body, request)
            return [steps[0], .send(Array(body[..<1000])), .pause(1), .send(Array(body[1000...]))]
        }
        defer { server.stop() }
        let runs = try (0..<3).map { _ in try start("exec \"$0\" \"$@\"", ["pull", server.url("/tiny.gguf")]).1 }
        let ended = runs.map { $0() }
        #expect(ended.map(\.status) == [0, 0, 0])
        #expect(server.requests.count == 1)
        #expect(folder.read("models/tiny.gguf") == body)
        #expect(ended.filter { $0.messages.contains("here already") }.count == 2)
    }

    @Test func aKilledProcessLeavesNoLock() throws {
        let body = modelBytes(400_000)
        let server = FaultServer { request in
            let steps = FaultServer.whole(body, request)
            guard request.number == 0 else { return steps }
            return [steps[0], .send(Array(body[..<100_000])), .pause(30)]
        }
        defer { server.stop() }
        let (process, wait) = try start("exec \"$0\" \"$@\"", ["pull", server.url("/tiny.gguf")])
        try waitFor { (folder.read("models/.incomplete/tiny.partial")?.count ?? 0) >= 100_000 }
        kill(process.processIdentifier, SIGKILL)
        #expect(wait().status == 128 + SIGKILL)
        #expect(folder.files("models").filter { $0.hasSuffix(".gguf") } == [])
        #expect(try run("pull", server.url("/tiny.gguf")).status == 0)
        #expect(server.requests.map(\.rangeStart) == [nil, 100_000])
        #expect(folder.read("models/tiny.gguf") == body)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func aSignalStopsAFetchAndKeepsWhatCame(number: Int32) throws {
        let body = modelBytes(400_000)
        let server = FaultServer { request in
            [FaultServer.whole(body, request)[0], .send(Array(body[..<100_000])), .pause(30)]
        }
        defer { server.stop() }
        let (process, wait) = try start(Self.anySignal, ["pull", server.url("/tiny.gguf")])
        try waitFor { (folder.read("models/.incomplete/tiny.partial")?.count ?? 0) >= 100_000 }
        kill(process.processIdentifier, number)
        let ended = wait()
        #expect(ended.status == 128 + number)
        // After the end of the terminal nobody is told.
        #expect(ended.messages.contains("the same command goes on from there") == (number != SIGHUP))
        #expect(folder.files("models/.incomplete") == ["tiny.lock", "tiny.partial", "tiny.partial.json"])
    }

    private func model() throws -> String {
        try ModelStore().resolve(ProcessInfo.processInfo.environment["FM_MODEL"] ?? "smollm2-135m").path
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func aSignalEndsAnAnswer(number: Int32) throws {
        let (process, wait) = try start(
            Self.anySignal, ["respond", "--model", try model(), "Count from 1 to 1000: 1, 2, 3,"])
        try waitFor { folder.files().contains { $0.hasSuffix(".out") && folder.read($0)?.isEmpty == false } }
        kill(process.processIdentifier, number)
        #expect(wait().status == 128 + number)
    }

    @Test func aSignalEndsAMeasurementAtOnce() throws {
        let (process, wait) = try start(
            "exec \"$0\" \"$@\"", ["bench", "--model", try model(), "--prompt", "8000", "--generate", "0"])
        try waitFor {
            folder.files().contains {
                $0.hasSuffix(".err") && String(decoding: folder.read($0) ?? [], as: UTF8.self).contains("1 of 3")
            }
        }
        let start = ContinuousClock.now
        kill(process.processIdentifier, SIGINT)
        #expect(wait().status == 130)
        #expect(ContinuousClock.now - start < .seconds(1))
    }

    @Test func aReaderThatGoesAwayEndsTheProgram() throws {
        let ended = try start("\"$0\" help respond | true; exit \"${PIPESTATUS[0]}\"", []).1()
        #expect([0, 141].contains(ended.status))
        #expect(ended.messages == "")
    }

    private func waitFor(_ condition: () -> Bool) throws {
        for _ in 0..<200 {
            if condition() { return }
            usleep(50_000)
        }
        throw TimedOut()
    }

    private struct TimedOut: Error {}
}
