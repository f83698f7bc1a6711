import Foundation
import Testing

import Inference
import TestSupport

@Suite struct ModelStoreTests {
    let folder = ScratchFolder()

    private func install(_ name: String, size: Int = 100) { folder.write(modelBytes(size), "models/\(name).gguf") }

    @Test func namesAndPathsAreResolved() throws {
        let entry = ModelCatalogue.Entry.sample("known-model", .url("http://127.0.0.1/x.gguf"), [1])
        let store = ModelStore.scratch(folder, [entry])
        install("installed")
        folder.write(modelBytes(10), "elsewhere/file.gguf")
        folder.write(Array("text".utf8), "elsewhere/text.gguf")
        #expect(try store.resolve("installed").path == "\(folder.path)/models/installed.gguf")
        let file = try store.resolve("\(folder.path)/elsewhere/file.gguf")
        #expect(file.name == "file" && file.size == 10)
        func error(_ name: String) -> ModelStoreError? {
            do throws(ModelStoreError) {
                _ = try store.resolve(name)
                return nil
            } catch { return error }
        }
        #expect(error("known-model") == .notInstalled("known-model"))
        #expect(error("know-model") == .unknownModel("know-model", nearest: "known-model"))
        #expect(error("instaled") == .unknownModel("instaled", nearest: "installed"))
        #expect(error("zzzzzz") == .unknownModel("zzzzzz", nearest: nil))
        #expect(error("\(folder.path)/elsewhere/text.gguf") == .notAModel("\(folder.path)/elsewhere/text.gguf"))
        #expect(
            error("\(folder.path)/none.gguf")
                == .noSuchFile("\(folder.path)/none.gguf"))
        #expect(
            error("\(folder.path)/elsewhere/")
                == .unreadableFile(path: "\(folder.path)/elsewhere/", reason: "it is no file"))
        #expect(error("..") == .unknownModel("..", nearest: nil))
    }

    @Test func aLocalFileIsCopiedIn() async throws {
        let body = modelBytes(3_000_000)
        folder.write(body, "elsewhere/my model.gguf")
        folder.write(body, "elsewhere/mine.gguf")
        let store = ModelStore.scratch(folder)
        let result = try await store.pullQuickly("\(folder.path)/elsewhere/mine.gguf")
        #expect(result.isNew && result.sha256 == digest(body))
        #expect(folder.read("models/mine.gguf") == body)
        #expect(store.recordedDigest("mine") == digest(body))
        let named = try await store.pullQuickly("\(folder.path)/elsewhere/my model.gguf", name: "other")
        #expect(named.model.name == "other")
        #expect(try await store.pullQuickly("\(folder.path)/elsewhere/my model.gguf").model.name == "my-model")
    }

    @Test(arguments: ["../escape", "a/b", "", ".hidden", "-flag", "a b", "tab\t", String(repeating: "x", count: 300)])
    func aNameIsAFileName(name: String) async {
        folder.write(modelBytes(10), "elsewhere/file.gguf")
        let path = "\(folder.path)/elsewhere/file.gguf"
        await #expect(throws: ModelStoreError.self) {
            try await ModelStore.scratch(folder).pullQuickly(path, name: name)
        }
        #expect(folder.files() == ["elsewhere"])
    }

    @Test func aNameOfTheCatalogueIsForItsOwnFile() async throws {
        let body = modelBytes(1000)
        let store = ModelStore.scratch(folder, [.sample("known", .url("http://127.0.0.1/x.gguf"), body)])
        // Another length; the same length and other bytes.
        for other in [modelBytes(500), modelBytes(1000, seed: 2)] {
            folder.write(other, "known.gguf")
            await #expect(throws: ModelStoreError.self) { try await store.pullQuickly("\(folder.path)/known.gguf") }
        }
        #expect(store.installed().isEmpty)
        folder.write(body, "known.gguf")
        let result = try await store.pullQuickly("\(folder.path)/known.gguf")
        #expect(result.isNew && result.model.name == "known" && result.sha256 == digest(body))
        #expect(folder.read("models/known.gguf") == body)
        #expect(try await !store.pullQuickly("known").isNew)
    }

    @Test(arguments: [0, 4, 60, 128, 990]) func aDamagedLocalFileIsNotCopiedIn(count: Int) async {
        folder.write(Array(modelBytes(1000)[..<count]), "elsewhere/mine.gguf")
        do throws(ModelStoreError) {
            _ = try await ModelStore.scratch(folder).pullQuickly("\(folder.path)/elsewhere/mine.gguf")
            Issue.record("installed")
        } catch {
            guard case .unusableFile = error else { Issue.record("\(error)"); return }
            #expect(!error.description.contains("address"))
        }
        #expect(folder.files("models") == [".incomplete"])
        #expect(folder.files("models/.incomplete") == [])
    }

    @Test func removingTakesEverythingOfAModel() throws {
        let store = ModelStore.scratch(folder, [.sample("known", .url("http://127.0.0.1/x.gguf"), [1])])
        install("one", size: 1000)
        install("two")
        folder.write([1, 2, 3], "models/.incomplete/one.partial")
        folder.write([1], "models/.incomplete/one.partial.json")
        folder.write([1], "models/one.json")
        #expect(try store.remove("one") == 1003)
        #expect(folder.files("models") == [".incomplete", "two.gguf"])
        #expect(folder.files("models/.incomplete") == [])
        #expect(throws: ModelStoreError.unknownModel("one", nearest: nil)) { try store.remove("one") }
        #expect(throws: ModelStoreError.unknownModel("tow", nearest: "two")) { try store.remove("tow") }
        #expect(throws: ModelStoreError.notInstalled("known")) { try store.remove("known") }
        #expect(throws: ModelStoreError.self) { try store.remove("../models/two") }
    }

    @Test func aFolderThatCannotBeMadeIsNamed() async {
        folder.write([1], "models")
        folder.write(modelBytes(10), "x.gguf")
        do throws(ModelStoreError) {
            _ = try await ModelStore.scratch(folder).pullQuickly("\(folder.path)/x.gguf")
            Issue.record("no error")
        } catch {
            guard case .cannotWrite = error else { Issue.record("\(error)"); return }
        }
    }
}

