import GuidedGeneration
import Tokenizers

/// One request while it is computed: what is to be computed next, and what a new token means. Lives on the engine's
/// thread.
final class Generation {
    let job: GenerationJob
    let sequence: CachedSequence
    /// The tokens that come next in the sequence and have not been computed.
    private(set) var pending: ArraySlice<TokenID>
    private(set) var isFinished = false

    private let tokenizer: Tokenizer
    private let contextSize: Int
    private let stopTokens: Set<TokenID>
    private var sampler: Sampler
    private var matcher: Matcher?
    private var detokenizer: StreamingDetokenizer
    private var stopFilter: StopStringFilter
    private var usage: GenerationUsage
    private var hasReportedPrompt = false
    /// Text and tokens that no event has told of.
    private var unsentText = ""
    private var unsentTokens = 0
    /// The tokens that may stand where forced text ends, when the text after it could be part of the same token.
    private var openTokens: [TokenID]?
    private var lastText = ""
    private var logprobRow: LogprobRow?
    private var unsentLogprobs: [TokenLogprobs] = []
    private let recorder: RequestRecorder?
    /// Guesses; nil where none are wanted.
    private var lookup: PromptLookup?
    private var policy = DraftPolicy()
    /// The guess for the tokens that come next, of which the first so many are verified by the step.
    private var guess: (tokens: [TokenID], matched: Int, verified: Int)?

    init(_ job: GenerationJob, _ sequence: CachedSequence, tokenizer: Tokenizer, contextSize: Int, trace: Trace? = nil)
    {
        let request = job.request
        self.job = job
        self.sequence = sequence
        self.tokenizer = tokenizer
        self.contextSize = contextSize
        pending = request.prompt[sequence.tokens.count...]
        stopTokens = (request.endsAtStopTokens ? tokenizer.stopTokens : []).union(request.stopTokens)
        sampler = Sampler(request.sampling)
        matcher = request.matcher
        detokenizer = StreamingDetokenizer(tokenizer)
        stopFilter = StopStringFilter(request.stopStrings)
        usage = GenerationUsage(
            promptTokens: request.prompt.count, cachedTokens: sequence.tokens.count, generatedTokens: 0,
            forcedTokens: 0)
        lookup = request.drafts != .never && !request.isPrewarm ? PromptLookup(request.prompt) : nil
        recorder = trace.map { RequestRecorder($0, isPrewarm: request.isPrewarm, isGuided: request.matcher != nil) }
    }

    /// Takes what the constraint forces at the very beginning.
    func begin() throws(InferenceError) {
        if job.request.isPrewarm {
            if pending.isEmpty { reportPrompt() }
            return
        }
        try takeForcedText()
        // Forced text is computed with the prompt; it is told of with the first token that is chosen.
    }

    // MARK: Computing

    /// Whether all tokens of the prompt are in the cache.
    var hasPrompt: Bool { sequence.tokens.count >= usage.promptTokens }

    /// Notes that the first `count` pending tokens are in the cache.
    func computed(_ count: Int) {
        sequence.tokens.append(contentsOf: pending.prefix(count))
        pending.removeFirst(count)
        if !hasReportedPrompt, hasPrompt { reportPrompt() }
    }

    private func reportPrompt() {
        guard !hasReportedPrompt else { return }
        hasReportedPrompt = true
        recorder?.promptProcessed(usage)
        job.send(.promptProcessed(total: usage.promptTokens, cached: usage.cachedTokens))
    }

    /// Ends a request that only prewarms. Its stream ends when the prefix is kept as it is to be.
    func finishPrewarm() {
        isFinished = true
        recorder?.finished(.prewarmed, usage)
    }

    // MARK: Drafts

