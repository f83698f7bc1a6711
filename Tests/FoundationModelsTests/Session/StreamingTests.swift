import Foundation
import FoundationModels
import FoundationModelsTesting
import Testing

@Suite struct StreamingTests {
    @Test func R1_errorsOfStreamsCanBeMatched() async throws {
        let error = LanguageModelError.contextSizeExceeded(
            .init(contextSize: 10, tokenCount: 11, debugDescription: "too long"))
        let model = ScriptedLanguageModel { _, _ in [.text("a"), .fail(error)] }
        let session = LanguageModelSession(model: model)
        var caught: [Int] = []
        do {
            for try await _ in session.streamResponse(to: "Hi") {}
        } catch LanguageModelError.contextSizeExceeded(let details) {
            caught.append(details.tokenCount)
        }
        do {
            try await session.respond(to: "Hi")
        } catch LanguageModelError.contextSizeExceeded(let details) {
            caught.append(details.tokenCount)
        }
        #expect(caught == [11, 11])
    }

    @Test func R2_aTurnOfToolsAloneHasNoSnapshots() async throws {
        let model = ScriptedLanguageModel(turns: [
            [.toolCall("echo", arguments: #"{"text": "a"}"#), .usage(input: 5, output: 2)],
            [.text(""), .usage(input: 7, output: 0)],
        ])
        let session = LanguageModelSession(model: model, tools: [EchoTool()])
        var count = 0
        for try await _ in session.streamResponse(to: "Hi") { count += 1 }
        #expect(count == 0)
        // No empty response was made for the usage.
        #expect(session.transcript.kinds == ["instructions", "prompt", "toolCalls", "toolOutput"])
        #expect(session.usage.input.totalTokenCount == 12)
    }

    @Test func R3_snapshotsAreCumulativeAndComeOneByOne() async throws {
        let words = (0..<20).map { "word\($0) " }
        // Each word waits until the reader has seen the one before: nothing is held back until the end.
        let seen = Recorder(0)
        let steps = words.enumerated().flatMap { index, word -> [ScriptedStep] in
            [
                .perform { while seen.value < index { try await Task.sleep(for: .milliseconds(1)) } }, .text(word),
            ]
        }
        let session = LanguageModelSession(model: ScriptedLanguageModel(turns: [steps]))
        var snapshots: [String] = []
        for try await snapshot in session.streamResponse(to: "Hi") {
            snapshots.append(snapshot.content)
            seen.change { $0 += 1 }
        }
        #expect(snapshots.count == 20)
        for (previous, next) in zip(snapshots, snapshots.dropFirst()) {
            #expect(next.hasPrefix(previous) && next != previous)
        }
        #expect(snapshots.last == words.joined())
    }

    @Test func R8_onlyTheTailOfAStructureIsOpen() async throws {
        let text = #"{"name": "Bread", "steps": ["Mix.", "Knead.", "Bake."], "minutes": 90}"#
        let session = LanguageModelSession(
            model: ScriptedLanguageModel(turns: [text.map { .text(String($0)) }]))
        var most = 0
        for try await snapshot in session.streamResponse(to: "Hi", generating: Recipe.self) {
            guard case .structure(let properties, _) = snapshot.rawContent.kind,
                case .array(let steps)? = properties["steps"]?.kind
            else { continue }
            most = max(most, steps.count)
            #expect(steps.dropLast().allSatisfy { $0.isComplete })
            #expect(snapshot.content.steps?.count == steps.count)
        }
        #expect(most == 3)
    }

    @Test func identifiersStayTheSameDuringAResponse() async throws {
        let text = #"{"name": "Bread", "steps": [], "minutes": 90}"#
        let session = LanguageModelSession(
            model: ScriptedLanguageModel { _, _ in text.map { .text(String($0)) } })
        var first: Set<GenerationID> = []
        for try await snapshot in session.streamResponse(to: "Hi", generating: Recipe.self) {
            first.insert(snapshot.content.id)
        }
        var second: Set<GenerationID> = []
        for try await snapshot in session.streamResponse(to: "Hi", generating: Recipe.self) {
            second.insert(snapshot.content.id)
        }
        #expect(first.count == 1)
        #expect(second.count == 1)
        #expect(first != second)
    }

    @Test func collectWorksAlsoAfterReading() async throws {
        let session = LanguageModelSession(
            model: ScriptedLanguageModel { _, _ in [.text("a"), .text("b"), .usage(input: 3, output: 2)] })
        let stream = session.streamResponse(to: "Hi")
        for try await _ in stream {}
        let response = try await stream.collect()
        #expect(response.content == "ab")
        #expect(response.usage.totalTokenCount == 5)
        #expect(response.transcriptEntries.map(\.kind) == ["prompt", "response"])
        #expect(try await session.streamResponse(to: "Hi").collect().content == "ab")
    }

    @Test func everyFailureSurfacesInIteration() async throws {
        let session = LanguageModelSession(
            model: ScriptedLanguageModel(capabilities: LanguageModelCapabilities([]), turns: []))
        let stream = session.streamResponse(to: "Hi", generating: Recipe.self)
        await #expect(throws: LanguageModelError.self) { for try await _ in stream {} }
        // And again for the next reader.
        await #expect(throws: LanguageModelError.self) { try await stream.collect() }
        #expect(!session.isResponding)
    }

    @Test func theStreamBeginsWhenItIsMade() async throws {
        let model = ScriptedLanguageModel { _, _ in [.waitForCancellation] }
        let session = LanguageModelSession(model: model)
        let stream = session.streamResponse(to: "Hi")
        #expect(session.isResponding)
        #expect(await eventually { model.requests.count == 1 })
        await #expect(throws: LanguageModelSession.Error.concurrentRequests) { try await session.respond(to: "Hi") }
        withExtendedLifetime(stream) {}
    }

    @Test func droppingTheStreamCancels() async throws {
        let model = ScriptedLanguageModel { _, _ in [.text("partial"), .waitForCancellation] }
        let session = LanguageModelSession(model: model)
        for try await snapshot in session.streamResponse(to: "Hi") {
            #expect(snapshot.content == "partial")
            break
        }
        #expect(await eventually { !session.isResponding })
        #expect(await eventually { model.cancellationCount == 1 })
        // The prompt and what has come stay.
        #expect(session.transcript.kinds == ["prompt", "response"])
        #expect(session.transcript[1].text == "partial")
    }

    @Test func anUnreadStreamStillAnswers() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = LanguageModelSession(model: model)
        let stream = session.streamResponse(to: "Hi")
        #expect(await eventually { !session.isResponding })
        #expect(session.transcript.kinds == ["prompt", "response"])
        withExtendedLifetime(stream) {}
    }

    @Test func aSlowReaderLosesNothing() async throws {
        let session = LanguageModelSession(
            model: ScriptedLanguageModel(turns: [(0..<2000).map { .text("\($0) ") }]))
        let stream = session.streamResponse(to: "Hi")
        #expect(await eventually { !session.isResponding })
        var last = ""
        var count = 0
        for try await snapshot in stream {
            #expect(snapshot.content.hasPrefix(last))
            last = snapshot.content
            count += 1
        }
        #expect(last == (0..<2000).map { "\($0) " }.joined())
        #expect(count <= 256)
    }

    @Test func textIsReplaced() async throws {
        let session = LanguageModelSession(
            model: ScriptedLanguageModel(turns: [
                [
                    .event(.response(action: .appendText("wrong", segmentID: "s", tokenCount: 2))),
                    .event(.response(action: .replaceTextSegment("right", segmentID: "s", tokenCount: 1))),
                ]
            ]))
        let response = try await session.respond(to: "Hi")
        #expect(response.content == "right")
        #expect(response.usage.output.totalTokenCount == 1)
    }
}