@Suite struct ModelSourceTests {
    @Test(arguments: [
        ("https://example.org/a/b.gguf", ModelSource.url("https://example.org/a/b.gguf"), "b"),
        ("http://127.0.0.1:8000/M.GGUF?x=1", .url("http://127.0.0.1:8000/M.GGUF?x=1"), "M"),
        ("hf:o/r/f.gguf", .hub(repository: "o/r", file: "f.gguf", revision: "main"), "f"),
        ("hf:o/r/d/f.gguf@abc", .hub(repository: "o/r", file: "d/f.gguf", revision: "abc"), "f"),
        ("./x.gguf", .file("./x.gguf"), "x"), ("/x/y", .file("/x/y"), "y"),
        ("file:///x/y.gguf", .file("/x/y.gguf"), "y"),
        ("x.gguf", .file("x.gguf"), "x"),
    ]) func referencesAreRead(text: String, source: ModelSource, name: String) throws {
        let read = try ModelSource(reference: text)
        #expect(read == source)
        #expect(read?.suggestedName == name)
    }

    @Test(arguments: [
        "hf:o/r", "hf:", "hf:o//f.gguf", "hf:o/r/../f.gguf", "hf:o/r/f@", "ftp://x/y.gguf", "https://",
        "javascript://x",
    ])
    func whatIsNoReferenceIsRefused(text: String) {
        #expect(throws: ModelStoreError.self) { try ModelSource(reference: text) }
    }

    @Test func aPlainNameIsNone() throws { #expect(try ModelSource(reference: "qwen2.5-coder-1.5b") == nil) }
}

@Suite struct ModelCatalogueTests {
    @Test func everyEntryCanBeFetchedAndVerified() throws {
        let entries = ModelCatalogue.standard.entries
        #expect(Set(entries.map(\.name)).count == entries.count)
        for entry in entries {
            #expect(ModelStore.isValidName(entry.name))
            #expect(SHA256.isDigest(entry.sha256))
            #expect(entry.size > 0 && !entry.license.isEmpty && !entry.summary.isEmpty)
            #expect(try ModelSource(reference: entry.name) == nil)
        }
    }

    @Test(arguments: [
        (Int64(64) << 30, "qwen2.5-coder-1.5b"), (4 << 30, "qwen2.5-coder-1.5b"), (2 << 30, "qwen2.5-coder-0.5b"),
        (1 << 30, nil),
    ]) func theDefaultFitsTheMemory(memory: Int64, name: String?) {
        #expect(ModelCatalogue.standard.defaultEntry(memory: memory)?.name == name)
    }
}

@Suite struct DefaultModelTests {
    let folder = ScratchFolder()
    let memory: Int64 = 16 << 30

    private func entries() -> [ModelCatalogue.Entry] {
        [
            .sample("best", .url("http://127.0.0.1/1"), [1], size: 800),
            .sample("second", .url("http://127.0.0.1/2"), [1], size: 600),
            .sample("tests", .url("http://127.0.0.1/3"), [1], size: 1000, purpose: .test),
        ]
    }

