import Foundation
import Inference
import JSON
import TestSupport
import Testing
import Tokenizers

@Suite("PrefixStore")
struct PrefixStoreTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try TinyModel.write(to: folder.file())
    }

    private func engine(
        _ file: String = "model.gguf", prefixes: String? = "prefixes", limit: Int = 1 << 30, trace: Trace? = nil,
        cachedTokens: Int? = nil, contextSize: Int? = nil
    ) throws -> Engine {
        try Engine.load(
            folder.file(file),
            options: EngineOptions(
                threadCount: 2, contextSize: contextSize, cachedTokenLimit: cachedTokens,
                prefixFolder: prefixes.map { folder.file($0) }, prefixFolderLimit: limit, prefillBatch: 32),
            trace: trace)
    }

    private func text(_ seed: Int, _ count: Int) -> [TokenID] {
        (0..<count).map { TokenID(($0 * 7 + seed * 13) % 250) }
    }

    private func snapshots(_ name: String = "prefixes") throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder.file(name), includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }
    }

    private func answer(_ engine: Engine, _ prompt: [TokenID], _ count: Int = 6) async throws -> Outcome {
        try await collect(engine.generate(GenerationRequest(prompt: prompt, maximumTokens: count)))
    }

    // MARK: In memory

    @Test("sessions that share a beginning compute it once, also when they come at the same time")
    func sharedBeginning() async throws {
        let engine = try engine(prefixes: nil)
        let shared = text(1, 150)
        let prompts = (0..<4).map { shared + text(20 + $0, 30) }
        let outcomes = try await withThrowingTaskGroup(of: (Int, Outcome).self) { group in
            for (index, prompt) in prompts.enumerated() {
                group.addTask { (index, try await answer(engine, prompt)) }
            }
            return try await group.reduce(into: [Int: Outcome]()) { $0[$1.0] = $1.1 }
        }
        #expect(outcomes.values.count { $0.prompt[1] == 0 } == 1)
        #expect(outcomes.values.count { $0.prompt[1] == shared.count } == 3)
        for (index, prompt) in prompts.enumerated() {
            let alone = try await answer(self.engine(prefixes: nil), prompt)
            #expect(outcomes[index]?.text == alone.text)
        }
    }

    @Test("what is least recently used goes first when there is no more room")
    func eviction() async throws {
        // Room for two sequences of 256 slots.
        let engine = try engine(prefixes: nil, cachedTokens: 512)
        let prompts = (0..<3).map { text($0, 100) }
        for prompt in prompts[..<2] { _ = try await answer(engine, prompt) }
        #expect(try await answer(engine, prompts[0]).prompt[1] == 99)
        _ = try await answer(engine, prompts[2])
        // The second one had to go for the third.
        #expect(try await answer(engine, prompts[0]).prompt[1] == 99)
        #expect(try await answer(engine, prompts[1]).prompt[1] == 0)
    }

    @Test("prewarming computes a prompt and generates nothing")
    func prewarm() async throws {
        let engine = try engine(prefixes: nil)
        let prefix = text(3, 120)
        try await engine.prewarm(prefix)
        let outcome = try await answer(engine, prefix + text(4, 10))
        #expect(outcome.prompt == [130, 120])
        #expect(outcome.text == (try await answer(self.engine(prefixes: nil), prefix + text(4, 10))).text)
        // Once more is no work, and a beginning of what is known neither.
        try await engine.prewarm(prefix)
        try await engine.prewarm(Array(prefix.prefix(50)))
    }

    // MARK: On the disk

    @Test("another engine begins with what one has prewarmed, and answers the same")
    func snapshot() async throws {
        let prefix = text(5, 203)
        try await engine().prewarm(prefix)
        let file = try #require(try snapshots().first)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        let cold = try engine(prefixes: nil)
        // All of it, less of it than there is, and only its beginning.
        for prompt in [prefix + text(6, 20), Array(prefix.prefix(150)), Array(prefix.prefix(99)) + text(7, 40)] {
            let outcome = try await answer(engine(), prompt)
            let expected = try await answer(cold, prompt)
            let common = min(zip(prefix, prompt).prefix { $0 == $1 }.count, prompt.count - 1)
            #expect(outcome.prompt == [prompt.count, common])
            #expect(outcome.text == expected.text)
        }
        // A longer prefix takes the place of the shorter one.
        try await engine().prewarm(prefix + text(8, 60))
        #expect(try snapshots().count == 1)
        #expect(try await answer(engine(), prefix + text(8, 60) + [1]).prompt[1] == 263)
    }

    @Test("what is short is not written")
    func shortPrefix() async throws {
        try await engine().prewarm(text(1, 20))
        #expect((try? snapshots()) ?? [] == [])
    }

    @Test(
        "files that are damaged, cut off, foreign or of another model are passed over with a note",
        arguments: ["payload", "header", "tokens", "cut", "longer", "empty", "magic", "version", "link", "folder"])
    func damage(kind: String) async throws {
        let prefix = text(9, 100)
        try await engine().prewarm(prefix)
        let file = try #require(try snapshots().first)
        var bytes = Array(try Data(contentsOf: file))
        switch kind {
        case "payload": bytes[bytes.count - 100] ^= 1
        case "header": bytes[60] ^= 1
        case "tokens": bytes[13] = 0xff
        case "cut": bytes.removeLast(bytes.count / 2)
        case "longer": bytes += [0]
        case "empty": bytes = []
        case "magic": bytes[0] ^= 1
        case "version": bytes[8] = 99
        default: break
        }
        try FileManager.default.removeItem(at: file)
        switch kind {
        case "link": try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/dev/zero")
        case "folder": try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        default: try Data(bytes).write(to: file)
        }
        let traceFile = folder.file("trace.json")
        let trace = try #require(Trace(file: traceFile))
        let outcome = try await answer(engine(trace: trace), prefix + [1, 2, 3])
        #expect(outcome.prompt == [103, 0])
        #expect(outcome.text == (try await answer(engine(prefixes: nil), prefix + [1, 2, 3])).text)
        trace.flush()
        let notes = try TraceSummary(file: traceFile).notes
        #expect(notes.contains { $0.text.contains("is not used") && $0.text.contains(file.lastPathComponent) })
        // Prewarming puts it right again, but for what is no file.
        if kind != "folder" {
            try await engine().prewarm(prefix)
            #expect(try await answer(engine(), prefix + [1, 2, 3]).prompt == [103, 100])
        }
    }

    @Test("a file that vanishes or changes after it was found does no harm")
    func changeAfterwards() async throws {
        let prefix = text(9, 100)
        try await engine().prewarm(prefix)
        let other = try engine()
        // The folder is read now.
        _ = try await answer(other, text(100, 70))
        let file = try #require(try snapshots().first)
        try FileManager.default.removeItem(at: file)
        #expect(try await answer(other, prefix + [1]).prompt == [101, 0])
    }

    @Test("a model that differs in one tensor, or in its settings, has other snapshots")
    func otherModel() async throws {
        let prefix = text(2, 100)
        try await engine().prewarm(prefix)
        try TinyModel.write(to: folder.file("other.gguf")) { writer in
            let index = writer.tensors.firstIndex { $0.name == "blk.1.attn_k.weight" }!
            writer.tensors[index].data[3] ^= 0x80
        }
        let stamp = try FileManager.default.attributesOfItem(atPath: folder.file().path)[.modificationDate] as! Date
        try FileManager.default.setAttributes([.modificationDate: stamp], ofItemAtPath: folder.file("other.gguf").path)
        #expect(try await answer(engine("other.gguf"), prefix + [1]).prompt == [101, 0])
        #expect(try await answer(engine(), prefix + [1]).prompt == [101, 100])
    }

    @Test("the folder stays within its limit, and the least recently used go first")
    func folderLimit() async throws {
        try await engine().prewarm(text(0, 200))
        let size = try #require(try snapshots().first?.resourceValues(forKeys: [.fileSizeKey]).fileSize)
        let limit = 3 * size + 100
        for seed in 1..<3 { try await engine(limit: limit).prewarm(text(seed, 200)) }
        #expect(try snapshots().count == 3)
        // Used, so that the next one goes.
        _ = try await answer(engine(limit: limit), text(0, 200) + [1])
        try await engine(limit: limit).prewarm(text(3, 200))
        #expect(try snapshots().count == 3)
        #expect(try await answer(engine(), text(0, 200) + [1]).prompt[1] == 200)
        #expect(try await answer(engine(), text(1, 200) + [1]).prompt[1] == 0)
        #expect(try await answer(engine(), text(3, 200) + [1]).prompt[1] == 200)
        // One that is larger than the whole folder may be is not written.
        try await engine(prefixes: "small", limit: size / 2).prewarm(text(4, 200))
        #expect((try? snapshots("small")) ?? [] == [])
    }

    @Test(
        "the folder is the one that the environment names",
        arguments: [
            (["FM_PREFIXES_DIR": "/a/b", "XDG_CACHE_HOME": "/c"], "/a/b"),
            (["FM_PREFIXES_DIR": "0", "HOME": "/h"], nil),
            (["XDG_CACHE_HOME": "/c", "HOME": "/h"], "/c/foundationmodels/prefixes"),
            (["XDG_CACHE_HOME": "c", "HOME": "/h"], "/h/.cache/foundationmodels/prefixes"),
            (["HOME": "/h", "FM_PREFIXES_DIR": ""], "/h/.cache/foundationmodels/prefixes"), ([:], nil),
        ] as [([String: String], String?)])
    func standardFolder(environment: [String: String], path: String?) {
        #expect(EngineOptions.standardPrefixFolder(environment: environment)?.path == path)
    }

    @Test("a folder that cannot be written is no error")
    func unwritable() async throws {
        try Data("a file".utf8).write(to: folder.file("blocked"))
        let engine = try engine(prefixes: "blocked")
        try await engine.prewarm(text(1, 100))
        #expect(try await answer(engine, text(1, 100) + [1]).prompt[1] == 100)
    }
}
