import Foundation
import GuidedGeneration
import Inference
import JSON
import Tokenizers

/// One answer to a chat completion request: perhaps calls of tools, otherwise text, behind thoughts where the model thinks in tags.
///
/// Everything that can be wrong with the request is found in the initialiser, before anything is computed.
struct ChatAnswer: Sendable {
    private let engine: Engine
    private let adapter: Adapter?
    private let request: ChatCompletionRequest
    /// The prompt of the answer in text, or of the thoughts before it.
    private let prompt: [TokenID]
    /// The most tokens of thoughts; nil: there are none.
    private let thinkingBudget: Int?
    private let grammar: Grammar?
    private let toolGrammars: [String: ArgumentsGrammar]

    private struct ArgumentsGrammar: Sendable {
        var grammar: Grammar
        /// Whether it is that of a list with the arguments of each call.
        var isList: Bool
    }

    init(
        _ request: ChatCompletionRequest, _ engine: Engine, adapter: Adapter?, _ grammars: GrammarCache
    ) throws(APIError) {
        self.engine = engine
        self.adapter = adapter
        self.request = request
        var schema: JSONValue?
        switch request.format {
        case .text: grammar = nil
        case .object: grammar = try grammars.schema(["type": "object"], path: "response_format")
        case .schema(let value):
            schema = value
            grammar = try grammars.schema(value, path: "response_format.json_schema.schema")
        }
        var toolGrammars: [String: ArgumentsGrammar] = [:]
        if request.toolChoice != .none {
            // A named function is called once.
            let isSingle: Bool = if case .function = request.toolChoice { true } else { !request.allowsParallelCalls }
            for (index, tool) in request.tools.enumerated() {
                let list = isSingle ? nil : tool.listSchema
                toolGrammars[tool.name] = ArgumentsGrammar(
                    grammar: try grammars.schema(
                        list ?? tool.parameters, path: "tools[\(index)].function.parameters"),
                    isList: list != nil)
            }
        }
        self.toolGrammars = toolGrammars
        thinkingBudget = engine.thinking == nil ? nil : request.thinkingBudget
        do {
            prompt = try engine.tokens(
                of: request.messages.answering(schema: schema), thinks: request.thinkingBudget != nil)
        } catch {
            throw Self.error(error)
        }
        guard prompt.count < engine.contextSize else {
            throw Self.error(
                InferenceError.contextSizeExceeded(tokenCount: prompt.count + 1, contextSize: engine.contextSize))
        }
    }

    /// Makes the answer. Ends with `finished` or `failed`, unless the task is cancelled.
    func run(_ number: Int, _ send: @Sendable (AnswerEvent) -> Void) async {
        var usage = AnswerUsage()
        do {
            switch request.toolChoice == .none ? .none : try await call(number, &usage, send) {
            case .made: return send(.finished(AnswerEnd(reason: .toolCalls, usage: usage)))
            case .cutShort: return send(.finished(AnswerEnd(reason: .length, usage: usage)))
            case .none: break
            }
            let thoughts = try await think(number, &usage, send)
            var generation = GenerationRequest(
                prompt: prompt + thoughts, sampling: request.parameters.sampling(of: number),
                maximumTokens: ThoughtReader.remainder(
                    of: request.parameters.maximumTokens, after: usage.reasoning),
                matcher: grammar.map { Matcher($0, trie: engine.tokenTrie) }, stopStrings: request.parameters.stops)
            generation.logprobCount = request.logprobCount
            generation.adapter = adapter
            let reason = try await engine.stream(generation, &usage, send)
            send(.finished(AnswerEnd(reason: reason, usage: usage)))
        } catch is CancellationError {
            // Nobody is there to be told.
        } catch {
            send(.failed(Self.error(error)))
        }
    }

    // MARK: Thinking

    /// Lets a model that thinks in tags do so, as the request's sampling has it; nothing else of the request binds thoughts.
    ///
    /// - Returns: What the answer goes on from: the thoughts, closed.
    private func think(
        _ number: Int, _ usage: inout AnswerUsage, _ send: @Sendable (AnswerEvent) -> Void
    ) async throws -> [TokenID] {
        guard let thinkingBudget else { return [] }
        var reader = ThoughtReader(budget: thinkingBudget, answerLimit: request.parameters.maximumTokens)
        var generation = GenerationRequest(
            prompt: prompt, sampling: request.parameters.sampling(of: number), maximumTokens: reader.budget)
        generation.adapter = adapter
        var total: Int?
        func tell(_ pieces: [ThoughtReader.Piece]) {
            for piece in pieces { send(.thought(piece.text)) }
        }
        thinking: for try await event in engine.generate(generation) {
            switch event {
            case .promptProcessed(let total, let cached):
                usage.prompt += total
                usage.cached += cached
                reader.promptProcessed(tokenCount: total, contextSize: engine.contextSize)
            case .text(let text, let count):
                tell(reader.append(text, tokenCount: count))
                if reader.isComplete { break thinking }
            case .finished(_, let counts): total = counts.generatedTokens
            case .logprobs: break
            }
        }
        try Task.checkCancellation()
        tell(reader.finish(tokenCount: total))
        usage.completion += reader.tokenCount
        usage.reasoning += reader.tokenCount
        return engine.tokens(ofThoughts: reader.text)
    }

    // MARK: Tools

    private enum Calls { case none, made, cutShort }

