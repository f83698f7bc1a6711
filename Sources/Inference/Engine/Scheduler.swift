import CKernels
import Dispatch
import Foundation
import GuidedGeneration
import Synchronization
import Tokenizers

/// The engine's thread: takes requests, puts their tokens together into batches, computes them and lets each request
/// choose its next token.
///
/// Requests that decode take part in every step with a token each; prompts are computed in chunks beside them, so that
/// streams keep moving.
final class Scheduler: @unchecked Sendable {
    private struct Inbox {
        var jobs: [GenerationJob] = []
        var isStopped = false
    }

    private let inbox = Mutex(Inbox())
    private let signal = DispatchSemaphore(value: 0)

    // What follows is touched by the engine's thread alone.
    private let transformer: Transformer
    private let tokenizer: Tokenizer
    private let contextSize: Int
    private let options: EngineOptions
    private let prefixes: PrefixStore
    private let trace: Trace?
    private var beginnings = ChangedBeginning()
    private var waiting: [GenerationJob] = []
    private var active: [Generation] = []
    private var logits: [Float] = []

    /// The tokens of prompts that a step takes while others decode, so that their streams do not stall.
    private static let prefillBatchBesideDecoding = 64
    /// A request waits for the prompt of another when it is spared so many tokens.
    private static let leastSharedTokens = 64

    init(
        _ transformer: Transformer, tokenizer: Tokenizer, contextSize: Int, options: EngineOptions,
        snapshots: PrefixSnapshots? = nil, trace: Trace? = nil
    ) {
        self.transformer = transformer
        self.tokenizer = tokenizer
        self.contextSize = contextSize
        self.options = options
        self.trace = trace
        prefixes = PrefixStore(
            transformer.configuration, contextSize: contextSize, limit: options.cachedTokenLimit ?? contextSize,
            snapshots: snapshots, trace: trace)
        let thread = Thread { [self] in run() }
        thread.name = "inference"
        thread.stackSize = 8 << 20
        thread.start()
    }

    // MARK: From any thread

    func submit(_ job: GenerationJob) {
        let isStopped = inbox.withLock { inbox in
            if !inbox.isStopped { inbox.jobs.append(job) }
            return inbox.isStopped
        }
        if isStopped { job.finish(throwing: CancellationError()) } else { wake() }
    }

    func wake() { signal.signal() }

    /// Ends the thread after what it is doing. Requests that are not done end as cancelled.
    func stop() {
        inbox.withLock { $0.isStopped = true }
        wake()
    }

    // MARK: On the engine's thread

    private func run() {
        while true {
            let (arrived, isStopped) = inbox.withLock { inbox in
                defer { inbox.jobs = [] }
                return (inbox.jobs, inbox.isStopped)
            }
            waiting.append(contentsOf: arrived)
            if isStopped { break }
            dropCancelled()
            admit()
            if active.isEmpty {
                signal.wait()
            } else {
                step()
            }
        }
        for job in waiting { job.finish(throwing: CancellationError()) }
        for generation in active { generation.fail(CancellationError()) }
        waiting = []
        active = []
        prefixes.removeAll()
    }

    private func dropCancelled() {
        waiting.removeAll { job in
            guard job.isCancelled else { return false }
            job.finish(throwing: CancellationError())
            return true
        }
        for generation in active where generation.job.isCancelled { generation.fail(CancellationError()) }
        removeFinished()
    }

    private func removeFinished() {
        active.removeAll { generation in
            guard generation.isFinished else { return false }
            prefixes.end(generation.sequence)
            return true
        }
    }

    /// Begins requests in the order of their coming, as many as may be decoded at once.
    private func admit() {
        var index = 0
        while active.count < options.concurrentRequests, index < waiting.count {
            if isBeingComputed(waiting[index].request.prompt) {
                index += 1
            } else {
                begin(waiting.remove(at: index))
            }
        }
    }

    /// Whether a request that is being computed has a beginning in common with a prompt which it has not come to the end
    /// of: waiting for it is better than computing the same beside it.
    private func isBeingComputed(_ prompt: [TokenID]) -> Bool {
        let computing = active.filter { !$0.hasPrompt }
        guard !computing.isEmpty else { return false }
        let common = computing.map { generation in
            zip(generation.job.request.prompt, prompt).prefix { $0 == $1 }.count
        }.max()!
        return min(common, prompt.count - 1) >= prefixes.knownTokens(prompt) + Self.leastSharedTokens
    }

    private func begin(_ job: GenerationJob) {
        let request = job.request
        let count = request.prompt.count
        do throws(InferenceError) {
            let sequence = try prefixes.begin(
                request.prompt, most: request.isPrewarm ? count : count - 1,
                capacity: count + (request.isPrewarm ? 0 : min(request.maximumTokens ?? 256, contextSize)))
            if let trace, let note = beginnings.note(request.prompt, cached: sequence.tokens.count) {
                trace.note(note, .cache)
            }
            let generation = Generation(
                job, sequence, tokenizer: tokenizer, contextSize: contextSize, trace: trace)
            active.append(generation)
            do throws(InferenceError) { try generation.begin() } catch { generation.fail(error) }
            finishIfPrewarmed(generation)
        } catch {
            job.finish(throwing: error)
        }
        removeFinished()
    }

