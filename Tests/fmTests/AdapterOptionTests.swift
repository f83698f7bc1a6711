import Foundation
import FoundationModels
import FoundationModelsTesting
import Inference
import TestSupport
import Testing
import fm

/// `--adapter`, with models of random weights that the test writes.
@Suite struct AdapterOptionTests {
    let fixture = CommandFixture()

    private var base: String { "\(fixture.folder.path)/base.gguf" }

    /// Writes the base, an adapter for it and the model into which that is merged, and returns the adapter's path.
    private func write() throws -> String {
        let folder = fixture.folder.path
        try TinyModel.write(to: URL(fileURLWithPath: base)) { writer in
            let adapter = AdapterFixture(
                writer, architecture: "qwen2", alpha: 8, matrices: AdapterFixture.matrices(writer, layers: 2),
                seed: "command line")
            fixture.folder.write(Array(adapter.gguf.data()), "poems.gguf")
            fixture.folder.write(Array(adapter.merged(into: writer).data()), "merged.gguf")
        }
        return "\(folder)/poems.gguf"
    }

    private func run(_ words: [String]) async -> CommandFixture.Outcome {
        await fixture.run(words, makeModel: Context.models([:]))
    }

    private func answer(_ model: String, _ words: [String] = []) async -> CommandFixture.Outcome {
        await run(["respond", "-m", model, "--greedy", "--max-tokens", "12", "the tin"] + words)
    }

    @Test func anAdapterChangesTheAnswers() async throws {
        let adapter = try write()
        let plain = await answer(base)
        let adapted = await answer(base, ["--adapter", adapter])
        let merged = await answer("\(fixture.folder.path)/merged.gguf")
        #expect(plain.code == .success && adapted.code == .success, "\(plain.messages) \(adapted.messages)")
        #expect(adapted.output == merged.output)
        #expect(adapted.output != plain.output)
    }

    @Test func adaptersThatCannotBeUsedAreNamed() async throws {
        let adapter = try write()
        let missing = await answer(base, ["--adapter", "\(adapter).old"])
        #expect(missing.code == .usage && missing.messages.contains("poems.gguf.old"), "\(missing.messages)")

        fixture.folder.write(Array("GGUF, or not".utf8), "damaged.gguf")
        let damaged = await answer(base, ["--adapter", "\(fixture.folder.path)/damaged.gguf"])
        #expect(damaged.code == .unavailable && damaged.messages.contains("damaged.gguf"), "\(damaged.messages)")

        // A model is no adapter.
        let model = await answer(base, ["--adapter", base])
        #expect(model.code == .unavailable && model.messages.contains("general.type"), "\(model.messages)")

        try TinyModel.write(to: URL(fileURLWithPath: "\(fixture.folder.path)/wide.gguf"), width: 64)
        let wide = await answer("\(fixture.folder.path)/wide.gguf", ["--adapter", adapter])
        #expect(wide.code == .unavailable && wide.messages.contains("has the shape"), "\(wide.messages)")
        #expect(wide.output == "")
    }

    @Test func aDirectoryNamesItsBase() async throws {
        _ = try write()
        let weights = try #require(fixture.folder.read("poems.gguf"))
        let signature = String(repeating: "ab", count: 20)
        let metadata = """
            {"adapterIdentifier": "fmadapter-poems-1", "baseModelSignature": "\(signature)", "loraRank": 11}
            """
        fixture.folder.write(weights, "poems.fmadapter/adapter_weights.gguf")
        fixture.folder.write(Array(metadata.utf8), "poems.fmadapter/metadata.json")
        let path = "\(fixture.folder.path)/poems.fmadapter"
        let other = await answer(base, ["--adapter", path])
        #expect(other.code == .unavailable, "\(other.messages)")
        #expect(other.messages.contains("was made for the base model \(signature)"), "\(other.messages)")

        // Weights in a folder by themselves have to fit, and that is all that is known of them.
        fixture.folder.write(weights, "poems/adapter_weights.gguf")
        #expect(await answer(base, ["--adapter", "\(fixture.folder.path)/poems"]).code == .success)
    }

    @Test func adaptersAreForModelsOfThisMachine() async throws {
        let adapter = try write()
        let outcome = await fixture.run(["respond", "-m", base, "--adapter", adapter, "hello"], [[.text("x")]])
        #expect(outcome.code == .usage && outcome.messages.contains("--adapter is for models of this machine"))
    }

    @Test func aConversationGoesOnOnlyWithModelsThatItFits() async throws {
        let adapter = try write()
        let folder = fixture.folder.path
        try TinyModel.write(to: URL(fileURLWithPath: "\(folder)/wide.gguf"), width: 64)
        let (context, finish) = fixture.context(Context.models([:]))
        let model = ChosenModel.file(try ModelStore(environment: fixture.environment).resolve(base))
        let (_, words) = try #require(try CommandTable.parse(["chat", "--adapter", adapter]))
        let options = try ModelOptions(words)
        var chat = Chat(
            context: try await options.apply(to: context, model), modelOptions: options,
            options: GenerationOptions(samplingMode: .greedy, maximumResponseTokens: 12), showsStatistics: false,
            model: model, instructions: nil)
        try await chat.run(TypedLines("/model \(folder)/wide.gguf", "/model", "the tin"))
        let (output, messages) = finish()
        let lines = messages.split(separator: "\n")
        #expect(lines[0].contains("has the shape"), "\(messages)")
        // It goes on with the first one, changed as before.
        #expect(lines[1] == "base (\(base))")
        #expect(output.dropLast() == (await answer("\(folder)/merged.gguf")).output.dropLast())
    }

    @Test func serveChecksItBeforeTheWeightsAreRead() async throws {
        let adapter = try write()
        try TinyModel.write(to: URL(fileURLWithPath: "\(fixture.folder.path)/wide.gguf"), width: 64)
        let words = ["serve", "--port", "0", "--adapter", adapter, "-m", "\(fixture.folder.path)/wide.gguf"]
        let outcome = await run(words)
        #expect(outcome.code == .unavailable && outcome.messages.contains("has the shape"), "\(outcome.messages)")
    }
}
