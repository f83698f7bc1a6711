import Foundation
import FoundationModels
import FoundationModelsTesting
import Observation
import Testing

@Suite(.timeLimit(.minutes(2))) struct ConcurrencyTests {
    @Test func X1_cancellationReachesTheExecutor() async throws {
        let model = ScriptedLanguageModel { _, _ in [.text("a"), .waitForCancellation] }
        let session = LanguageModelSession(model: model)
        let task = Task { try await session.respond(to: "Hi").content }
        #expect(await eventually { model.requests.count == 1 })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(await eventually { model.cancellationCount == 1 })
        #expect(session.transcript.isEmpty)
        #expect(!session.isResponding)
    }

    @Test func X1_anExecutorDeafToCancellationDoesNotHoldTheCaller() async throws {
        let model = ScriptedLanguageModel { _, index in index == 0 ? [.text("a"), .stall] : [.text("b")] }
        let session = LanguageModelSession(model: model)
        let task = Task { try await session.respond(to: "Hi").content }
        #expect(await eventually { session.transcript.count == 2 })
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(session.transcript.isEmpty)
        #expect(try await session.respond(to: "Hi").content == "b")
    }

    @Test func X2_cancellationIsOfOneRequest() async throws {
        let model = ScriptedLanguageModel { _, index in
            index.isMultiple(of: 2) ? [.waitForCancellation] : [.wait(.milliseconds(5)), .text("\(index)")]
        }
        let session = LanguageModelSession(model: model)
        for round in 0..<10 {
            let task = Task { try await session.respond(to: "Hi").content }
            #expect(await eventually { model.requests.count == 2 * round + 1 })
            task.cancel()
            _ = await task.result
            // Cancelling again what is over must not touch what comes.
            let next = Task { try await session.respond(to: "Hi").content }
            task.cancel()
            #expect(try await next.value == "\(2 * round + 1)")
        }
    }

    @Test func X3_isRespondingAndTranscriptAreObserved() async throws {
        let gate = Recorder(false)
        let model = ScriptedLanguageModel(turns: [
            [.perform { while !gate.value { try await Task.sleep(for: .milliseconds(1)) } }, .text("ok")]
        ])
        let session = LanguageModelSession(model: model)
        let changes = Recorder<[String]>([])
        withObservationTracking {
            _ = session.isResponding
        } onChange: {
            changes.append("isResponding")
        }
        let task = Task { try await session.respond(to: "Hi").content }
        #expect(await eventually { changes.value == ["isResponding"] })
        #expect(session.isResponding)
        withObservationTracking {
            _ = session.transcript.count
        } onChange: {
            changes.append("transcript")
        }
        gate.change { $0 = true }
        #expect(try await task.value == "ok")
        #expect(changes.value.contains("transcript"))
        #expect(!session.isResponding)
    }

    @Test func X4_aSecondRequestIsRefusedAndTheFirstGoesOn() async throws {
        let gate = Recorder(false)
        let model = ScriptedLanguageModel(turns: [
            [
                .text("a"), .perform { while !gate.value { try await Task.sleep(for: .milliseconds(1)) } }, .text("b"),
            ]
        ])
        let session = LanguageModelSession(model: model)
        let first = Task { try await session.respond(to: "Hi").content }
        #expect(await eventually { session.isResponding })
        await #expect(throws: LanguageModelSession.Error.concurrentRequests) { try await session.respond(to: "Ho") }
        await #expect(throws: LanguageModelSession.Error.concurrentRequests) {
            for try await _ in session.streamResponse(to: "Ho") {}
        }
        #expect(session.isResponding)
        gate.change { $0 = true }
        #expect(try await first.value == "ab")
        #expect(session.transcript.kinds == ["prompt", "response"])
    }

    @Test(arguments: [
        GenerationOptions(temperature: -1), GenerationOptions(temperature: .nan),
        GenerationOptions(temperature: .infinity),
        GenerationOptions(samplingMode: .random(top: 0)), GenerationOptions(samplingMode: .random(top: -5)),
        GenerationOptions(samplingMode: .random(probabilityThreshold: 1.5)),
        GenerationOptions(samplingMode: .random(probabilityThreshold: .nan)),
        GenerationOptions(maximumResponseTokens: 0), GenerationOptions(maximumResponseTokens: -3),
    ])
    func X5_senselessNumbersAreRefused(_ options: GenerationOptions) async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(model: model)
        await #expect(throws: LanguageModelSession.ConfigurationError.self) {
            try await session.respond(to: "Hi", options: options)
        }
        #expect(model.requests.isEmpty)
        #expect(session.transcript.isEmpty)
    }

    @Test(arguments: [
        GenerationOptions(temperature: 0), GenerationOptions(samplingMode: .random(top: Int.max, seed: .max)),
        GenerationOptions(samplingMode: .random(probabilityThreshold: 0)),
        GenerationOptions(samplingMode: .random(probabilityThreshold: 1, seed: 0)),
        GenerationOptions(maximumResponseTokens: Int.max),
    ])
    func X5_extremeNumbersAreTaken(_ options: GenerationOptions) async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        try await LanguageModelSession(model: model).respond(to: "Hi", options: options)
        #expect(model.requests[0].generationOptions == options)
    }

    @Test func mutationWhileRespondingEndsTheRequest() async throws {
        let model = ScriptedLanguageModel { _, _ in [.text("a"), .waitForCancellation] }
        let session = LanguageModelSession(model: model)
        let task = Task { try await session.respond(to: "Hi").content }
        #expect(await eventually { session.transcript.count == 2 })
        session.transcript = Transcript(entries: [
            .prompt(Transcript.Prompt(segments: [.text(Transcript.TextSegment(content: "mine"))]))
        ])
        await #expect(throws: LanguageModelSession.Error.transcriptMutationWhileResponding) { try await task.value }
        #expect(!session.isResponding)
        // The change stands.
        #expect(session.transcript.map(\.text) == ["mine"])
    }

    @Test func manySessionsWithRandomCancellations() async throws {
        let model = ScriptedLanguageModel { request, _ in
            guard request.transcript.last?.kind == "prompt" else { return [.text("end")] }
            return (0..<5).flatMap { [.reasoning("r"), .text("\($0) "), .wait(.microseconds(200))] }
                + [.toolCall("echo", arguments: #"{"text": "a"}"#)]
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let session = LanguageModelSession(model: model, tools: [EchoTool()])
                    let task = Task {
                        for try await snapshot in session.streamResponse(to: "Hi") { _ = snapshot.content.count }
                    }
                    let watcher = Task {
                        while session.isResponding { _ = session.transcript.count; await Task.yield() }
                    }
                    switch number % 4 {
                    case 0: break
                    case 1: task.cancel()
                    case 2:
                        try? await Task.sleep(for: .microseconds(number * 20))
                        task.cancel()
                    default:
                        try? await Task.sleep(for: .microseconds(number * 10))
                        session.transcript = Transcript()
                    }
                    _ = await task.result
                    await watcher.value
                    #expect(await eventually { !session.isResponding })
                    #expect((try? await session.respond(to: "Once more").content) != nil)
                }
            }
        }
    }

    @Test func aSessionThatIsLetGoFinishesItsStream() async throws {
        let stream = LanguageModelSession(model: ScriptedLanguageModel(alwaysAnswering: "ok")).streamResponse(to: "Hi")
        #expect(try await stream.collect().content == "ok")
    }
}
