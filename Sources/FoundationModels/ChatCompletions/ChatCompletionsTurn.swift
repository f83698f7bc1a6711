import Foundation
import Inference
import JSON
import Networking

/// One turn of a model behind the Chat Completions protocol: sends the request, and turns what comes into events.
///
/// Nothing is believed: a response that was to follow a schema, and the arguments of each call, are checked when they are whole, and
/// what does not fit is an error.
package struct ChatCompletionsTurn: Sendable {
    private struct Call {
        var id = ""
        var name = ""
        var arguments = ""
        /// Events of the call have been sent.
        var isOpen = false
    }

    private let request: LanguageModelExecutorGenerationRequest
    private let channel: LanguageModelExecutorGenerationChannel
    private let check: StructuredOutputCheck?
    private let toolChecks: [String: StructuredOutputCheck]

    // Kinds of events come interleaved; identifiers keep each in one entry.
    private let responseID = UUID().uuidString
    private let reasoningID = UUID().uuidString
    private let callsID = UUID().uuidString

    private var text = ""
    /// Servers that do not take a model's thoughts out of its text leave that to us.
    private var thinkingTags = ThinkingTags()
    /// Pieces of thoughts, for servers that do not count them.
    private var thoughtCount = 0
    private var refusal = ""
    private var calls: [Int: Call] = [:]
    private var finishReason: String?
    private var usage: ChatCompletionsChunk.Usage?

    /// - Throws: `LanguageModelError.unsupportedGenerationGuide` for a schema that cannot be checked.
    package init(
        _ request: LanguageModelExecutorGenerationRequest, channel: LanguageModelExecutorGenerationChannel
    ) throws {
        self.request = request
        self.channel = channel
        check = try request.schema.map { try StructuredOutputCheck($0, name: $0.name) }
        var toolChecks: [String: StructuredOutputCheck] = [:]
        for tool in request.enabledToolDefinitions {
            toolChecks[tool.name] = try StructuredOutputCheck(tool.parameters, name: tool.name)
        }
        self.toolChecks = toolChecks
    }

    /// - Parameter onHead: Sees the head of the response.
    /// - Throws: `ChatCompletionsFailure` for what goes wrong between the two machines.
    package nonisolated(nonsending) mutating func run(
        with client: ChatCompletionsClient, onHead: (HTTPHead) -> Void = { _ in }
    ) async throws {
        let body = try request.chatCompletionsBody(for: client.endpoint)
        var turn = self
        try await client.stream(body, onHead: onHead) { chunk in
            try await turn.take(chunk)
        }
        try await turn.finish()
        self = turn
    }

    private nonisolated(nonsending) mutating func take(_ chunk: ChatCompletionsChunk) async throws {
        if let reasoning = chunk.reasoning, !reasoning.isEmpty { await take([.thought(reasoning)]) }
        if let piece = chunk.text, !piece.isEmpty { await take(thinkingTags.append(piece)) }
        refusal += chunk.refusal ?? ""
        for piece in chunk.toolCalls { try await take(piece) }
        finishReason = chunk.finishReason ?? finishReason
        usage = chunk.usage ?? usage
    }

    private nonisolated(nonsending) mutating func take(_ piece: ChatCompletionsChunk.ToolCall) async throws {
        guard (0..<1024).contains(piece.index) else {
            throw ChatCompletionsFailure.malformed("a tool call has the index \(piece.index)")
        }
        var call = calls[piece.index] ?? Call()
        if call.id.isEmpty { call.id = piece.id ?? "" }
        // Most servers send the name once and some send it with every piece; very few send it in pieces.
        if let name = piece.name, !call.isOpen || call.name.isEmpty, name != call.name { call.name += name }
        let arguments = piece.arguments ?? ""
        call.arguments += arguments
        if !call.name.isEmpty, !arguments.isEmpty {
            if call.id.isEmpty { call.id = "call_\(UUID().uuidString)" }
            // The first event brings whatever came before the name was known.
            await send(call.isOpen ? arguments : call.arguments, of: call)
            call.isOpen = true
        }
        calls[piece.index] = call
    }

    private nonisolated(nonsending) func send(_ arguments: String, of call: Call) async {
        await channel.send(
            .toolCalls(
                entryID: callsID,
                action: .toolCall(
                    id: call.id, name: call.name, action: .appendArguments(arguments, tokenCount: 1))))
    }

    private nonisolated(nonsending) mutating func take(_ parts: [ThinkingTags.Part]) async {
        for part in parts {
            switch part {
            case .thought(let thought):
                thoughtCount += 1
                await channel.send(.reasoning(entryID: reasoningID, action: .appendText(thought, tokenCount: 1)))
            case .answer(let answer):
                text += answer
                await channel.send(.response(entryID: responseID, action: .appendText(answer, tokenCount: 1)))
            }
        }
    }

    private nonisolated(nonsending) mutating func finish() async throws {
        await take(thinkingTags.finish())
        for (index, call) in calls.sorted(by: { $0.key < $1.key }) {
            guard !call.name.isEmpty else {
                throw ChatCompletionsFailure.malformed("tool call \(index) has no name")
            }
            if !call.isOpen {
                // A tool without parameters may be called with no text at all.
                var call = call
                if call.id.isEmpty { call.id = "call_\(UUID().uuidString)" }
                call.arguments = "{}"
                await send("{}", of: call)
                calls[index] = call
            }
        }
        await sendUsage()
        if calls.isEmpty, !refusal.isEmpty, text.isEmpty {
            throw LanguageModelError.refusal(
                .init(explanation: refusal, debugDescription: "The model declined: \(refusal)"))
        }
        if finishReason == "content_filter" {
            throw LanguageModelError.guardrailViolation(
                .init(debugDescription: "The server's content filter stopped the response."))
        }
        let tokenLimit = request.generationOptions.maximumResponseTokens
        for call in calls.values {
            // What the session does not know as a tool is for the session to refuse.
            _ = try toolChecks[call.name]?.canonicalText(
                of: call.arguments, what: "The arguments of the call of \(call.name)", wasCut: finishReason == "length",
                tokenLimit: tokenLimit)
        }
        if let check, calls.isEmpty {
            let canonical = try check.canonicalText(
                of: text, what: "The response", wasCut: finishReason == "length", tokenLimit: tokenLimit)
            // Only the order of properties can have been wrong; programs see the schema's.
            if let canonical {
                await channel.send(
                    .response(entryID: responseID, action: .replaceTextSegment(canonical, tokenCount: 1)))
                await sendUsage()
            }
        }
    }

    private nonisolated(nonsending) func sendUsage() async {
        guard let usage else { return }
        let input = LanguageModelExecutorGenerationChannel.Usage.Input(
            totalTokenCount: usage.promptTokens, cachedTokenCount: usage.cachedTokens)
        // Servers send about one token at a time.
        let reasoningTokens =
            usage.reasoningTokens > 0 ? usage.reasoningTokens : min(thoughtCount, usage.completionTokens)
        let output = LanguageModelExecutorGenerationChannel.Usage.Output(
            totalTokenCount: usage.completionTokens, reasoningTokenCount: reasoningTokens)
        let metadata: [String: any ConvertibleToGeneratedContent] =
            finishReason.map { [LanguageModelSession.Usage.finishReasonKey: $0] } ?? [:]
        // To the kind of entry that there is: usage alone makes none.
        if calls.isEmpty {
            await channel.send(
                .response(
                    entryID: responseID, action: .updateUsage(input: input, output: output, metadata: metadata)))
        } else {
            await channel.send(
                .toolCalls(
                    entryID: callsID, action: .updateUsage(input: input, output: output, metadata: metadata)))
        }
    }
}
