import Foundation
import FoundationModels
import JSON

/// `measure function-calling MODEL DATA TOKENS [dialect|choice]`: which tools the model calls for each question of a data file, greedily
/// and in one round. Prints a line of JSON for each, with the calls, or with the error. How calls are brought about can be given.
func measureFunctionCalling(_ arguments: [String]) async throws {
    guard (3...4).contains(arguments.count), let tokens = Int(arguments[2]) else {
        throw MeasureError.usage("function-calling MODEL DATA TOKENS [dialect|choice]")
    }
    let strategy = arguments.count > 3 ? ToolCallingStrategy(rawValue: arguments[3]) : nil
    guard arguments.count == 3 || strategy != nil else {
        throw MeasureError.usage("function-calling MODEL DATA TOKENS [dialect|choice]")
    }
    let model = SystemLanguageModel(backend: EngineBackend(named: arguments[0], toolCalling: strategy))
    let data = try String(contentsOfFile: arguments[1], encoding: .utf8)
    let options = GenerationOptions(samplingMode: .greedy, maximumResponseTokens: tokens)
    let items = try data.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    // In the order of the questions, of which some are answered at once: what one gets does not depend on the others.
    var answers = [String](repeating: "", count: items.count)
    try await withThrowingTaskGroup(of: (Int, String).self) { group in
        for (index, item) in items.enumerated() {
            group.addTask { (index, try await answer(to: item, model, options)) }
            if index >= questionsAtOnce - 1, let (done, text) = try await group.next() { answers[done] = text }
        }
        for try await (done, text) in group { answers[done] = text }
    }
    print(answers.joined(separator: "\n"))
}

private let questionsAtOnce = 8

/// The line about one question.
private func answer(
    to item: JSONValue, _ model: SystemLanguageModel, _ options: GenerationOptions
) async throws -> String {
    guard let id = item["id"]?.stringValue else { throw MeasureError.usage("each line of the data has an id") }
    var answer: JSONObject = ["id": .string(id)]
    do {
        let calls = try await calls(for: item, model, options)
        answer["calls"] = .array(
            calls.map { .object(["name": .string($0.toolName), "arguments": .string($0.argumentsText)]) })
    } catch {
        answer["error"] = .string("\(error)")
    }
    return JSONValue.object(answer).text()
}

/// The calls of the first round.
private func calls(
    for item: JSONValue, _ model: SystemLanguageModel, _ options: GenerationOptions
) async throws -> [Transcript.ToolCall] {
    let definitions = try (item["tools"]?.arrayValue ?? []).map { tool in
        let schema = try JSONDecoder().decode(
            GenerationSchema.self, from: Data((tool["parameters"] ?? .object([:])).text().utf8))
        return Transcript.ToolDefinition(
            name: tool["name"]?.stringValue ?? "", description: tool["description"]?.stringValue ?? "",
            parameters: schema)
    }
    var instructions = Transcript.Instructions(segments: [], toolDefinitions: definitions)
    var entries: [Transcript.Entry] = []
    for message in item["messages"]?.arrayValue ?? [] {
        let segment = Transcript.Segment.text(Transcript.TextSegment(content: message["content"]?.stringValue ?? ""))
        switch message["role"]?.stringValue {
        case "system": instructions.segments.append(segment)
        case "user": entries.append(.prompt(Transcript.Prompt(segments: [segment])))
        case "assistant": entries.append(.response(Transcript.Response(metadata: [:], segments: [segment])))
        default: throw MeasureError.usage("messages have the role system, user or assistant")
        }
    }
    let request = LanguageModelExecutorGenerationRequest(
        id: UUID(), transcript: Transcript(entries: [.instructions(instructions)] + entries), enabledTools: definitions,
        generationOptions: options, contextOptions: ContextOptions(), metadata: [:])
    let channel = LanguageModelExecutorGenerationChannel()
    async let answer: Void = {
        defer { channel.finish() }
        try await SystemLanguageModel.Executor(configuration: model.executorConfiguration)
            .respond(to: request, model: model, streamingInto: channel)
    }()
    var turn = TurnFold()
    for try await event in channel { turn.apply(event) }
    try await answer
    let calls = turn.entries.flatMap { entry -> [Transcript.ToolCall] in
        if case .toolCalls(let calls) = entry { Array(calls) } else { [] }
    }
    // As a session does: with a call that was cut off it carries out none and throws.
    let limit = turn.usage.finishReason == "length" ? options.maximumResponseTokens : nil
    for call in calls { _ = try call.completeArguments(tokenLimit: limit) }
    return calls
}
