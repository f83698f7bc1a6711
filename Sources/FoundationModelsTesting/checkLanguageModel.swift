import Foundation
import FoundationModels
import Synchronization

/// Something that a provider does and that no provider may do.
public struct LanguageModelViolation: Sendable, Hashable, CustomStringConvertible {
    /// What was looked at, such as `streaming`.
    public let check: String
    /// What was wrong.
    public let text: String

    public var description: String { "\(check): \(text)" }
}

/// Looks whether a provider keeps to what sessions and programs rely on: that it answers, streams, counts its tokens, hears of
/// cancellation, and can do all that its capabilities say. An author of a provider runs this in the provider's tests:
///
/// ```swift
/// @Test func conforms() async {
///     #expect(await checkLanguageModel(MyModel()) == [])
/// }
/// ```
///
/// The model is asked about a dozen short questions.
///
/// - Parameters:
///   - patience: How long a single question may take.
///   - reportsUsage: Whether it counts its tokens. Some servers do not say how many a stream has.
/// - Returns: What was wrong; nothing for a model that conforms.
public func checkLanguageModel(
    _ model: some LanguageModel, patience: Duration = .seconds(120), reportsUsage: Bool = true
) async -> [LanguageModelViolation] {
    var checker = LanguageModelChecker(model: model, patience: patience, reportsUsage: reportsUsage)
    await checker.checkConfiguration()
    await checker.checkText()
    await checker.checkStreaming()
    await checker.checkHistory()
    await checker.checkCancellation()
    if model.capabilities.contains(.guidedGeneration) { await checker.checkGuidedGeneration() }
    if model.capabilities.contains(.toolCalling) { await checker.checkToolCalling() }
    return checker.violations
}

private struct LanguageModelChecker<Model: LanguageModel> {
    let model: Model
    let patience: Duration
    let reportsUsage: Bool
    private(set) var violations: [LanguageModelViolation] = []

    init(model: Model, patience: Duration, reportsUsage: Bool) {
        self.model = model
        self.patience = patience
        self.reportsUsage = reportsUsage
    }

    private mutating func report(_ check: String, _ text: String) {
        violations.append(LanguageModelViolation(check: check, text: text))
    }

