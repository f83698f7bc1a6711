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
    private var costs = StepCosts()

    /// The tokens of prompts that a step takes while others decode, so that their streams do not stall.
    private static let prefillBatchBesideDecoding = 64
    /// Beside more tokens of one request, such as a prompt, no drafts are tried.
    private static let mostTokensBesideDraft = 8
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
            transformer.configuration, cacheType: options.cacheType, contextSize: contextSize,
            limit: options.cachedTokenLimit ?? contextSize, snapshots: snapshots, trace: trace)
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
            if isBeingComputed(waiting[index].request) {
                index += 1
            } else {
                begin(waiting.remove(at: index))
            }
        }
    }

    /// Whether a request that is being computed has a beginning in common with a prompt which it has not come to the end
    /// of: waiting for it is better than computing the same beside it.
    private func isBeingComputed(_ request: GenerationRequest) -> Bool {
        let prompt = request.prompt
        let adapter = request.adapter?.digest
        let computing = active.filter { !$0.hasPrompt && $0.sequence.adapter == adapter }
        guard !computing.isEmpty else { return false }
        let common = computing.map { generation in
            zip(generation.job.request.prompt, prompt).prefix { $0 == $1 }.count
        }.max()!
        return min(common, prompt.count - 1) >= prefixes.knownTokens(prompt, adapter: adapter) + Self.leastSharedTokens
    }

    private func begin(_ job: GenerationJob) {
        let request = job.request
        let count = request.prompt.count
        do throws(InferenceError) {
            let begun = try prefixes.begin(
                request.prompt, adapter: request.adapter?.digest, most: request.isPrewarm ? count : count - 1,
                capacity: count + (request.isPrewarm ? 0 : min(request.maximumTokens ?? 256, contextSize)),
                isCancelled: { job.isCancelled })
            guard let sequence = begun else { return job.finish(throwing: CancellationError()) }
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

    /// What one request has in a step.
    private struct Share {
        let generation: Generation
        /// How many of its pending tokens are computed.
        let count: Int
        /// Guessed tokens behind them.
        let draft: [TokenID]

        /// Whether it gets a token from the step.
        let chooses: Bool
        var rowCount: Int { count + draft.count }
        /// How many of its rows have their output computed.
        var outputCount: Int { chooses ? 1 + draft.count : 0 }
    }

    /// One step of the model for all active requests.
    private func step() {
        let start = DispatchTime.now().uptimeNanoseconds
        let shares = makeShares()
        let batch = makeBatch(shares)
        let isCancelled = { [active] in active.contains { $0.job.isCancelled } }
        do throws(InferenceError) {
            for share in shares where share.rowCount > 0 {
                let sequence = share.generation.sequence
                let used = sequence.tokens.count
                guard
                    try sequence.cache.reserve(
                        used + share.rowCount, used: used, limit: contextSize, isCancelled: isCancelled)
                else { return }
            }
            guard try transformer.step(batch, isCancelled: isCancelled) else { return }
            let choosing = shares.filter(\.chooses)
            for share in shares where share.count > 0 {
                let generation = share.generation
                let hadPrompt = generation.hasPrompt
                generation.computed(share.count)
                if !hadPrompt, generation.hasPrompt { prefixes.index(generation.sequence) }
                finishIfPrewarmed(generation)
            }
            try choose(choosing)
            let isPrefill = shares.contains { $0.count > 1 }
            if !isPrefill {
                costs.note(
                    rows: batch.rows.count, seconds: Double(DispatchTime.now().uptimeNanoseconds - start) * 1e-9)
            }
            trace?.span(
                isPrefill ? "prefill step" : "decode step", isPrefill ? .prefill : .decode, from: start,
                [
                    ("tokens", .init(batch.rows.count)), ("requests", .init(shares.count { $0.count > 0 })),
                    ("drafted", .init(shares.reduce(0) { $0 + $1.draft.count })),
                ])
        } catch {
            for generation in active { generation.fail(error) }
        }
        removeFinished()
    }

    /// Shares a step out among the active requests.
    private func makeShares() -> [Share] {
        let isDecoding = active.contains { $0.pending.count == 1 }
        let isPrefilling = active.contains { $0.pending.count > 1 }
        var budget =
            isDecoding && isPrefilling
            ? min(options.prefillBatch, Self.prefillBatchBesideDecoding) : options.prefillBatch
        let counts = active.map { generation in
            // A single token is always taken, so that nobody waits for a prompt of another.
            let count = generation.pending.count == 1 ? 1 : min(generation.pending.count, budget)
            budget = max(0, budget - count)
            return count
        }
        // Beside prompts, which are worth more, nothing is tried.
        let isTrying = counts.allSatisfy { $0 <= Self.mostTokensBesideDraft }
        var rows = counts.reduce(0, +)
        return zip(active, counts).map { generation, count in
            var draft: [TokenID] = []
            if isTrying, count > 0, count == generation.pending.count {
                draft = generation.draft(rows: rows, others: counts.count { $0 > 0 } - 1, costs)
                rows += draft.count
            }
            return Share(
                generation: generation, count: count, draft: draft,
                chooses: count > 0 && count == generation.pending.count && !generation.job.request.isPrewarm)
        }
    }

    private func makeBatch(_ shares: [Share]) -> Batch {
        var batch = Batch()
        for share in shares {
            let sequence = share.generation.sequence
            let tokens = share.generation.pending.prefix(share.count) + share.draft
            let firstOutput = share.rowCount - share.outputCount
            for (index, token) in tokens.enumerated() {
                batch.append(
                    Batch.Row(
                        token: token, cache: sequence.cache, position: sequence.tokens.count + index,
                        wantsOutput: index >= firstOutput, adapter: share.generation.job.request.adapter))
            }
        }
        return batch
    }

    /// Lets requests choose their next tokens; their outputs stand in the order of the step.
    private func choose(_ shares: [Share]) throws(InferenceError) {
        let vocabularySize = transformer.configuration.vocabularySize
        let choices = shares.map { share in
            Result { () throws(InferenceError) in try share.generation.choice() }
        }
        var index = 0
        var output = 0
        while index < shares.count {
            // Neighbours that need all logits share one product.
            var end = index
            var outputEnd = output
            while end < shares.count, case .success(.all) = choices[end] {
                outputEnd += shares[end].outputCount
                end += 1
            }
            if end > index {
                try computeAll(output..<outputEnd, vocabularySize)
                let sampled = sample(shares[index..<end], choices[index..<end], vocabularySize)
                let first = index
                var row = 0
                while index < end {
                    try choose(
                        shares[index], choices[index], firstOutput: output, computedRow: row,
                        sampled: sampled[index - first])
                    row += shares[index].outputCount
                    output += shares[index].outputCount
                    index += 1
                }
            } else {
                try choose(shares[index], choices[index], firstOutput: output, computedRow: nil)
                output += shares[index].outputCount
                index += 1
            }
        }
    }

    /// Samples from the first computed row of each of some requests. That takes a pass or more over the vocabulary each, and
    /// no request has anything of another, so they are shared out over the threads.
    private func sample(
        _ shares: ArraySlice<Share>, _ choices: ArraySlice<Result<Generation.Choice, InferenceError>>,
        _ vocabularySize: Int
    ) -> [TokenID?] {
        let shares = Array(shares)
        let choices = choices.compactMap { try? $0.get() }
        var row = 0
        let offsets = shares.map { share in
            defer { row += share.outputCount }
            return row * vocabularySize
        }
        var sampled = [TokenID?](repeating: nil, count: shares.count)
        logits.withUnsafeMutableBufferPointer { logits in
            sampled.withUnsafeMutableBufferPointer { sampled in
                transformer.threads.forEach(shares.count) { index in
                    let row = UnsafeMutableBufferPointer(
                        rebasing: logits[offsets[index]..<offsets[index] + vocabularySize])
                    sampled[index] = Self.sample(shares[index].generation, choices[index], row)
                }
            }
        }
        return sampled
    }

    /// Masks the logits of one request and samples from them.
    private static func sample(
        _ generation: Generation, _ choice: Generation.Choice, _ row: UnsafeMutableBufferPointer<Float>
    ) -> TokenID? {
        if case .all = choice { generation.note(UnsafeBufferPointer(row)) }
        if case .all(let mask?) = choice {
            mask.withWords { ck_mask(row.baseAddress, $0.baseAddress, Int64(row.count)) }
        }
        return generation.sample(UnsafeBufferPointer(row), choice)
    }

    /// Lets one request choose its next token, and then as many further ones as its draft has guessed right.
    ///
    /// Each token is chosen from the model's distribution at its place, as it would be without a draft; the draft only says
    /// for which places that is known already. So the text is the same, under greedy and, with the same seed, under
    /// sampling, and without a seed its distribution is.
    /// - Parameters:
    ///   - firstOutput: The output of the step that predicts the next token.
    ///   - computedRow: Where the logits of that output and of the draft's are; nil: they are not computed.
    ///   - sampled: What was sampled from the computed row.
    private func choose(
        _ share: Share, _ first: Result<Generation.Choice, InferenceError>, firstOutput: Int, computedRow: Int?,
        sampled: TokenID? = nil
    ) throws(InferenceError) {
        let generation = share.generation
        let vocabularySize = transformer.configuration.vocabularySize
        var choice = first
        var accepted = 0
        while true {
            switch choice {
            case .failure(let error): generation.fail(error)
            case .success(let wanted):
                if computedRow != nil, accepted == 0 {
                    take(sampled, generation)
                } else if let computedRow {
                    choose(generation, wanted, row: computedRow + accepted, vocabularySize)
                } else if case .few(let tokens) = wanted {
                    try computeFew(firstOutput + accepted, tokens)
                    choose(generation, wanted, 0, tokens.count)
                } else {
                    let output = firstOutput + accepted
                    try computeAll(output..<output + 1, vocabularySize)
                    choose(generation, wanted, row: 0, vocabularySize)
                }
            }
            guard !generation.isFinished else { break }
            accepted += generation.takeComputed(share.draft, from: accepted)
            guard generation.pending.isEmpty else { break }
            choice = Result { () throws(InferenceError) in try generation.choice() }
        }
        generation.drafted(share.draft, accepted: accepted)
    }

    /// Chooses from logits of the whole vocabulary.
    private func choose(_ generation: Generation, _ choice: Generation.Choice, row: Int, _ vocabularySize: Int) {
        let offset = row * vocabularySize
        guard case .few(let tokens) = choice else {
            return choose(generation, choice, offset, vocabularySize)
        }
        // In ascending order, so that none is overwritten before it is read.
        for (index, token) in tokens.enumerated() { logits[offset + index] = logits[offset + Int(token)] }
        choose(generation, choice, offset, tokens.count)
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

    private func choose(_ generation: Generation, _ choice: Generation.Choice, _ offset: Int, _ count: Int) {
        let sampled = logits.withUnsafeMutableBufferPointer { buffer in
            Self.sample(generation, choice, UnsafeMutableBufferPointer(rebasing: buffer[offset..<offset + count]))
        }
        take(sampled, generation)
    }

    private func take(_ sampled: TokenID?, _ generation: Generation) {
        do throws(InferenceError) { try generation.take(sampled) } catch { generation.fail(error) }
    }
}