    private func finishIfPrewarmed(_ generation: Generation) {
        guard generation.job.request.isPrewarm, !generation.isFinished, generation.pending.isEmpty else { return }
        generation.finishPrewarm()
        prefixes.save(generation.sequence) { [job = generation.job] in job.finish() }
    }

    /// One step of the model for all active requests.
    private func step() {
        let start = trace?.now
        let (batch, counts) = makeBatch()
        let isCancelled = { [active] in active.contains { $0.job.isCancelled } }
        do throws(InferenceError) {
            for (generation, count) in zip(active, counts) where count > 0 {
                let used = generation.sequence.tokens.count
                try generation.sequence.cache.reserve(used + count, used: used, limit: contextSize)
            }
            guard try transformer.step(batch, isCancelled: isCancelled) else { return }
            var choosing: [Generation] = []
            for (generation, count) in zip(active, counts) where count > 0 {
                let hadPrompt = generation.hasPrompt
                generation.computed(count)
                if !hadPrompt, generation.hasPrompt { prefixes.index(generation.sequence) }
                if generation.job.request.isPrewarm {
                    finishIfPrewarmed(generation)
                } else if generation.pending.isEmpty {
                    choosing.append(generation)
                }
            }
            if let trace, let start {
                let isPrefill = counts.contains { $0 > 1 }
                trace.span(
                    isPrefill ? "prefill step" : "decode step", isPrefill ? .prefill : .decode, from: start,
                    [("tokens", .init(batch.rows.count)), ("requests", .init(counts.count { $0 > 0 }))])
            }
            try choose(choosing)
        } catch {
            for generation in active { generation.fail(error) }
        }
        removeFinished()
    }

    /// The next tokens of all active requests, and how many of each.
    private func makeBatch() -> (Batch, counts: [Int]) {
        let isDecoding = active.contains { $0.pending.count == 1 }
        let isPrefilling = active.contains { $0.pending.count > 1 }
        var budget =
            isDecoding && isPrefilling
            ? min(options.prefillBatch, Self.prefillBatchBesideDecoding) : options.prefillBatch
        var batch = Batch()
        let counts = active.map { generation in
            // A single token is always taken, so that nobody waits for a prompt of another.
            let count = generation.pending.count == 1 ? 1 : min(generation.pending.count, budget)
            budget = max(0, budget - count)
            let isLast = count == generation.pending.count
            let first = generation.sequence.tokens.count
            for (index, token) in generation.pending.prefix(count).enumerated() {
                batch.append(
                    Batch.Row(
                        token: token, cache: generation.sequence.cache, position: first + index,
                        wantsOutput: isLast && index == count - 1 && !generation.job.request.isPrewarm))
            }
            return count
        }
        return (batch, counts)
    }

    /// Lets requests choose their next tokens; they stand in the order of the outputs of the step.
    private func choose(_ generations: [Generation]) throws(InferenceError) {
        let vocabularySize = transformer.configuration.vocabularySize
        let choices = generations.map { generation in
            Result { () throws(InferenceError) in try generation.choice() }
        }
        var output = 0
        while output < generations.count {
            // Neighbours that need all logits share one product.
            var end = output
            while end < generations.count, case .success(.all) = choices[end] { end += 1 }
            if end > output {
                try computeAll(output..<end, vocabularySize)
                for index in output..<end {
                    choose(generations[index], choices[index], (index - output) * vocabularySize, vocabularySize)
                }
                output = end
            } else {
                if case .success(.few(let tokens)) = choices[output] {
                    try computeFew(output, tokens)
                    choose(generations[output], choices[output], 0, tokens.count)
                } else if case .failure(let error) = choices[output] {
                    generations[output].fail(error)
                }
                output += 1
            }
        }
    }

    private func reserveLogits(_ count: Int) {
        if logits.count < count { logits = [Float](repeating: 0, count: count) }
    }

    private func computeAll(_ outputs: Range<Int>, _ vocabularySize: Int) throws(InferenceError) {
        reserveLogits(outputs.count * vocabularySize)
        let result = logits.withUnsafeMutableBufferPointer { buffer in
            Result { () throws(InferenceError) in
                try transformer.computeLogits(outputs, into: buffer.baseAddress!)
            }
        }
        try result.get()
    }

    private func computeFew(_ output: Int, _ tokens: [TokenID]) throws(InferenceError) {
        // A single token needs no logit.
        guard tokens.count > 1 else {
            reserveLogits(1)
            logits[0] = 0
            return
        }
        reserveLogits(tokens.count)
        let result = logits.withUnsafeMutableBufferPointer { buffer in
            Result { () throws(InferenceError) in
                try transformer.computeLogits(output, of: tokens, into: buffer.baseAddress!)
            }
        }
        try result.get()
    }

    private func choose(
        _ generation: Generation, _ choice: Result<Generation.Choice, InferenceError>, _ offset: Int, _ count: Int
    ) {
        guard case .success(let choice) = choice else { return }
        logits.withUnsafeMutableBufferPointer { buffer in
            let row = UnsafeMutableBufferPointer(rebasing: buffer[offset..<offset + count])
            if case .all = choice { generation.note(UnsafeBufferPointer(row)) }
            if case .all(let mask?) = choice {
                mask.withWords { ck_mask(row.baseAddress, $0.baseAddress, Int64(count)) }
            }
            do throws(InferenceError) {
                try generation.choose(UnsafeBufferPointer(row), choice)
            } catch {
                generation.fail(error)
            }
        }
    }
}