    /// Runs one check; what it throws is a violation, and so is running out of patience.
    private mutating func run(
        _ check: String,
        _ body: @escaping @Sendable (_ report: @escaping @Sendable (String) -> Void) async throws -> Void
    ) async {
        let findings = Findings()
        let patience = patience
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await body { findings.add($0) }
                } catch {
                    findings.add("threw \(type(of: error)): \(error.localizedDescription)")
                }
            }
            group.addTask {
                guard (try? await Task.sleep(for: patience)) != nil else { return }
                findings.add("took longer than \(patience)")
            }
            await group.next()
            group.cancelAll()
        }
        for text in findings.all { report(check, text) }
    }

    mutating func checkConfiguration() async {
        if model.executorConfiguration != model.executorConfiguration {
            report(
                "configuration", "two readings of executorConfiguration differ, so that no executor is ever used again")
        }
        let session = LanguageModelSession(model: model, instructions: "Be brief.")
        let start = ContinuousClock.now
        session.prewarm(promptPrefix: Prompt("Say"))
        if ContinuousClock.now - start > .seconds(1) { report("configuration", "prewarm does not return at once") }
    }

    mutating func checkText() async {
        let (model, reportsUsage) = (model, reportsUsage)
        await run("text") { report in
            let session = LanguageModelSession(model: model, instructions: "Be brief.")
            let response = try await session.respond(to: "Say hello.")
            if response.content.isEmpty { report("the response is empty") }
            guard case .prompt? = response.transcriptEntries.first, case .response? = response.transcriptEntries.last
            else {
                report(
                    "the entries of a request are \(response.transcriptEntries.map(\.id)), not a prompt and a response")
                return
            }
            let usage = response.usage
            if reportsUsage {
                if usage.input.totalTokenCount <= 0 { report("no input tokens are reported") }
                if usage.output.totalTokenCount <= 0 { report("no output tokens are reported") }
            }
            if !(0...max(0, usage.input.totalTokenCount)).contains(usage.input.cachedTokenCount) {
                report("\(usage.input.cachedTokenCount) of \(usage.input.totalTokenCount) input tokens were cached")
            }
            if !(0...max(0, usage.output.totalTokenCount)).contains(usage.output.reasoningTokenCount) {
                report(
                    "\(usage.output.reasoningTokenCount) of \(usage.output.totalTokenCount) output tokens were reasoning"
                )
            }
        }
    }

    mutating func checkStreaming() async {
        let model = model
        await run("streaming") { report in
            let session = LanguageModelSession(model: model)
            var last = ""
            var count = 0
            for try await snapshot in session.streamResponse(to: "Count from one to five.") {
                if !snapshot.content.hasPrefix(last) { report("a snapshot lost what the one before it had") }
                if snapshot.content.unicodeScalars.contains("\u{fffd}") { report("a snapshot has half a character") }
                last = snapshot.content
                count += 1
            }
            if count == 0 { report("there are no snapshots") }
            guard case .response(let response)? = session.transcript.last else {
                report("the transcript does not end in a response")
                return
            }
            let text = response.segments.compactMap { segment in
                if case .text(let text) = segment { text.content } else { nil }
            }
            if text.joined() != last { report("the last snapshot is not what the transcript has") }
        }
    }

    /// A conversation with everything that may stand in one.
    mutating func checkHistory() async {
        let model = model
        func text(_ content: String) -> [Transcript.Segment] { [.text(Transcript.TextSegment(content: content))] }
        var entries: [Transcript.Entry] = [
            .instructions(Transcript.Instructions(segments: text("Be brief."), toolDefinitions: [])),
            .prompt(Transcript.Prompt(segments: text("How warm is it in Oslo?"))),
        ]
        if model.capabilities.contains(.reasoning) {
            entries.append(.reasoning(Transcript.Reasoning(segments: text("I should look it up."))))
        }
        if model.capabilities.contains(.toolCalling) {
            entries += [
                .toolCalls(
                    Transcript.ToolCalls([
                        Transcript.ToolCall(
                            id: "call-1", toolName: "getWeather",
                            arguments: GeneratedContent(properties: ["city": "Oslo"]))
                    ])),
                .toolOutput(Transcript.ToolOutput(id: "call-1", toolName: "getWeather", segments: text("12 degrees"))),
            ]
        }
        entries.append(.response(Transcript.Response(metadata: [:], segments: text("It is 12 degrees in Oslo."))))
        let transcript = Transcript(entries: entries)
        await run("history") { report in
            let session = LanguageModelSession(model: model, transcript: transcript)
            let response = try await session.respond(to: "And is that warm?")
            if response.content.isEmpty { report("the response is empty") }
        }
    }

    mutating func checkCancellation() async {
        let model = model
        await run("cancellation") { report in
            let session = LanguageModelSession(model: model)
            let task = Task { try await session.respond(to: "Count from one to a thousand, in words.").content }
            try await Task.sleep(for: .milliseconds(200))
            let start = ContinuousClock.now
            task.cancel()
            switch await task.result {
            case .success: break  // It was done before.
            case .failure(is CancellationError): break
            case .failure(let error): report("a cancelled request throws \(error), not a CancellationError")
            }
            if ContinuousClock.now - start > .seconds(2) { report("a cancelled request goes on") }
            if session.isResponding { report("the session is still responding") }
            if try await session.respond(to: "Say hello.").content.isEmpty {
                report("the session does not answer after a cancellation")
            }
        }
    }

    mutating func checkGuidedGeneration() async {
        let model = model
        let schema = GenerationSchema(
            type: GeneratedContent.self,
            properties: [
                .init(name: "city", type: String.self),
                .init(name: "population", type: Int.self, guides: [.range(1...50_000_000)]),
                .init(name: "size", type: String.self, guides: [.anyOf(["small", "large"])]),
            ])
        await run("guided generation") { report in
            let session = LanguageModelSession(model: model)
            let content = try await session.respond(to: "Describe the city of Oslo.", schema: schema).content
            guard case .structure(let properties, let keys) = content.kind else {
                report("the response is no structure: \(content.jsonString)")
                return
            }
            if keys != ["city", "population", "size"] { report("the properties are \(keys)") }
            if case .number(let count)? = properties["population"]?.kind, (1...50_000_000).contains(count) {
            } else {
                report("the population is out of its range: \(content.jsonString)")
            }
            if case .string(let size)? = properties["size"]?.kind, ["small", "large"].contains(size) {
            } else {
                report("the size is none of the choices: \(content.jsonString)")
            }
        }
    }

    mutating func checkToolCalling() async {
        let model = model
        await run("tool calling") { report in
            let calls = CallRecord()
            let session = LanguageModelSession(model: model, tools: [CheckTool(calls: calls)])
            do {
                try await session.respond(
                    to: "How warm is it in Oslo?", options: GenerationOptions(toolCallingMode: .required))
                report("the model was required to call a tool and answered")
            } catch let error as LanguageModelSession.ToolCallError where error.underlyingError is CheckTool.Done {
                if calls.count == 0 { report("the round ended without a call of the tool") }
            }
            let quiet = LanguageModelSession(model: model, tools: [CheckTool(calls: calls)])
            try await quiet.respond(
                to: "How warm is it in Oslo?", options: GenerationOptions(toolCallingMode: .disallowed))
        }
    }
}

/// What one check found.
private final class Findings: Sendable {
    private let storage = Mutex<[String]>([])
    var all: [String] { storage.withLock { $0 } }
    func add(_ text: String) { storage.withLock { $0.append(text) } }
}

private final class CallRecord: Sendable {
    private let storage = Mutex(0)
    var count: Int { storage.withLock { $0 } }
    func add() { storage.withLock { $0 += 1 } }
}

private struct CheckTool: Tool {
    struct Done: Error {}

    let name = "getWeather"
    let description = "Gets the weather of a city."
    let calls: CallRecord

    var parameters: GenerationSchema {
        GenerationSchema(type: GeneratedContent.self, properties: [.init(name: "city", type: String.self)])
    }

    func call(arguments: GeneratedContent) async throws -> String {
        calls.add()
        _ = try arguments.value(String.self, forProperty: "city")
        throw Done()
    }
}
