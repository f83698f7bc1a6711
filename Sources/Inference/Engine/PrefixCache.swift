import Tokenizers

/// The sequences that have been computed, so that no beginning of a prompt is computed twice. Bounded in tokens; the
/// least recently used go first.
///
/// A cached sequence is right for a prompt as far as their tokens are equal, since keys and values of a position depend
/// on the tokens up to it alone.
final class PrefixCache {
    private let configuration: ModelConfiguration
    private let contextSize: Int
    /// In tokens of all idle sequences.
    private let limit: Int
    /// Sequences that no request is using.
    private var idle: [CachedSequence] = []
    private var active: [CachedSequence] = []
    private var useCount = 0

    /// A sequence is taken over, not copied, when it would lose no more than this beyond the common prefix: the end of a
    /// turn that the next prompt writes a little differently.
    private static let expendableTokens = 32
    /// Copying less than this is not worth it.
    private static let leastCopiedTokens = 8

    init(_ configuration: ModelConfiguration, contextSize: Int, limit: Int) {
        self.configuration = configuration
        self.contextSize = contextSize
        self.limit = limit
    }

    var idleTokenCount: Int { idle.reduce(0) { $0 + $1.cache.capacity } }

    /// A sequence that begins with as much of the prompt as is known, but never with all of it, since the last token must
    /// be computed to predict the next.
    /// - Parameter capacity: The tokens that it will have, as far as is known.
    func begin(_ prompt: [TokenID], capacity: Int) throws(InferenceError) -> CachedSequence {
        var best: (sequence: CachedSequence, common: Int)?
        for sequence in idle + active {
            let common = min(commonPrefix(sequence.tokens, prompt), prompt.count - 1)
            if common > best?.common ?? 0 { best = (sequence, common) }
        }
        let needed = KeyValueCache.rounded(min(capacity, contextSize))
        let sequence: CachedSequence
        if let best, let index = idle.firstIndex(where: { $0 === best.sequence }),
            best.sequence.tokens.count - best.common <= Self.expendableTokens
                || best.sequence.cache.capacity + needed > limit
        {
            sequence = idle.remove(at: index)
            sequence.tokens.removeSubrange(best.common...)
            try sequence.cache.reserve(min(capacity, contextSize), used: best.common, limit: contextSize)
            evict(sparing: nil, adding: sequence.cache.capacity)
        } else {
            let copied = best.map { $0.common >= Self.leastCopiedTokens ? $0.common : 0 } ?? 0
            evict(sparing: best?.sequence, adding: needed)
            sequence = CachedSequence(try KeyValueCache(configuration, capacity: needed))
            if let best, copied > 0 {
                best.sequence.cache.copyPrefix(copied, to: sequence.cache)
                sequence.tokens = Array(prompt[..<copied])
                touch(best.sequence)
            }
        }
        touch(sequence)
        active.append(sequence)
        return sequence
    }

    /// Gives back a sequence whose request is done.
    func end(_ sequence: CachedSequence) {
        active.removeAll { $0 === sequence }
        guard !sequence.tokens.isEmpty else { return }
        // What another sequence says in full is of no more use.
        idle.removeAll { sequence.tokens.starts(with: $0.tokens) }
        touch(sequence)
        idle.append(sequence)
        evict(sparing: nil, adding: 0)
    }

    func removeAll() { idle.removeAll() }

    private func touch(_ sequence: CachedSequence) {
        useCount += 1
        sequence.lastUse = useCount
    }

    private func evict(sparing spared: CachedSequence?, adding tokens: Int) {
        var total = idleTokenCount + active.reduce(0) { $0 + $1.cache.capacity } + tokens
        while total > limit,
            let oldest = idle.indices.filter({ idle[$0] !== spared }).min(by: { idle[$0].lastUse < idle[$1].lastUse })
        {
            total -= idle[oldest].cache.capacity
            idle.remove(at: oldest)
        }
    }

    private func commonPrefix(_ left: [TokenID], _ right: [TokenID]) -> Int {
        var count = 0
        let limit = min(left.count, right.count)
        while count < limit, left[count] == right[count] { count += 1 }
        return count
    }
}