    private func install(_ names: String...) {
        for name in names {
            let size = entries().first { $0.name == name }?.size ?? Int64(name.utf8.count * 100)
            folder.write(modelBytes(Int(size)), "models/\(name).gguf")
        }
    }

    private func choice(_ model: String? = nil) throws -> String {
        switch try ModelStore.scratch(folder, entries(), model: model).defaultModel(memory: memory) {
        case .ready(let model): "ready \(model.name)"
        case .notDownloaded(let name): "not downloaded \(name)"
        case .switchedOff: "switched off"
        case .tooLittleMemory: "too little memory"
        }
    }

    @Test func theBestInstalledOneIsTaken() throws {
        #expect(try choice() == "not downloaded best")
        install("tests")
        #expect(try choice() == "not downloaded best")
        install("mine", "mine-large")
        #expect(try choice() == "ready mine-large")
        install("second")
        #expect(try choice() == "ready second")
        install("best")
        #expect(try choice() == "ready best")
    }

    @Test func filesThatCannotBeReadAreNoDefault() throws {
        install("mine", "mine-large")
        #expect(try choice() == "ready mine-large")
        let store = ModelStore.scratch(folder, entries())
        folder.write(Array(modelBytes(5000)[..<3000]), "models/mine-large.gguf")
        #expect(try choice() == "ready mine")
        folder.write(Array("GGUF".utf8), "models/mine.gguf")
        #expect(try choice() == "not downloaded best")
        // What the catalogue knows has a certain length.
        folder.write(modelBytes(999), "models/best.gguf")
        #expect(try choice() == "not downloaded best")
        #expect(store.installed().compactMap { store.damage(of: $0) }.count == 3)
        install("other")
        #expect(try choice() == "ready other")
    }

    @Test func theUsersChoiceComesFirst() throws {
        install("best", "tests")
        folder.write(modelBytes(10), "file.gguf")
        #expect(try choice("tests") == "ready tests")
        #expect(try choice("second") == "not downloaded second")
        #expect(try choice("\(folder.path)/file.gguf") == "ready file")
        let error = ModelStoreError.wrongDefault(source: "the settings", .unknownModel("secnd", nearest: "second"))
        #expect(throws: error) { try choice("secnd") }
    }

    @Test func aMachineWithoutMemoryHasNone() throws {
        let store = ModelStore.scratch(folder, entries())
        guard case .tooLittleMemory(let needed, 1000) = try store.defaultModel(memory: 1000) else {
            Issue.record("a model")
            return
        }
        // What it says is needed is enough.
        #expect(try store.defaultModel(memory: needed) == .notDownloaded(name: "second"))
    }
}

@Suite struct ModelSettingsTests {
    let folder = ScratchFolder()

    private func settings(_ environment: [String: String], _ configuration: String? = nil) throws -> ModelSettings {
        if let configuration { folder.write(Array(configuration.utf8), "config/foundationmodels/config.json") }
        var environment = environment
        environment["HOME"] = "/home/someone"
        environment["XDG_CONFIG_HOME"] = "\(folder.path)/config"
        return try ModelSettings(environment: environment)
    }

    @Test func theFolderFollowsXDG() throws {
        #expect(try settings([:]).directory == "/home/someone/.local/share/foundationmodels/models")
        #expect(try settings(["XDG_DATA_HOME": "/data"]).directory == "/data/foundationmodels/models")
        // The specification says that a relative path is to be ignored.
        #expect(
            try settings(["XDG_DATA_HOME": "data"]).directory == "/home/someone/.local/share/foundationmodels/models")
        #expect(try settings(["XDG_DATA_HOME": "/data", "FM_MODELS_DIR": "/models"]).directory == "/models")
        #expect(try settings(["FM_MODELS_DIR": ""], #"{"models_dir": "/configured"}"#).directory == "/configured")
        #expect(try settings(["FM_MODELS_DIR": "/models"]).directory == "/models")
    }

