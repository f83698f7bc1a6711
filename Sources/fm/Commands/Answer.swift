import FoundationModels
import JSON

/// One answer of a model while it comes and when it is there.
struct Answer: Sendable {
    var text = ""
    /// The answer as a JSON value, when it follows a schema.
    var value: JSONValue?
    var usage: LanguageModelSession.Usage?
    /// Seconds until the first text and until the end.
    var firstText: Double? { first?.seconds }
    var total = 0.0
    /// When the first and the last text came, and how many tokens had been written by then.
    private var first: (seconds: Double, tokens: Int)?
    private var last: (seconds: Double, tokens: Int)?

    /// Tokens per second from the first text to the last, nil when there are too few to tell. What was written before, such as
    /// the choice of a tool, counts with neither its tokens nor its time.
    var rate: Double? {
        guard let first, let last, last.tokens > first.tokens, last.seconds > first.seconds else { return nil }
        return Double(last.tokens - first.tokens) / (last.seconds - first.seconds)
    }

    private mutating func noteText(_ usage: LanguageModelSession.Usage, since start: ContinuousClock.Instant) {
        last = (Self.seconds(since: start), usage.output.totalTokenCount)
        first = first ?? last
    }

    /// Asks for text and hands each new piece on.
    static func text(
        _ session: LanguageModelSession, _ prompt: Prompt, _ options: GenerationOptions,
        _ contextOptions: ContextOptions = ContextOptions(), onText: (String) -> Void
    ) async throws -> Answer {
        let start = ContinuousClock.now
        var answer = Answer()
        for try await snapshot in session.streamResponse(
            to: prompt, options: options, contextOptions: contextOptions, metadata: [:])
        {
            // Snapshots are cumulative.
            let shown = answer.text.utf8.count
            if snapshot.content.utf8.count > shown {
                answer.noteText(snapshot.usage, since: start)
                onText(String(decoding: Array(snapshot.content.utf8.dropFirst(shown)), as: UTF8.self))
                answer.text = snapshot.content
            }
            answer.usage = snapshot.usage
        }
        answer.total = seconds(since: start)
        return answer
    }

    /// Asks for JSON that follows a schema. It is handed on whole: half a value is of no use to a reader.
    ///
    /// - Throws: `UnfinishedAnswer` when it was cut off.
    static func json(
        _ session: LanguageModelSession, _ prompt: Prompt, _ schema: GenerationSchema, _ options: GenerationOptions,
        _ contextOptions: ContextOptions = ContextOptions()
    ) async throws -> Answer {
        let start = ContinuousClock.now
        var answer = Answer()
        do {
            for try await snapshot in session.streamResponse(
                to: prompt, schema: schema, options: options,
                contextOptions: ContextOptions(
                    includeSchemaInPrompt: true, reasoningLevel: contextOptions.reasoningLevel), metadata: [:])
            {
                let value = snapshot.rawContent.jsonValue
                // What only tells the tokens of the whole turn is no text.
                if value != answer.value { answer.noteText(snapshot.usage, since: start) }
                answer.value = value
                answer.usage = snapshot.usage
            }
        } catch let error as GeneratedContent.ParsingError where error.isUnfinished {
            answer.total = seconds(since: start)
            answer.value = nil
            answer.text = error.rawContent
            throw UnfinishedAnswer(answer: answer, underlyingError: error)
        }
        answer.total = seconds(since: start)
        answer.text = answer.value?.text(spaced: true) ?? ""
        return answer
    }

    private static func seconds(since start: ContinuousClock.Instant) -> Double {
        let duration = ContinuousClock.now - start
        return Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    }

    /// The answer and what is known about it, as one JSON object.
    /// - Parameter isUnfinished: Whether it is the beginning of a value, which then stands apart, as text.
    func json(model: String, isUnfinished: Bool = false) -> String {
        var object: JSONObject =
            isUnfinished
            ? ["content": .null, "unfinished_content": .string(text), "model": .string(model)]
            : ["content": value ?? .string(text), "model": .string(model)]
        // Null from a model of another server that does not say it.
        object["finish_reason"] = (usage?.finishReason).map(JSONValue.string) ?? .null
        if let usage {
            object["usage"] = [
                "input_tokens": .number(JSONNumber(usage.input.totalTokenCount)),
                "cached_tokens": .number(JSONNumber(usage.input.cachedTokenCount)),
                "output_tokens": .number(JSONNumber(usage.output.totalTokenCount)),
                "reasoning_tokens": .number(JSONNumber(usage.output.reasoningTokenCount)),
            ]
        }
        func milliseconds(_ seconds: Double?) -> JSONValue {
            seconds.map { .number(JSONNumber(Int(($0 * 1000).rounded()))) } ?? .null
        }
        object["timings"] = [
            "first_text_ms": milliseconds(firstText), "total_ms": milliseconds(total),
            "tokens_per_second": rate.flatMap { JSONNumber(($0 * 100).rounded() / 100) }.map(JSONValue.number) ?? .null,
        ]
        return JSONValue.object(object).text(indent: 2)
    }

    /// One line about tokens and time.
    var statistics: String {
        var parts: [String] = []
        if let usage {
            parts.append("prompt \(usage.input.totalTokenCount) tokens (\(usage.input.cachedTokenCount) cached)")
            parts.append("answer \(usage.output.totalTokenCount) tokens")
        }
        if let firstText { parts.append("first text after \(Int((firstText * 1000).rounded())) ms") }
        if let rate { parts.append("\((rate * 10).rounded() / 10) tokens/s") }
        return parts.joined(separator: ", ")
    }
}

/// A typed answer that was cut off, and what came of it, as the JSON text that it is.
struct UnfinishedAnswer: Error {
    var answer: Answer
    var underlyingError: any Error
}
