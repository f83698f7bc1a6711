/// Writes what one request did into the trace: its prompt, its tokens, its masks and how fast it was.
final class RequestRecorder {
    enum Ending {
        case reason(FinishReason)
        case prewarmed
        case failed(any Error)
    }

    private let trace: Trace
    private let track: Trace.Track
    private let isGuided: Bool
    private let start: Trace.Time
    private var promptEnd: Trace.Time?
    private var isFinished = false

    init(_ trace: Trace, isPrewarm: Bool, isGuided: Bool) {
        self.trace = trace
        self.isGuided = isGuided
        track = trace.track(isPrewarm ? "prewarm" : "request")
        start = trace.now
    }

    var now: Trace.Time { trace.now }

    func promptProcessed(_ usage: GenerationUsage) {
        promptEnd = trace.now
        let computed = usage.promptTokens - usage.cachedTokens
        trace.span(
            "prefill", .prefill, from: start, to: promptEnd, on: track,
            [
                ("prompt", .init(usage.promptTokens)), ("cached", .init(usage.cachedTokens)),
                ("tokensPerSecond", rate(computed, from: start, to: promptEnd!)),
            ])
    }

    func masked(since time: Trace.Time) { trace.span("mask", .mask, from: time, on: track) }

    func finished(_ ending: Ending, _ usage: GenerationUsage) {
        guard !isFinished else { return }
        isFinished = true
        let end = trace.now
        let prompt = Double(max(1, usage.promptTokens))
        var arguments: [(String, Trace.Argument)] = [
            ("prompt", .init(usage.promptTokens)), ("cached", .init(usage.cachedTokens)),
            ("cachedShare", .init(Double(usage.cachedTokens) / prompt)),
            ("generated", .init(usage.generatedTokens)), ("forced", .init(usage.forcedTokens)),
        ]
        if let promptEnd, usage.generatedTokens > 0 {
            let speed = rate(usage.generatedTokens, from: promptEnd, to: end)
            trace.span(
                "decode", .decode, from: promptEnd, to: end, on: track,
                [("generated", .init(usage.generatedTokens)), ("tokensPerSecond", speed)])
            arguments.append(("tokensPerSecond", speed))
        }
        let name =
            switch ending {
            case .reason(.endOfText): "end of text"
            case .reason(.stopString): "stop string"
            case .reason(.constraintSatisfied): "constraint satisfied"
            case .reason(.maximumTokens): "maximum of tokens"
            case .prewarmed: "prewarmed"
            case .failed(let error): "\(error)"
            }
        arguments.append(("end", .init(name)))
        trace.span("request", .request, from: start, to: end, on: track, arguments)
        if case .reason(.maximumTokens) = ending, isGuided {
            trace.note(
                "A guided answer was cut off at its maximum of \(usage.generatedTokens) tokens: its JSON is not whole.",
                .request, on: track)
        }
        trace.flush()
    }

    private func rate(_ count: Int, from start: Trace.Time, to end: Trace.Time) -> Trace.Argument {
        .init(Double(count) / max(1e-9, Trace.seconds(from: start, to: end)))
    }
}