    @Test func theModelAndTheSwitchAreRead() throws {
        #expect(try settings([:]).model == nil)
        let read = try settings([:], #"{"model": "one", "enabled": false}"#)
        #expect(read.model == "one" && !read.isEnabled)
        #expect(try settings(["FM_MODEL": "two"]).model == "two")
        let store = ModelStore(settings: read, catalogue: .standard, environment: [:])
        #expect(try store.defaultModel() == .switchedOff)
    }

    @Test func theTypeOfTheCacheIsRead() throws {
        #expect(try settings([:]).cacheType == .f16)
        #expect(try settings([:], #"{"cache_type": "q8_0"}"#).cacheType == .q8_0)
        #expect(try settings(["FM_CACHE_TYPE": "f16"], #"{"cache_type": "q8_0"}"#).cacheType == .f16)
        #expect(try settings(["FM_CACHE_TYPE": ""], #"{"cache_type": "q8_0"}"#).cacheType == .q8_0)
        // Only who asks for it learns that it is wrong.
        let wrong = try settings(["FM_CACHE_TYPE": "q4_0"])
        let error = #expect(throws: ModelStoreError.self) { try wrong.cacheType }
        let file = try settings([:], #"{"cache_type": "q4_0"}"#)
        #expect(throws: ModelStoreError.self) { try file.cacheType }
        #expect(error?.description == "FM_CACHE_TYPE is wrong: it must be f16 or q8_0, not 'q4_0'")
    }

    @Test(arguments: [
        "", "{", "[]", #"{"cache_type": 4}"#, #"{"model": 3}"#, #"{"model": ""}"#, #"{"enabled": "no"}"#,
        #"{"modell": "x"}"#,
    ])
    func aConfigurationThatCannotBeReadIsAnError(text: String) {
        do {
            _ = try settings([:], text)
            Issue.record("accepted")
        } catch {
            guard case .invalidConfiguration(let path, _)? = error as? ModelStoreError else {
                Issue.record("\(error)")
                return
            }
            #expect(path == "\(folder.path)/config/foundationmodels/config.json")
        }
    }

    @Test func theDefaultIsWrittenBesideWhatIsThere() throws {
        let environment = ["HOME": folder.path]
        try ModelSettings.setDefaultModel("one", environment: environment)
        #expect(try ModelSettings(environment: environment).model == "one")
        folder.write(Array(#"{"enabled": true, "model": "one"}"#.utf8), ".config/foundationmodels/config.json")
        try ModelSettings.setDefaultModel("two", environment: environment)
        let text = String(decoding: try #require(folder.read(".config/foundationmodels/config.json")), as: UTF8.self)
        #expect(text == "{\n  \"enabled\": true,\n  \"model\": \"two\"\n}\n")
        try ModelSettings.setDefaultModel(nil, environment: environment)
        #expect(try ModelSettings(environment: environment).model == nil)
        #expect(folder.files(".config/foundationmodels") == ["config.json"])
    }
}

@Suite struct ByteTextTests {
    @Test(arguments: [
        (Int64(0), "0 B"), (999, "999 B"), (1000, "1.00 kB"), (98_362_432, "98.4 MB"), (491_400_064, "491 MB"),
        (1_117_320_768, "1.12 GB"), (999_499, "999 kB"), (999_500, "1.00 MB"), (9_995_000, "10.0 MB"),
        (99_950_000, "100 MB"), (1_005_000, "1.00 MB"), (Int64.max, "9223372 TB"),
    ]) func sizes(bytes: Int64, text: String) { #expect(ByteText.size(bytes) == text) }

    @Test(arguments: [
        (0.0, "0 s"), (59.4, "59 s"), (59.6, "1:00"), (187, "3:07"), (3787, "1:03:07"), (-1, "0 s"),
        (.infinity, "more than 99 hours"), (.nan, "more than 99 hours"), (1e9, "more than 99 hours"),
    ]) func durations(seconds: Double, text: String) { #expect(ByteText.duration(seconds) == text) }
}

@Suite struct EditDistanceTests {
    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("ab", "ba", 1), ("--modle", "--model", 1),
        ("abc", "abc", 0),
    ]) func distances(left: String, right: String, distance: Int) {
        #expect(EditDistance.between(left, right) == distance)
        #expect(EditDistance.between(right, left) == distance)
    }

    @Test func theNearestIsCloseOrNone() {
        let names = ["respond", "chat", "models", "pull"]
        #expect(EditDistance.nearest(to: "respnd", among: names) == "respond")
        #expect(EditDistance.nearest(to: "resp", among: names) == "respond")
        #expect(EditDistance.nearest(to: "cat", among: names) == "chat")
        #expect(EditDistance.nearest(to: "xyzxyz", among: names) == nil)
        #expect(EditDistance.nearest(to: "", among: names) == nil)
    }
}

@Suite struct SHA256Tests {
    // The examples of FIPS 180-4.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ]) func knownDigests(text: String, expected: String) { #expect(digest(Array(text.utf8)) == expected) }

    @Test func piecesAndIntermediateDigests() {
        let hash = SHA256()
        Array("a".utf8).withUnsafeBytes { hash.update($0) }
        #expect(hash.digest() == digest(Array("a".utf8)))
        Array("bc".utf8).withUnsafeBytes { hash.update($0) }
        #expect(hash.digest() == digest(Array("abc".utf8)))
    }
}
