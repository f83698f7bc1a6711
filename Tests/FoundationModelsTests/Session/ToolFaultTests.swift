import Foundation
import FoundationModels
import FoundationModelsTesting
import Testing

/// Tools that throw, hang, flood or cancel, and cancellations at every point of a turn.
@Suite(.timeLimit(.minutes(5))) struct ToolFaultTests {
    private static func call(_ text: String = "a") -> ScriptedStep {
        .toolCall("echo", arguments: #"{"text": "\#(text)"}"#)
    }

    @Test func T14_errorsOfToolsReachTheCallerAndNotTheModel() async throws {
        let model = ScriptedLanguageModel(turns: [[Self.call()], [.text("after")]])
        let session = LanguageModelSession(model: model, tools: [EchoTool { _ in throw Fault(name: "disk full") }])
        do {
            try await session.respond(to: "Hi")
            Issue.record("no error")
        } catch let error as LanguageModelSession.ToolCallError {
            #expect(error.tool.name == "echo")
            #expect(error.underlyingError as? Fault == Fault(name: "disk full"))
        }
        // The model was not asked again.
        #expect(model.requests.count == 1)
        #expect(session.transcript.kinds == ["instructions"])
        #expect(try await session.respond(to: "Hi").content == "after")
    }

    @Test func aCancellationErrorOfAToolIsAnErrorLikeAnother() async throws {
        let model = ScriptedLanguageModel(turns: [[Self.call()]])
        let session = LanguageModelSession(model: model, tools: [EchoTool { _ in throw CancellationError() }])
        // Nobody cancelled the request.
        await #expect(throws: LanguageModelSession.ToolCallError.self) { try await session.respond(to: "Hi") }
        #expect(!session.isResponding)
    }

    @Test func aFloodOfOutputReachesTheModelWhole() async throws {
        let flood = String(repeating: "0123456789abcdef", count: 10 << 16)  // 10 MiB
        let model = ScriptedLanguageModel(turns: [[Self.call()], [.text("ok")]])
        let session = LanguageModelSession(model: model, tools: [EchoTool { _ in flood }])
        #expect(try await session.respond(to: "Hi").content == "ok")
        #expect(model.requests[1].transcript.last?.text.utf8.count == 10 << 20)
    }

    @Test(arguments: [
        (TranscriptErrorHandlingPolicy?.none, false), (.revertTranscript, false), (.preserveTranscript, true),
    ])
    func anOverflowBetweenRoundsFollowsThePolicy(
        _ policy: TranscriptErrorHandlingPolicy?, _ preserved: Bool
    ) async throws {
        let overflow = LanguageModelError.contextSizeExceeded(
            .init(contextSize: 10, tokenCount: 20, debugDescription: "too long"))
        let model = ScriptedLanguageModel(turns: [[Self.call()], [.text("par"), .fail(overflow)], [.text("ok")]])
        let session = LanguageModelSession(model: model, tools: [EchoTool()], instructions: "Be brief.")
        session.transcriptErrorHandlingPolicy = policy
        do {
            try await session.respond(to: "Hi")
            Issue.record("no error")
        } catch LanguageModelError.contextSizeExceeded(let details) {
            #expect(details.tokenCount == 20)
        }
        #expect(
            session.transcript.kinds
                == (preserved ? ["instructions", "prompt", "toolCalls", "toolOutput", "response"] : ["instructions"]))
        #expect(!session.isResponding)
        #expect(try await session.respond(to: "Hi").content == "ok")
    }

    /// The points at which a turn of two rounds is cancelled.
    enum Point: CaseIterable {
        case beforeTheFirstEvent, amidReasoning, amidTheCall, amidTheTool, betweenRounds, amidTheAnswer
    }

    @Test func X1_cancellationAtEveryPointRevertsRespond() async throws {
        for point in Point.allCases {
            let reached = Recorder(false)
            let model = ScriptedLanguageModel { request, _ in
                func stop(_ here: Point) -> [ScriptedStep] {
                    guard here == point, !reached.value else { return [] }
                    return [.perform { reached.change { $0 = true } }, .waitForCancellation]
                }
                if request.transcript.last?.kind == "toolOutput" {
                    return stop(.betweenRounds) + [.text("The answer")] + stop(.amidTheAnswer)
                }
                return stop(.beforeTheFirstEvent) + [.reasoning("hm")] + stop(.amidReasoning) + [Self.call()]
                    + stop(.amidTheCall)
            }
            let tool = EchoTool { text in
                if point == .amidTheTool, !reached.value {
                    reached.change { $0 = true }
                    try await Task.sleep(for: .seconds(3600))
                }
                return text
            }
            let session = LanguageModelSession(model: model, tools: [tool], instructions: "Be brief.")
            let task = Task { try await session.respond(to: "Hi").content }
            #expect(await eventually { reached.value }, "\(point)")
            task.cancel()
            await #expect(throws: CancellationError.self, "\(point)") { try await task.value }
            #expect(!session.isResponding && session.transcript.kinds == ["instructions"], "\(point)")
            #expect(try await session.respond(to: "Again").content == "The answer", "\(point)")
            #expect(
                session.transcript.kinds
                    == ["instructions", "prompt", "reasoning", "toolCalls", "toolOutput", "response"], "\(point)")
        }
    }

    @Test func manySessionsWithToolsAndRandomCancellations() async throws {
        let model = ScriptedLanguageModel { request, _ in
            if request.transcript.last?.kind == "toolOutput" {
                return [.text("a"), .wait(.microseconds(100)), .text("b")]
            }
            return (0..<4).map { Self.call("\($0)") }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let outputs = Recorder(0)
                    let tool = EchoTool { text in
                        try await Task.sleep(for: .microseconds(50 * number))
                        outputs.change { $0 += 1 }
                        return text
                    }
                    let session = LanguageModelSession(model: model, tools: [tool])
                    for _ in 0..<3 {
                        let task = Task { try await session.respond(to: "Hi").content }
                        if number % 3 != 0 {
                            try? await Task.sleep(for: .microseconds(37 * number))
                            task.cancel()
                        }
                        _ = await task.result
                        #expect(!session.isResponding)
                        _ = session.usage.totalTokenCount
                    }
                    #expect((try? await session.respond(to: "Hi").content) == "ab")
                    #expect(outputs.value >= 4)
                }
            }
        }
    }

    @Test func toolsOfARestoredTranscriptWithoutInstructions() async throws {
        let prompt = Transcript.Entry.prompt(
            Transcript.Prompt(segments: [.text(Transcript.TextSegment(content: "Before"))]))
        let model = ScriptedLanguageModel(turns: [[Self.call()], [.text("ok")]])
        let session = LanguageModelSession(
            model: model, tools: [EchoTool()], transcript: Transcript(entries: [prompt]))
        #expect(try await session.respond(to: "Hi").content == "ok")
        #expect(model.requests.allSatisfy { $0.enabledToolDefinitions.map(\.name) == ["echo"] })
        #expect(session.transcript.kinds == ["prompt", "prompt", "toolCalls", "toolOutput", "response"])
    }

    @Test func T19_imagesReachAModelThatHasTools() async throws {
        let model = ScriptedLanguageModel(turns: [[Self.call()], [.text("ok")]])
        let session = LanguageModelSession(model: model, tools: [EchoTool()])
        try await session.respond {
            "What is this?"
            Attachment(imageURL: URL(fileURLWithPath: "/tmp/a.png"))
        }
        for request in model.requests {
            #expect(
                request.transcript.contains { entry in
                    entry.segments.contains { if case .attachment = $0 { true } else { false } }
                })
            #expect(request.enabledToolDefinitions.count == 1)
        }
        // A model that reads none says so, with tools as without, and drops nothing in silence.
        let blind = ScriptedLanguageModel(
            capabilities: LanguageModelCapabilities([.toolCalling]), turns: [[.text("never")]])
        await #expect(throws: LanguageModelError.self) {
            try await LanguageModelSession(model: blind, tools: [EchoTool()]).respond {
                "What is this?"
                Attachment(imageURL: URL(fileURLWithPath: "/tmp/a.png"))
            }
        }
        #expect(blind.requests.isEmpty)
    }

    @Test func R5_nothingOfAFailedAnswerComesAgain() async throws {
        let refusal = LanguageModelError.refusal(.init(explanation: "no", debugDescription: "no"))
        let model = ScriptedLanguageModel(turns: [
            [.text("Once upon ", tokenCount: 3), .text("a time", tokenCount: 2), .fail(refusal)],
            [.text("Once upon ", tokenCount: 3), .text("another time", tokenCount: 2)],
        ])
        let session = LanguageModelSession(model: model)
        await #expect(throws: LanguageModelError.self) {
            for try await _ in session.streamResponse(to: "A tale") {}
        }
        // What came before the refusal is counted.
        #expect(session.usage.output.totalTokenCount == 5)
        var last = ""
        for try await snapshot in session.streamResponse(to: "A tale") {
            #expect(snapshot.content.hasPrefix(last))
            last = snapshot.content
        }
        #expect(last == "Once upon another time")
        #expect(session.usage.output.totalTokenCount == 10)
    }
}
