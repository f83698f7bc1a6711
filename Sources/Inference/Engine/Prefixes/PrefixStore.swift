import Tokenizers

/// What has been computed for all sessions of one engine, so that no beginning of a prompt is computed twice. Bounded in
/// tokens; the least recently used sequences go first. Behind it may stand snapshots on the disk.
///
/// A cached sequence is right for a prompt as far as their tokens are equal, since keys and values of a position depend
/// on the tokens up to it alone, on the model, on its settings and on the adapter. Model and settings are the engine's own and
/// part of the key of every snapshot; each adapter has a tree and a key of its own.
///
/// The kernels want a sequence in one piece. So the tree says who has a beginning, and a request either takes over a
/// sequence that goes on from it or gets a copy of the part that is common, which costs far less than computing it.
final class PrefixStore {
    private let configuration: ModelConfiguration
    private let cacheType: CacheType
    private let contextSize: Int
    /// In tokens of room, of all sequences.
    private let limit: Int
    private let snapshots: PrefixSnapshots?
    private let trace: Trace?

    /// By the digest of the adapter, empty for none.
    private var trees: [[UInt8]: PrefixTree<CachedSequence>] = [:]
    private var adapterSnapshots: [[UInt8]: PrefixSnapshots] = [:]
    /// Sequences that no request is using.
    private var idle: [CachedSequence] = []
    private var active: [CachedSequence] = []
    private var useCount = 0

    /// A sequence is taken over, not copied, when it would lose no more than this beyond the common prefix: the end of a
    /// turn that the next prompt writes a little differently.
    private static let expendableTokens = 32
    /// Copying less than this is not worth it.
    private static let leastCopiedTokens = 8
    /// Reading a snapshot is worth it from this many tokens on that memory does not have.
    private static let leastReadTokens = 32

    init(
        _ configuration: ModelConfiguration, cacheType: CacheType, contextSize: Int, limit: Int,
        snapshots: PrefixSnapshots? = nil, trace: Trace? = nil
    ) {
        self.configuration = configuration
        self.cacheType = cacheType
        self.contextSize = contextSize
        self.limit = limit
        self.snapshots = snapshots
        self.trace = trace
    }

    private func tree(_ adapter: [UInt8]?) -> PrefixTree<CachedSequence> {
        if let tree = trees[adapter ?? []] { return tree }
        let tree = PrefixTree<CachedSequence>()
        trees[adapter ?? []] = tree
        return tree
    }

    private func snapshots(_ adapter: [UInt8]?) -> PrefixSnapshots? {
        guard let snapshots, let adapter else { return snapshots }
        if let known = adapterSnapshots[adapter] { return known }
        let made = snapshots.withAdapter(adapter)
        adapterSnapshots[adapter] = made
        return made
    }

    /// How many tokens of a prompt memory has.
    func knownTokens(_ prompt: [TokenID], adapter: [UInt8]?) -> Int { tree(adapter).longestPrefix(of: prompt).length }

    /// A sequence that begins with as much of the prompt as is known.
    /// - Parameters:
    ///   - adapter: The digest of the adapter that the prompt is computed with.
    ///   - most: The most tokens that may be taken: all but the last where a token is to be predicted, since the last one
    ///     must be computed for that.
    ///   - capacity: The tokens that it will have, as far as is known.
    ///   - isCancelled: Asked many times while memory is made ready.
    /// - Returns: Nil when it was given up.
    func begin(
        _ prompt: [TokenID], adapter: [UInt8]?, most: Int, capacity: Int, isCancelled: () -> Bool
    ) throws(InferenceError) -> CachedSequence? {
        let start = trace?.now
        let found = tree(adapter).longestPrefix(of: prompt)
        let common = min(found.length, most)
        let capacity = min(max(capacity, 1), contextSize)
        guard
            let (sequence, source) = try make(
                prompt, adapter, common, most, found.holders, capacity, isCancelled)
        else { return nil }
        touch(sequence)
        active.append(sequence)
        if let trace, let start {
            trace.span(
                "cache", .cache, from: start,
                [
                    ("prompt", .init(prompt.count)), ("cached", .init(sequence.tokens.count)),
                    ("source", .init(source)), ("runs", .init(tree(adapter).nodeCount)),
                ])
        }
        return sequence
    }