    /// The tokens behind the pending ones that the next step is to compute on trial.
    /// - Parameters:
    ///   - rows: The tokens that the step computes anyhow.
    ///   - others: How many other requests get a token from the step.
    func draft(rows: Int, others: Int, _ costs: StepCosts) -> [TokenID] {
        guess = nil
        guard lookup != nil else { return [] }
        let place = sequence.tokens.count + pending.count
        var most = min(DraftPolicy.most, contextSize - place - 1)
        if let maximum = job.request.maximumTokens { most = min(most, maximum - usage.generatedTokens - 1) }
        guard most > 0 else { return [] }
        var (tokens, matched) = lookup!.guess(most: most)
        if let matcher, openTokens == nil {
            // What the constraint forbids cannot come.
            var copy = matcher
            if let wrong = tokens.firstIndex(where: { !copy.accept($0) }) { tokens.removeSubrange(wrong...) }
        }
        if let end = tokens.firstIndex(where: stopTokens.contains) { tokens.removeSubrange(end...) }
        guard !tokens.isEmpty else { return [] }
        let count =
            job.request.drafts == .always
            ? min(tokens.count, DraftPolicy.most)
            : policy.count(matched: matched, available: tokens.count, rows: rows, others: others, costs)
        guess = (tokens, matched, count)
        return Array(tokens[..<count])
    }

    /// Notes that the next pending tokens are those of the draft from `first` on, as far as they are, and so have been
    /// computed. Returns how many.
    func takeComputed(_ draft: [TokenID], from first: Int) -> Int {
        var index = first
        while index < draft.count, pending.first == draft[index] {
            computed(1)
            index += 1
        }
        return index - first
    }

    /// Notes how the guess came out.
    /// - Parameter accepted: How many of the draft's tokens came.
    func drafted(_ draft: [TokenID], accepted: Int) {
        guard let guess else { return }
        self.guess = nil
        if draft.isEmpty {
            // Not verified, but the token that came tells.
            guard let token = pending.first else { return }
            let isRight = token == guess.tokens[0]
            policy.note(matched: guess.matched, right: isRight ? 1 : 0, wasWrong: !isRight)
        } else {
            policy.note(matched: guess.matched, right: accepted, wasWrong: accepted < draft.count && !isFinished)
            recorder?.drafted(draft.count, accepted: accepted)
        }
    }

    // MARK: Choosing

    /// Which logits the next token is chosen from.
    enum Choice {
        /// Those of the whole vocabulary, or of what the mask allows of it.
        case all(TokenMask?)
        /// Those of a few tokens, in ascending order.
        case few([TokenID])
    }

    func choice() throws(InferenceError) -> Choice {
        guard matcher != nil else { return .all(nil) }
        if let openTokens { return .few(openTokens) }
        let start = recorder?.now
        let mask = matcher!.mask()
        if let start { recorder!.masked(since: start) }
        guard mask.count > 0 else { throw .constraintAllowsNothing(text: lastText) }
        if job.request.logprobCount != nil { return .all(mask) }
        if let tokens = mask.tokens { return .few(tokens) }
        return .all(mask)
    }

    /// Notes the logits before a mask changes them, for a request that asks for probabilities.
    func note(_ logits: UnsafeBufferPointer<Float>) {
        if let count = job.request.logprobCount { logprobRow = LogprobRow(logits, count: count) }
    }

    /// Chooses the next token; nil when no logit is finite. Touches nothing that other requests have.
    func sample(_ logits: UnsafeBufferPointer<Float>, _ choice: Choice) -> TokenID? {
        let tokens: [TokenID]? = if case .few(let tokens) = choice { tokens } else { nil }
        return sampler.sample(logits, tokens: tokens)
    }

    /// Takes the token that was chosen. Afterwards either `isFinished`, or there are pending tokens.
    func take(_ sampled: TokenID?) throws(InferenceError) {
        guard let token = sampled else { throw .notFinite }
        openTokens = nil
        if let row = logprobRow, !stopTokens.contains(token) { unsentLogprobs.append(row.choosing(token)) }
        if stopTokens.contains(token) { return finish(.endOfText) }
        if matcher != nil, !matcher!.accept(token) { throw .constraintAllowsNothing(text: lastText) }
        try append(token, isForced: false)
        if !isFinished { try takeForcedText() }
        if !isFinished { send() }
    }

    private func append(_ token: TokenID, isForced: Bool) throws(InferenceError) {
        usage.generatedTokens += 1
        if isForced { usage.forcedTokens += 1 }
        unsentTokens += 1
        pending.append(token)
        lookup?.append(token)
        let text = detokenizer.append(token)
        lastText = String((lastText + text).suffix(80))
        let (released, stop) = stopFilter.append(text)
        unsentText += released
        if let stop { return finish(.stopString(stop)) }
        if let matcher, matcher.isFinished { return finish(.constraintSatisfied) }
        if let maximum = job.request.maximumTokens, usage.generatedTokens >= maximum { return finish(.maximumTokens) }
        let count = usage.promptTokens + usage.generatedTokens
        if count >= contextSize {
            send()
            throw .contextSizeExceeded(tokenCount: count + 1, contextSize: contextSize)
        }
    }

