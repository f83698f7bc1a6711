import Foundation
import FoundationModels
import JSON

/// `measure prefix-reuse MODEL TOKENS`: two turns of one conversation behind instructions of so many tokens. Prints what the second
/// turn read, what of it was known, and how much of it the first turn had read or written.
func measurePrefixReuse(_ arguments: [String]) async throws {
    guard arguments.count == 2, let count = Int(arguments[1]) else {
        throw MeasureError.usage("prefix-reuse MODEL TOKENS")
    }
    let backend = EngineBackend(file: URL(fileURLWithPath: arguments[0]))
    let model = SystemLanguageModel(backend: backend)
    let options = GenerationOptions(samplingMode: .greedy, maximumResponseTokens: 40)
    let session = LanguageModelSession(
        model: model, instructions: "House \(UUID()). " + (try await filler(count, model)))
    let first = try await session.respond(to: "Which of these rooms is the largest?", options: options)
    let before = Transcript(entries: session.transcript.dropLast())
    let second = try await session.respond(to: "And which is the smallest?", options: options)
    let after = Transcript(entries: session.transcript.dropLast())
    let one = try await backend.tokens(of: LocalPrompt(answering: before))
    let two = try await backend.tokens(of: LocalPrompt(answering: after))
    let common = zip(one, two).prefix { $0 == $1 }.count
    let result: [String: Int] = [
        "first": first.usage.input.totalTokenCount, "answer": first.usage.output.totalTokenCount,
        "second": second.usage.input.totalTokenCount, "cached": second.usage.input.cachedTokenCount,
        // The first prompt stands wholly at the head of the second one, and the answer behind it.
        "common": common == one.count ? common + first.usage.output.totalTokenCount : common,
    ]
    print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
}

/// `measure prewarm MODEL TOKENS ROUNDS`: seconds to the first snapshot behind instructions of so many tokens: never read before,
/// prewarmed, and read by another session before.
func measurePrewarm(_ arguments: [String]) async throws {
    guard arguments.count == 3, let count = Int(arguments[1]), let rounds = Int(arguments[2]) else {
        throw MeasureError.usage("prewarm MODEL TOKENS ROUNDS")
    }
    let model = SystemLanguageModel(file: URL(fileURLWithPath: arguments[0]))
    let text = try await filler(count, model)
    let run = UUID().uuidString
    func session(_ name: String) -> LanguageModelSession {
        // What differs stands in front, so that nothing of one text is known from another, nor from another run.
        LanguageModelSession(model: model, instructions: "House \(run) \(name). \(text)")
    }
    // Loads the model.
    _ = try await secondsToFirstSnapshot(session("zero"), "Which room is the first?")
    var result: [String: [Double]] = [:]
    for round in 1...max(1, rounds) {
        result["cold", default: []].append(
            try await secondsToFirstSnapshot(session("\(round) a"), "Which room is the largest?"))
        let prewarmed = session("\(round) b")
        prewarmed.prewarm()
        // Not before the prewarming has begun.
        try await Task.sleep(for: .milliseconds(200))
        try await Threads.waitUntilIdle()
        result["prewarmed", default: []].append(
            try await secondsToFirstSnapshot(prewarmed, "Which room is the largest?"))
        // A question without a word at its beginning that the one before had, and as long.
        result["free", default: []].append(
            try await secondsToFirstSnapshot(session("\(round) b"), "Name the room that is darkest."))
    }
    print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
}

/// `measure cancel-latency MODEL TOKENS ROUNDS`: cancels a request while its prompt of so many tokens is read, later in each round.
/// Prints the milliseconds until the caller is free and until no thread of the process computes.
func measureCancelLatency(_ arguments: [String]) async throws {
    guard arguments.count == 3, let count = Int(arguments[1]), let rounds = Int(arguments[2]) else {
        throw MeasureError.usage("cancel-latency MODEL TOKENS ROUNDS")
    }
    let model = SystemLanguageModel(file: URL(fileURLWithPath: arguments[0]))
    let text = try await filler(count, model)
    _ = try await LanguageModelSession(model: model).respond(
        to: "Hi", options: GenerationOptions(maximumResponseTokens: 1))
    let clock = ContinuousClock()
    var result: [String: [Double]] = [:]
    for round in 1...max(1, rounds) {
        let session = LanguageModelSession(model: model)
        let request = Task { _ = try await session.respond(to: "House \(UUID()). \(text)") }
        try await Task.sleep(for: .milliseconds(300 * round))
        guard session.isResponding else { throw MeasureError.usage("the prompt was read before it could be cancelled") }
        let start = clock.now
        request.cancel()
        let outcome = await request.result
        let freed = clock.now - start
        guard case .failure(let error) = outcome, error is CancellationError else {
            throw MeasureError.usage("the request was not cancelled: \(outcome)")
        }
        let idle = try await Threads.waitUntilIdle() - start
        result["freed", default: []].append(freed / .milliseconds(1))
        result["idle", default: []].append(idle / .milliseconds(1))
    }
    print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
}

/// A text of about so many tokens, no two sentences alike.
private func filler(_ count: Int, _ model: SystemLanguageModel) async throws -> String {
    func sentences(_ count: Int) -> String {
        (1...max(1, count)).map { number in
            "Room \(number) has \(number * 7 % 13 + 1) windows and \(number * 5 % 11 + 1) doors, and is \(number * 3 % 17 + 2) metres wide."
        }.joined(separator: " ")
    }
    let each = Double(try await model.tokenCount(for: sentences(20))) / 20
    return sentences(Int((Double(count) / each).rounded(.up)))
}

private func secondsToFirstSnapshot(_ session: LanguageModelSession, _ prompt: String) async throws -> Double {
    let clock = ContinuousClock()
    let start = clock.now
    let options = GenerationOptions(samplingMode: .greedy, maximumResponseTokens: 4)
    var first: Duration?
    for try await _ in session.streamResponse(to: prompt, options: options) { first = first ?? (clock.now - start) }
    guard let first else { throw MeasureError.usage("the model answered nothing") }
    return first / .seconds(1)
}

/// The threads of this process as the kernel sees them.
private enum Threads {
    /// Waits until no thread but the caller's has been running for ten looks in a row, and gives the time of the first of them.
    @discardableResult
    static func waitUntilIdle() async throws -> ContinuousClock.Instant {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(300)
        var idleSince: ContinuousClock.Instant?
        var looks = 0
        while clock.now < deadline {
            if try others() == 0 {
                idleSince = idleSince ?? clock.now
                looks += 1
                if looks == 10, let idleSince { return idleSince }
            } else {
                idleSince = nil
                looks = 0
            }
            try await Task.sleep(for: .milliseconds(2))
        }
        throw MeasureError.usage("the process did not become idle within 300 s")
    }

    /// How many threads beside the caller's run or want to.
    private static func others() throws -> Int {
        let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self").split(separator: "/")
            .last
        var count = 0
        for task in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")
        where task != own.map(String.init) {
            // A thread may end between the listing and the reading. The state stands behind the name in parentheses.
            guard let stat = try? String(contentsOfFile: "/proc/self/task/\(task)/stat", encoding: .utf8),
                let name = stat.lastIndex(of: ")")
            else { continue }
            if stat[stat.index(after: name)...].split(separator: " ").first == "R" { count += 1 }
        }
        return count
    }
}