    private func make(
        _ prompt: [TokenID], _ adapter: [UInt8]?, _ common: Int, _ most: Int, _ holders: [CachedSequence],
        _ capacity: Int, _ isCancelled: () -> Bool
    ) throws(InferenceError) -> (CachedSequence, source: String)? {
        let needed = KeyValueCache.rounded(capacity)
        if let snapshots = snapshots(adapter), let (length, snapshot) = snapshots.longestPrefix(of: prompt),
            min(length, most) >= common + Self.leastReadTokens
        {
            evict(adding: needed)
            let sequence = CachedSequence(
                try KeyValueCache(configuration, type: cacheType, capacity: needed), adapter: adapter)
            if snapshots.read(snapshot, count: min(length, most), into: sequence.cache) {
                sequence.tokens = Array(prompt[..<min(length, most)])
                index(sequence)
                return (sequence, "disk")
            }
            // Without the snapshot there may be another, or what memory has.
            return try make(prompt, adapter, common, most, holders, capacity, isCancelled)
        }
        guard common > 0 else {
            evict(adding: needed)
            return (
                CachedSequence(try KeyValueCache(configuration, type: cacheType, capacity: needed), adapter: adapter),
                "none"
            )
        }
        // The one that loses least is taken over, if that is little or there is no room for a copy.
        let free = holders.filter { holder in idle.contains { $0 === holder } }.min {
            $0.tokens.count < $1.tokens.count
        }
        if let free,
            free.tokens.count - common <= Self.expendableTokens || free.cache.capacity + needed > limit
        {
            guard
                try free.cache.reserve(capacity, used: common, limit: contextSize, isCancelled: isCancelled)
            else { return nil }
            idle.removeAll { $0 === free }
            forget(free, keeping: common)
            evict(adding: free.cache.capacity)
            return (free, "taken")
        }
        let source = holders.max { $0.lastUse < $1.lastUse }!
        touch(source)
        evict(sparing: source, adding: needed)
        let sequence = CachedSequence(
            try KeyValueCache(configuration, type: cacheType, capacity: needed), adapter: adapter)
        guard common >= Self.leastCopiedTokens else { return (sequence, "none") }
        guard source.cache.copyPrefix(common, to: sequence.cache, isCancelled: isCancelled) else { return nil }
        sequence.tokens = Array(prompt[..<common])
        index(sequence)
        return (sequence, "copied")
    }

    /// Lets others find what a sequence has by now.
    func index(_ sequence: CachedSequence) {
        sequence.indexedCount = sequence.tokens.count
        tree(sequence.adapter).insert(sequence.tokens, for: sequence)
    }

    /// Gives back a sequence whose request is done.
    func end(_ sequence: CachedSequence) {
        active.removeAll { $0 === sequence }
        guard !sequence.tokens.isEmpty else { return }
        index(sequence)
        // What another sequence says in full is of no more use.
        for other in tree(sequence.adapter).longestPrefix(of: sequence.tokens).holders where other !== sequence {
            // It has all of this one's tokens: this one is the one to go.
            forget(sequence, keeping: 0)
            touch(other)
            return
        }
        for other in idle where other.adapter == sequence.adapter && sequence.tokens.starts(with: other.tokens) {
            drop(other)
        }
        touch(sequence)
        idle.append(sequence)
        evict(adding: 0)
    }

    /// Writes a sequence to the disk, for later processes.
    func save(_ sequence: CachedSequence, completion: @escaping @Sendable () -> Void) {
        guard let snapshots = snapshots(sequence.adapter) else { return completion() }
        snapshots.save(sequence.tokens, sequence.cache, completion: completion)
    }

    func removeAll() {
        for sequence in idle { drop(sequence) }
    }

    private func touch(_ sequence: CachedSequence) {
        useCount += 1
        sequence.lastUse = useCount
    }

    private func drop(_ sequence: CachedSequence) {
        idle.removeAll { $0 === sequence }
        forget(sequence, keeping: 0)
    }

    private func forget(_ sequence: CachedSequence, keeping kept: Int) {
        tree(sequence.adapter).remove(
            sequence, tokens: Array(sequence.tokens[..<sequence.indexedCount]), keeping: kept)
        sequence.tokens.removeSubrange(kept...)
        sequence.indexedCount = min(sequence.indexedCount, kept)
    }

    private func evict(sparing spared: CachedSequence? = nil, adding tokens: Int) {
        var total = (idle + active).reduce(tokens) { $0 + $1.cache.capacity }
        while total > limit,
            let oldest = idle.filter({ $0 !== spared }).min(by: { $0.lastUse < $1.lastUse })
        {
            total -= oldest.cache.capacity
            drop(oldest)
        }
    }
}