    // MARK: Forced text

    /// Appends the text that the constraint forces, in the tokens that the tokenizer gives it, to be computed in one
    /// batch. A last token inside a word stays open where the text after it may belong to it: then the model chooses
    /// between that token and the longer ones.
    private func takeForcedText() throws(InferenceError) {
        while !isFinished, matcher != nil {
            if matcher!.isFinished { return finish(.constraintSatisfied) }
            if job.request.logprobCount != nil { return }
            let bytes = matcher!.forcedBytes()
            guard !bytes.isEmpty, let tokens = encode(bytes), let last = tokens.last else { return }
            for token in tokens.dropLast() {
                guard matcher!.accept(token) else { return }
                try append(token, isForced: true)
                if isFinished { return }
            }
            let rest = tokenizer.bytes(of: last)
            var candidates: [TokenID] = []
            matcher!.mask().forEach { token in
                if token == last || tokenizer.bytes(of: token).starts(with: rest) { candidates.append(token) }
            }
            guard candidates.contains(last) else { return }
            // Tokens of the same bytes are no choice: the tokenizer's is meant. Nor is one that ends in punctuation, as
            // nearly all of JSON's own text does: tokenizers break there, so a longer token is what the rest of the text
            // would be spelled with only by chance, and asking the model costs a step. A bracket that opens is another
            // matter: models know it together with what comes first inside, and behind a bracket alone they go astray.
            if rest.last.map({ isPunctuation($0) && !isOpening($0) }) == true
                || candidates.allSatisfy({ $0 == last || tokenizer.bytes(of: $0) == rest })
            {
                guard matcher!.accept(last) else { return }
                try append(last, isForced: true)
            } else {
                openTokens = candidates
                return
            }
        }
    }

    /// The tokens of a text that goes on from the text before; nil when the tokenizer cannot spell the bytes as they are.
    private func encode(_ bytes: [UInt8]) -> [TokenID]? {
        // Forced bytes may end inside a character; the whole ones before are enough.
        var end = bytes.count
        while end > 0, String(validating: bytes[..<end], as: UTF8.self) == nil, bytes.count - end < 4 { end -= 1 }
        guard end > 0, let text = String(validating: bytes[..<end], as: UTF8.self) else { return nil }
        let tokens = tokenizer.encode(text, parsesSpecial: false, addsBOS: false)
        // A tokenizer that puts a space before every text spells other bytes.
        guard tokens.flatMap({ tokenizer.bytes(of: $0) }).elementsEqual(bytes[..<end]) else { return nil }
        return tokens
    }

    // MARK: Telling

    private func send() {
        guard !unsentText.isEmpty else { return }
        sendLogprobs()
        job.send(.text(unsentText, tokenCount: unsentTokens))
        unsentText = ""
        unsentTokens = 0
    }

    private func sendLogprobs() {
        guard !unsentLogprobs.isEmpty else { return }
        job.send(.logprobs(unsentLogprobs))
        unsentLogprobs = []
    }

    private func finish(_ reason: FinishReason) {
        isFinished = true
        reportPrompt()
        if case .stopString = reason {
            // What follows the stop string is not part of the text.
        } else {
            let (released, stop) = stopFilter.append(detokenizer.finish())
            unsentText += released
            if stop == nil { unsentText += stopFilter.finish() }
        }
        if unsentTokens > 0, unsentText.isEmpty {
            sendLogprobs()
            job.send(.text("", tokenCount: unsentTokens))
        } else {
            send()
        }
        recorder?.finished(.reason(reason), usage)
        job.send(.finished(reason, usage: usage))
        job.finish()
    }

    func fail(_ error: any Error) {
        isFinished = true
        recorder?.finished(.failed(error), usage)
        job.finish(throwing: error)
    }
}

/// Whether a byte opens an array or an object of JSON.
private func isOpening(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{") }

/// Whether a byte is one of ASCII's punctuation marks and symbols.
private func isPunctuation(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x21...0x2f, 0x3a...0x40, 0x5b...0x60, 0x7b...0x7e: true
    default: false
    }
}