    /// Lets the model call a tool, several times where that is allowed.
    private func call(
        _ number: Int, _ usage: inout AnswerUsage, _ send: @Sendable (AnswerEvent) -> Void
    ) async throws -> Calls {
        let prompt = ToolChoicePrompt(request.messages, tools: request.tools)
        guard let tool = try await choose(prompt, &usage), let grammar = toolGrammars[tool.name] else { return .none }
        // A model that asks for what it has just been given is to answer.
        var known = isOptional ? request.messages.argumentsSinceLastPrompt(of: tool.name) : []
        let isStreamed = known.isEmpty && !grammar.isList
        func begin() -> AnswerEvent { .toolCall(id: "call_" + Identifiers.make(), name: tool.name) }
        if isStreamed { send(begin()) }

        var generation = GenerationRequest(
            prompt: try engine.tokens(of: prompt.arguments(of: tool, asList: grammar.isList), thinks: false),
            sampling: request.parameters.choosesSampling ? request.parameters.sampling(of: number) : .greedy,
            maximumTokens: request.parameters.maximumTokens,
            matcher: Matcher(grammar.grammar, trie: engine.tokenTrie))
        generation.adapter = adapter
        var text = ""
        var isWhole = true
        for try await event in engine.generate(generation) {
            switch event {
            case .text(let piece, _):
                text += piece
                if isStreamed { send(.toolArguments(piece)) }
            case .finished(let end, let tokens):
                usage.add(tokens)
                isWhole = end != .maximumTokens
            case .promptProcessed, .logprobs: break
            }
        }
        try Task.checkCancellation()
        guard isWhole else { return .cutShort }
        if isStreamed { return .made }
        guard let value = try? JSONValue(parsing: text) else { return .cutShort }
        var isMade = false
        // The same call twice is one.
        for arguments in grammar.isList ? value.arrayValue ?? [] : [value] where !known.contains(arguments) {
            known.append(arguments)
            isMade = true
            send(begin())
            send(.toolArguments(arguments.text(spaced: true)))
        }
        return isMade ? .made : .none
    }

    /// Whether the model may answer without a call.
    private var isOptional: Bool { request.toolChoice == .automatic }

    /// The tool that the model wants to call; nil when it wants none.
    private func choose(_ prompt: ToolChoicePrompt, _ usage: inout AnswerUsage) async throws -> ChatTool? {
        if case .function(let name) = request.toolChoice { return request.tools.first { $0.name == name } }
        let names = request.tools.map(\.name) + (isOptional ? [prompt.none] : [])
        if names.count == 1 { return request.tools.first }
        var generation = GenerationRequest(
            prompt: try engine.tokens(of: prompt.choice, thinks: false),
            matcher: Matcher(try Grammar.choice(names), trie: engine.tokenTrie))
        generation.adapter = adapter
        var name = ""
        for try await event in engine.generate(generation) {
            switch event {
            case .text(let text, _): name += text
            case .finished(_, let tokens): usage.add(tokens)
            case .promptProcessed, .logprobs: break
            }
        }
        try Task.checkCancellation()
        return request.tools.first { $0.name == name }
    }

    // MARK: Errors

    static func error(_ error: any Error) -> APIError {
        switch error {
        case let error as APIError: error
        case InferenceError.contextSizeExceeded(let count, let size):
            .invalid(
                "messages", code: "context_length_exceeded",
                "This model's context has \(size) tokens; the request needs \(count). Shorten it.")
        case InferenceError.promptTooLong(let least, let size):
            .invalid(
                "messages", code: "context_length_exceeded",
                "This model's context has \(size) tokens; the request needs at least \(least). Shorten it.")
        case InferenceError.template(let error):
            .invalid("messages", code: "invalid_value", "The model's chat template refuses these messages: \(error).")
        case InferenceError.invalidToken(let token, let size):
            .invalid(
                "prompt", code: "invalid_value", "The prompt has the token \(token); the vocabulary has \(size).")
        case InferenceError.emptyPrompt: .invalid("prompt", code: "invalid_value", "The prompt is empty.")
        default: .failure("The model failed: \(error).")
        }
    }
}

extension Engine {
    /// Generates and tells; a context that becomes full ends a text that has begun as its maximum does.
    func stream(
        _ request: GenerationRequest, _ usage: inout AnswerUsage, _ send: @Sendable (AnswerEvent) -> Void
    ) async throws -> AnswerEnd.Reason {
        var reason = AnswerEnd.Reason.stop
        var logprobs: [TokenLogprobs] = []
        var counted = GenerationUsage(promptTokens: 0, cachedTokens: 0, generatedTokens: 0, forcedTokens: 0)
        do {
            for try await event in generate(request) {
                switch event {
                case .promptProcessed(let total, let cached):
                    counted.promptTokens = total
                    counted.cachedTokens = cached
                case .text(let text, let count):
                    counted.generatedTokens += count
                    if !text.isEmpty || !logprobs.isEmpty { send(.text(text, logprobs)) }
                    logprobs = []
                case .logprobs(let next): logprobs += next
                case .finished(let end, let total):
                    counted = total
                    reason = end == .maximumTokens ? .length : .stop
                }
            }
        } catch InferenceError.contextSizeExceeded where counted.generatedTokens > 0 {
            reason = .length
        }
        try Task.checkCancellation()
        usage.add(counted)
        return reason
    }
}

enum Identifiers {
    /// 24 random letters and digits.
    static func make() -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        return String((0..<24).map { _ in letters.randomElement()! })
    }
}
