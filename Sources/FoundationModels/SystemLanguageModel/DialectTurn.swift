import Foundation
import Inference
import JSON

/// A turn of a model that writes tool calls in its own form: it answers of its own accord, and where it begins to call a tool, the name
/// becomes one of the tools' and the arguments follow the tool's schema.
///
/// Prompt, calls, results and answer are one conversation, so that each generation goes on from what the one before has computed.
struct DialectTurn {
    let dialect: ToolDialect
    let request: LanguageModelExecutorGenerationRequest
    let turn: LocalTurn

    private var isRequired: Bool { request.generationOptions.toolCallingMode?.kind == .required }

    nonisolated(nonsending) func run(_ count: inout LocalTurn.Count) async throws {
        let definitions = request.enabledToolDefinitions
        var prompt = LocalPrompt(dialect: request.transcript, tools: definitions)
        let thoughts = try await turn.think(&prompt, &count)
        if !isRequired, try await answers(&prompt, &count) { return }

        // What the opener began is written whole, as the template has it.
        prompt.answer.append(.init(text: dialect.opening, isOfTemplate: true))
        var calls: [LocalTurn.Call] = []
        var known: [String: [JSONValue]] = [:]
        if !isRequired {
            for definition in definitions {
                known[definition.name] = prompt.messages.argumentsSinceLastPrompt(of: definition.name)
            }
        }
        let greedy = GenerationOptions(
            samplingMode: .greedy, maximumResponseTokens: request.generationOptions.maximumResponseTokens)
        while true {
            let names = definitions.map(\.name)
            let name =
                names.count == 1 ? names[0] : try await turn.generate(prompt, .choice(names), greedy, &count).text
            guard let definition = definitions.first(where: { $0.name == name }) else { break }
            prompt.answer.append(.init(text: name, isOfTemplate: false))
            prompt.answer.append(.init(text: dialect.middle, isOfTemplate: true))
            let arguments = try await turn.generate(prompt, .schema(definition.parameters), greedy, &count)
            prompt.answer.append(.init(text: arguments.text, isOfTemplate: false))
            guard let value = try? JSONValue(parsing: arguments.text) else {
                calls.append(LocalTurn.Call(name: name, arguments: arguments.text, tokenCount: arguments.tokenCount))
                // The session, which carries calls out, says what is wrong with it.
                count.wasCut = arguments.wasCut
                break
            }
            if known[name, default: []].contains(value) { break }
            known[name, default: []].append(value)
            calls.append(LocalTurn.Call(name: name, arguments: arguments.text, tokenCount: arguments.tokenCount))
            guard calls.count < ChatTool.largestRound, try await goesOn(&prompt, &count) else { break }
        }
        // A model that asks for what it has just been given is to answer.
        if calls.isEmpty { return try await turn.answer(&count, after: thoughts) }
        await turn.send(calls, count)
    }

    /// Lets the model answer until it begins to call a tool. Text before a call is part of the response.
    ///
    /// - Returns: Whether it answered to the end.
    private nonisolated(nonsending) func answers(
        _ prompt: inout LocalPrompt, _ count: inout LocalTurn.Count
    ) async throws -> Bool {
        let generation = LocalGeneration(
            prompt: prompt, constraint: .none, options: turn.answerOptions(count))
        var text = ""
        var sent = text.startIndex
        var isCall = false
        let before = count
        var pendingTokens = 0
        for try await event in turn.backend.generate(generation) {
            switch event {
            case .promptProcessed(let total, let cached):
                count.input += total
                count.cached += cached
            case .text(let piece, let tokens):
                count.output += tokens
                pendingTokens += tokens
                let offset = text.utf8.distance(from: text.startIndex, to: sent)
                text += piece
                sent = text.utf8.index(text.startIndex, offsetBy: offset)
                switch verdict(on: text, from: sent) {
                case .call(let start):
                    isCall = true
                    let spoken = text[..<start]
                    // White space before a call is the template's.
                    guard spoken.contains(where: { !$0.isWhitespace }) else { break }
                    if start > sent {
                        await turn.send(text: String(text[sent..<start]), tokenCount: pendingTokens)
                        pendingTokens = 0
                    }
                    prompt.answer.append(.init(text: String(spoken), isOfTemplate: false))
                case .text(let end):
                    // White space is no answer yet.
                    guard end > sent, text[..<end].contains(where: { !$0.isWhitespace }) else { break }
                    await turn.send(text: String(text[sent..<end]), tokenCount: pendingTokens)
                    pendingTokens = 0
                    sent = end
                }
            case .finished(let tokens, let wasCut):
                count.output = before.output + tokens
                count.wasCut = wasCut
            }
            if isCall { break }
        }
        try Task.checkCancellation()
        guard !isCall else { return false }
        if sent < text.endIndex { await turn.send(text: String(text[sent...]), tokenCount: pendingTokens) }
        await turn.report(count)
        return true
    }

    private enum Verdict {
        /// A call begins here.
        case call(String.Index)
        /// Up to here it is text; what follows may become a call.
        case text(String.Index)
    }

    /// What an answer is so far, of which all before an index has been judged.
    private func verdict(on text: String, from sent: String.Index) -> Verdict {
        let unsent = text[sent...]
        guard let call = unsent.range(of: dialect.opener) else {
            return .text(text.index(text.endIndex, offsetBy: -unsent.heldBack(for: dialect.opener)))
        }
        // Where calls are bare JSON, an answer in JSON begins alike: only what begins the answer and names a tool is a call.
        guard dialect.opener.first == "{" || dialect.opener.first == "[" else { return .call(call.lowerBound) }
        guard text[..<call.lowerBound].allSatisfy(\.isWhitespace) else { return .text(text.endIndex) }
        let rest = text[call.upperBound...]
        let names = request.enabledToolDefinitions.map { "\"\($0.name)\"" }
        if names.contains(where: { rest.contains($0) }) { return .call(call.lowerBound) }
        let longest = names.map(\.count).max() ?? 0
        return .text(rest.count > longest + 8 ? text.endIndex : call.lowerBound)
    }

    /// Whether the model calls another tool in the same turn. If it does, the prompt goes on to where the name stands.
    private nonisolated(nonsending) func goesOn(
        _ prompt: inout LocalPrompt, _ count: inout LocalTurn.Count
    ) async throws -> Bool {
        guard let between = dialect.between else { return false }
        let common = between.commonPrefix(with: dialect.ending, options: .literal)
        var asking = prompt
        asking.answer.append(.init(text: common, isOfTemplate: true))
        let text = try await turn.generate(
            asking, .none, GenerationOptions(samplingMode: .greedy, maximumResponseTokens: 3), &count
        ).text
        // What ends a turn is often a control token, of which no text is seen. Models vary in white space.
        let next = between.dropFirst(common.count).filter { !$0.isWhitespace }
        let end = dialect.ending.dropFirst(common.count).filter { !$0.isWhitespace }
        let said = text.filter { !$0.isWhitespace }
        guard said.commonPrefix(with: next).count > said.commonPrefix(with: end).count else { return false }
        prompt.answer.append(.init(text: between, isOfTemplate: true))
        return true
    }
}

extension Substring {
    /// How many characters at the end may be the beginning of a text.
    fileprivate func heldBack(for text: String) -> Int {
        for length in stride(from: Swift.min(count, text.count), to: 0, by: -1) where text.hasPrefix(suffix(length)) {
            return length
        }
        return 0
    }
}
