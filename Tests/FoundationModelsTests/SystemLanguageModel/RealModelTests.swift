import Foundation
import FoundationModels
import Inference
import JSON
import Testing

/// The framework with the engine and real weights: the smallest model of the catalogue, unless `FM_MODEL` names another.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RealModelTests {
    private static let name = ProcessInfo.processInfo.environment["FM_MODEL"] ?? "smollm2-135m"

    private let backend = EngineBackend(named: name)
    private var model: SystemLanguageModel { SystemLanguageModel(backend: backend) }
    private var file: URL { URL(fileURLWithPath: backend.identifier) }

    private static let brief = GenerationOptions(samplingMode: .greedy, maximumResponseTokens: 8)

    @Test func W1_weightsAreLoadedOnce() async throws {
        for _ in 0..<2 {
            let session = LanguageModelSession(model: model)
            session.prewarm()
            for _ in 0..<2 { try await session.respond(to: "Hi", options: Self.brief) }
        }
        #expect(LocalModels.loadCount(of: file) == 1)
    }

    @Test(arguments: [nil, "Name a"])
    func prewarmingReadsAllThatPromptsHaveInCommon(prefix: String?) async throws {
        func transcript(_ prompt: String?) -> Transcript {
            let instructions = Transcript.Instructions(
                segments: [.text(Transcript.TextSegment(content: "Answer in few words."))], toolDefinitions: [])
            let prompts = [prompt].compactMap { $0 }.map { text in
                Transcript.Entry.prompt(
                    Transcript.Prompt(segments: [.text(Transcript.TextSegment(content: text))]))
            }
            return Transcript(entries: [.instructions(instructions)] + prompts)
        }
        let beginning = try await backend.beginning(
            of: transcript(prefix).possibleContinuations.map { LocalPrompt(answering: $0) })
        let start = prefix.map { $0 + " " } ?? ""
        let first = try await backend.tokens(of: LocalPrompt(answering: transcript(start + "river of Europe.")))
        let second = try await backend.tokens(of: LocalPrompt(answering: transcript(start + "(sic) lake")))
        let common = zip(first, second).prefix { $0 == $1 }.count
        #expect(first.starts(with: beginning))
        // The space between the words of a prompt belongs to what comes next.
        #expect((common - 1...common).contains(beginning.count))
        #expect(beginning.count > (try await backend.tokenCount(of: "Answer in few words.")))
    }

    @Test func C5_theContextSizeIsKnownBeforeTheModelIsLoaded() throws {
        // Another name of the file has never been loaded.
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let link = folder.appendingPathComponent("model.gguf")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        let fresh = SystemLanguageModel(file: link)
        #expect(fresh.contextSize > 1000)
        #expect(fresh.contextSize == model.contextSize)
        #expect(fresh.supportedLanguages == model.supportedLanguages)
        #expect(LocalModels.loadCount(of: link) == 0)
    }

    @Test func W3_cachedTokensAreTrue() async throws {
        let mark = UUID().uuidString
        let session = LanguageModelSession(model: model, instructions: "You are \(mark). Answer in few words.")
        let first = try await session.respond(to: "Name a river of Europe.", options: Self.brief)
        let second = try await session.respond(to: "Name another one.", options: Self.brief)
        // The first prompt stands at the head of the second one, and was read then.
        #expect(second.usage.input.cachedTokenCount >= first.usage.input.totalTokenCount)
        #expect(second.usage.input.cachedTokenCount < second.usage.input.totalTokenCount)

        // Other instructions share the template's own words at most.
        let other = LanguageModelSession(model: model, instructions: "You are \(UUID()). Answer in few words.")
        let third = try await other.respond(to: "Name a river of Europe.", options: Self.brief)
        #expect(third.usage.input.cachedTokenCount < first.usage.input.totalTokenCount / 2)
        #expect(
            session.usage.input.totalTokenCount
                == first.usage.input.totalTokenCount + second.usage.input.totalTokenCount)
    }

    @Test func W3_aRestoredTranscriptIsNotReadAnew() async throws {
        let session = LanguageModelSession(model: model, instructions: "You are \(UUID()). Answer in few words.")
        try await session.respond(to: "Name a river of Europe.", options: Self.brief)
        let data = try JSONEncoder().encode(session.transcript)
        let restored = LanguageModelSession(
            model: model, transcript: try JSONDecoder().decode(Transcript.self, from: data))
        let next = try await restored.respond(to: "Name another one.", options: Self.brief)
        // All that the first session read, and what it answered but for the end.
        #expect(next.usage.input.cachedTokenCount >= session.usage.input.totalTokenCount)
        #expect(next.usage.input.cachedTokenCount + 2 >= session.usage.totalTokenCount)
    }

    @Test func R4_charactersComeWhole() async throws {
        let word = "区🇯🇵👩‍💻é"
        let schema = try GenerationSchema(root: DynamicGenerationSchema(name: "word", anyOf: [word]), dependencies: [])
        let stream = LanguageModelSession(model: model).streamResponse(to: "Say it.", schema: schema)
        var snapshots = 0
        for try await snapshot in stream {
            snapshots += 1
            #expect(!snapshot.rawContent.jsonString.contains("\u{fffd}"))
        }
        #expect(snapshots > 0)
        #expect(try await stream.collect().content.value(String.self) == word)
        // Free text at random is full of halves when they are not held back.
        let wild = LanguageModelSession(model: model).streamResponse(
            to: "日本 🙂",
            options: GenerationOptions(
                samplingMode: .random(top: 40_000, seed: 3), temperature: 3, maximumResponseTokens: 60))
        var text = ""
        for try await snapshot in wild {
            #expect(snapshot.content.hasPrefix(text))
            text = snapshot.content
        }
    }

    @Test func K2_countsAreWhatTheModelReads() async throws {
        let session = LanguageModelSession(model: model, instructions: "Answer in few words.")
        let response = try await session.respond(to: "Name a river of Europe, 日本 or 🙂.", options: Self.brief)
        let counted = try await model.tokenCount(for: session.transcript.dropLast())
        // What is read beyond the entries is the head of the answer.
        #expect(counted < response.usage.input.totalTokenCount)
        #expect(counted + 8 >= response.usage.input.totalTokenCount)
        #expect(try await model.tokenCount(for: "") == 0)
    }

    @Test func C1_anOverflowCountsWhatTheModelReads() async throws {
        let session = LanguageModelSession(model: model, instructions: "Answer in few words.")
        try await session.respond(to: "Hi", options: Self.brief)
        let before = session.transcript
        let long = String(repeating: "word ", count: model.contextSize + 100)
        do {
            try await session.respond(to: long)
            Issue.record("no error")
        } catch LanguageModelError.contextSizeExceeded(let details) {
            var whole = before
            whole.append(.prompt(Transcript.Prompt(segments: [.text(Transcript.TextSegment(content: long))])))
            let counted = try await model.tokenCount(for: whole)
            #expect(abs(details.tokenCount - counted) * 100 <= counted)
            #expect(details.contextSize == model.contextSize)
            #expect(details.debugDescription.contains("prompt 3"))
        }
        #expect(session.transcript == before)
        // The session goes on.
        try await session.respond(to: "Hi again", options: Self.brief)
    }

    @Test func X1_cancellationStopsTheEngineWhileItReads() async throws {
        let session = LanguageModelSession(model: model)
        let long = (0..<600).map { "Sentence \($0) of \(UUID().uuidString.prefix(4))." }.joined(separator: " ")
        let request = Task { try await session.respond(to: long).content }
        #expect(await eventually { session.isResponding })
        try await Task.sleep(for: .milliseconds(300))
        request.cancel()
        await #expect(throws: CancellationError.self) { try await request.value }
        #expect(!session.isResponding && session.transcript.isEmpty)
        // The engine is free for the next one.
        try await session.respond(to: "Hi", options: Self.brief)
    }

    @Test func argumentsFollowTheSchemaOfTheTool() async throws {
        let calls = Recorder<[Int]>([])
        let session = LanguageModelSession(model: model, tools: [RollDice { calls.append($0) }])
        await #expect(throws: LanguageModelSession.ToolCallError.self) {
            try await session.respond(
                to: "Roll two dice.", options: GenerationOptions(samplingMode: .greedy, toolCallingMode: .required))
        }
        #expect(!calls.value.isEmpty && calls.value.allSatisfy { (1...6).contains($0) })
    }

    @Test func typedValuesAreWhatTheirTypesSay() async throws {
        let value = try await LanguageModelSession(model: model).respond(
            to: "A toy", generating: Toy.self,
            options: GenerationOptions(samplingMode: .greedy, maximumResponseTokens: 400))
        #expect(["red", "blue"].contains(value.content.colour) && value.content.sizes.count == 2)
        // The text is as the framework itself writes it, so that a restored transcript has the same tokens.
        #expect(value.rawContent.jsonString == value.content.generatedContent.jsonString)
    }

    /// An adapter of rank 1 for the model.
    private func adapter(
        signature: String? = nil, rows: Int? = nil, value: Float = 0.5
    ) async throws -> SystemLanguageModel.Adapter {
        let configuration = try ModelConfiguration(GGUFFile(file))
        let own = String(try SHA256.digest(of: file).prefix(40))
        return try SystemLanguageModel.Adapter(
            fileURL: AdapterTests.directory(
                AdapterTests.metadata(signature: signature ?? own),
                files: AdapterTests.weights(
                    rows: rows ?? configuration.width, columns: configuration.feedForwardWidth, value: value)))
    }

    @Test func sessionsWithAndWithoutAdaptersShareOneModelInMemory() async throws {
        func answer(_ model: SystemLanguageModel) async throws -> String {
            try await LanguageModelSession(model: model).respond(to: "Name a river of Europe.", options: Self.brief)
                .content
        }
        let changed = SystemLanguageModel(file: file, adapter: try await adapter())
        let zero = SystemLanguageModel(file: file, adapter: try await adapter(value: 0))
        let plain = try await answer(model)
        let expected = try await answer(changed)
        #expect(expected != plain)
        #expect(try await answer(zero) == plain)
        async let first = answer(model)
        async let second = answer(changed)
        async let third = answer(zero)
        #expect(try await [first, second, third] == [plain, expected, plain])
        #expect(LocalModels.loadCount(of: file) == 1)
    }

    @Test func adaptersOfOtherModelsAreRefusedWithTheReason() async throws {
        let other = SystemLanguageModel(
            file: file, adapter: try await adapter(signature: String(repeating: "ab", count: 20)))
        await #expect {
            try await LanguageModelSession(model: other).respond(to: "Hi")
        } throws: { error in
            guard case SystemLanguageModel.Adapter.AssetError.compatibleAdapterNotFound(let context) = error else {
                return false
            }
            return context.debugDescription.contains("abab") && context.debugDescription.contains(file.path)
        }
        let wide = SystemLanguageModel(file: file, adapter: try await adapter(rows: 8))
        await #expect {
            try await LanguageModelSession(model: wide).respond(to: "Hi")
        } throws: { error in
            guard case SystemLanguageModel.Adapter.AssetError.invalidAsset(let context) = error else { return false }
            return context.debugDescription.contains("down_proj.lora_B.weight has the shape [8, 1]")
        }
    }
}

/// A value of bounded length, whatever the model prefers.
@Generable
private struct Toy {
    @Guide(.anyOf(["red", "blue"])) var colour: String
    @Guide(.count(2)) var sizes: [Int]
    var isNew: Bool
    @Guide(.range(0...1000)) var price: Double?
}

/// A tool that ends the request when it is called, so that a required call is made once.
private struct RollDice: Tool {
    let name = "rollDice"
    let description = "Rolls some dice."
    let action: @Sendable (Int) -> Void

    @Generable
    struct Arguments {
        @Guide(description: "How many dice", .range(1...6)) var count: Int
    }

    func call(arguments: Arguments) async throws -> String {
        action(arguments.count)
        throw Fault()
    }
}
