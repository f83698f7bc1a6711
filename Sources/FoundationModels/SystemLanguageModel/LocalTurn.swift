import Foundation
import Inference
import JSON

/// One turn of the model on this machine: whether to call a tool, which, with what, or the answer.
///
/// Models that keep to the form of calls of their template are left to it (``DialectTurn``). Small models seldom write tool calls in the form that their templates ask for, but they choose well when they are asked to choose:
/// so the choice among the tools and none is one constrained generation, the arguments of all calls of the round are a second one
/// under the tool's schema, and the answer comes from the plain conversation.
struct LocalTurn {
    let request: LanguageModelExecutorGenerationRequest
    let backend: any LocalModelBackend
    let channel: LanguageModelExecutorGenerationChannel

    /// The tokens of all generations of the turn.
    struct Count {
        var input = 0
        var cached = 0
        var output = 0
        /// Whether the answer, or the arguments of a call, ended at the maximum of tokens; nil before the end of an answer.
        var wasCut: Bool?
        /// The tokens of `output` that are thoughts.
        var reasoning = 0

        var usage: LanguageModelExecutorGenerationChannel.Usage {
            .init(
                input: .init(totalTokenCount: input, cachedTokenCount: cached),
                output: .init(totalTokenCount: output, reasoningTokenCount: reasoning))
        }

        /// What the session is told beside the counts.
        var metadata: [String: any ConvertibleToGeneratedContent] {
            wasCut.map { [LanguageModelSession.Usage.finishReasonKey: $0 ? "length" : "stop"] } ?? [:]
        }
    }

    nonisolated(nonsending) func run() async throws {
        var count = Count()
        // An answer under a schema cannot turn into a call half-way, so there the choice comes first.
        if !request.enabledToolDefinitions.isEmpty, request.schema == nil,
            let dialect = try await backend.toolDialect()
        {
            return try await DialectTurn(dialect: dialect, request: request, turn: self).run(&count)
        }
        let calls = try await chooseCalls(&count)
        guard calls.isEmpty else { return await send(calls, count) }
        try await answer(&count)
    }

    // MARK: What the session is told

    nonisolated(nonsending) func send(_ calls: [Call], _ count: Count) async {
        for call in calls {
            await channel.send(
                .toolCalls(
                    action: .toolCall(
                        id: UUID().uuidString, name: call.name,
                        action: .appendArguments(call.arguments, tokenCount: call.tokenCount))))
        }
        await channel.send(
            .toolCalls(
                action: .updateUsage(
                    input: count.usage.input, output: count.usage.output, metadata: count.metadata)))
    }

    nonisolated(nonsending) func send(text: String, tokenCount: Int) async {
        await channel.send(.response(action: .appendText(text, tokenCount: tokenCount)))
    }

    nonisolated(nonsending) func report(_ count: Count) async {
        await channel.send(
            .response(
                action: .updateUsage(
                    input: count.usage.input, output: count.usage.output, metadata: count.metadata)))
    }

    // MARK: The answer

    /// - Parameter thoughts: What the model has thought in this turn; nil: it has not had the opportunity.
    nonisolated(nonsending) func answer(_ count: inout Count, after thoughts: Thoughts? = nil) async throws {
        var prompt = LocalPrompt(answering: request.transcript)
        if let thoughts { prompt.append(thoughts) } else { _ = try await think(&prompt, &count) }
        let generation = LocalGeneration(
            prompt: prompt, constraint: request.schema.map { .schema($0) } ?? .none, options: answerOptions(count))
        let before = count
        for try await event in backend.generate(generation) {
            switch event {
            case .promptProcessed(let total, let cached):
                count.input += total
                count.cached += cached
            case .text(let text, let tokens):
                count.output += tokens
                await send(text: text, tokenCount: tokens)
            case .finished(let tokens, let wasCut):
                count.output = before.output + tokens
                count.wasCut = wasCut
            }
        }
        try Task.checkCancellation()
        await report(count)
    }

    // MARK: Tools

    struct Call {
        var name: String
        var arguments: String
        var tokenCount: Int
    }

    /// What a generation beside the answer has made.
    struct Generated {
        var text = ""
        var tokenCount = 0
        /// Whether it ended at the maximum of its tokens.
        var wasCut = false
    }

    /// The calls that the model wants to make, all of one tool; none when it wants to answer.
    private nonisolated(nonsending) func chooseCalls(_ count: inout Count) async throws -> [Call] {
        let definitions = request.enabledToolDefinitions
        guard !definitions.isEmpty else { return [] }
        let isRequired = request.generationOptions.toolCallingMode?.kind == .required
        let prompt = ToolChoicePrompt(request.transcript, tools: definitions)
        var names = definitions.map(\.name)
        if !isRequired { names.append(prompt.none) }
        let name =
            names.count == 1
            ? names[0]
            : try await generate(
                LocalPrompt(messages: prompt.choice), .choice(names), GenerationOptions(samplingMode: .greedy), &count
            ).text
        guard let definition = definitions.first(where: { $0.name == name }) else { return [] }

        let list = ChatTool.listSchema(of: definition.parameters.enforcedSchema)?.objectValue
        let arguments = try await generate(
            LocalPrompt(messages: prompt.arguments(of: ChatTool(definition), asList: list != nil)),
            .schema(list.map { GenerationSchema(document: $0) } ?? definition.parameters),
            GenerationOptions(
                samplingMode: .greedy, maximumResponseTokens: request.generationOptions.maximumResponseTokens), &count)
        guard let value = try? JSONValue(parsing: arguments.text) else {
            // The session, which carries calls out, says what is wrong with it.
            count.wasCut = arguments.wasCut
            return [Call(name: name, arguments: arguments.text, tokenCount: arguments.tokenCount)]
        }
        // A model that asks for what it has just been given is to answer, and the same call twice in a round is one.
        var known = isRequired ? [] : request.transcript.chatMessages().argumentsSinceLastPrompt(of: name)
        var calls: [Call] = []
        for arguments in list == nil ? [value] : value.arrayValue ?? [] where !known.contains(arguments) {
            known.append(arguments)
            calls.append(Call(name: name, arguments: arguments.text(spaced: true), tokenCount: 0))
        }
        if !calls.isEmpty { calls[0].tokenCount = arguments.tokenCount }
        return calls
    }

    nonisolated(nonsending) func generate(
        _ prompt: LocalPrompt, _ constraint: LocalGeneration.Constraint, _ options: GenerationOptions,
        _ count: inout Count
    ) async throws -> Generated {
        var generated = Generated()
        let generation = LocalGeneration(prompt: prompt, constraint: constraint, options: options)
        for try await event in backend.generate(generation) {
            switch event {
            case .promptProcessed(let total, let cached):
                count.input += total
                count.cached += cached
            case .text(let piece, let tokens):
                generated.text += piece
                generated.tokenCount += tokens
            case .finished(let tokens, let wasCut):
                generated.tokenCount = tokens
                generated.wasCut = wasCut
            }
        }
        try Task.checkCancellation()
        count.output += generated.tokenCount
        return generated
    }
}
