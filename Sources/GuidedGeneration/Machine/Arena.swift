/// The working memory of a walk over the vocabulary: where each level of the trie stands, and the levels of the stack that
/// tokens have pushed. Allocated once for a machine, so that a walk allocates nothing.
struct Arena {
    /// For each depth of the trie: the state on top.
    let tops: UnsafeMutablePointer<Int32>
    /// For each depth of the trie: what lies below the top. At least 0: an entry of `saved`. Below: the complement of a level of
    /// the matcher's own stack.
    let belows: UnsafeMutablePointer<Int32>
    let depth: Int
    /// The pushed levels: a state, and what lies below it.
    private(set) var saved: UnsafeMutablePointer<(state: Int32, below: Int32)>
    private var capacity = 256
    private(set) var count = 0
    /// The allowed tokens that have been found.
    private(set) var tokens: UnsafeMutablePointer<Int32>
    private var tokenCapacity = 1024
    private(set) var tokenCount = 0
    /// The deepest level of the matcher's own stack that has been looked at.
    var lowest = Int.max

    init(depth: Int) {
        self.depth = depth
        tops = .allocate(capacity: depth)
        belows = .allocate(capacity: depth)
        saved = .allocate(capacity: capacity)
        tokens = .allocate(capacity: tokenCapacity)
    }

    func deallocate() {
        tops.deallocate()
        belows.deallocate()
        saved.deallocate()
        tokens.deallocate()
    }

    mutating func reset() {
        count = 0
        tokenCount = 0
        lowest = .max
    }

    @inline(__always)
    mutating func push(_ state: Int32, below: Int32) -> Int32 {
        if count == capacity {
            let larger = UnsafeMutablePointer<(state: Int32, below: Int32)>.allocate(capacity: capacity * 2)
            larger.update(from: saved, count: count)
            saved.deallocate()
            saved = larger
            capacity *= 2
        }
        saved[count] = (state, below)
        count += 1
        return Int32(count - 1)
    }

    @inline(__always)
    mutating func add(_ token: Int32) {
        if tokenCount == tokenCapacity { growTokens() }
        tokens[tokenCount] = token
        tokenCount += 1
    }

    mutating func add(_ ids: UnsafeMutablePointer<Int32>, _ range: Range<Int>) {
        while tokenCount + range.count > tokenCapacity { growTokens() }
        (tokens + tokenCount).update(from: ids + range.lowerBound, count: range.count)
        tokenCount += range.count
    }

    @inline(never)
    private mutating func growTokens() {
        let larger = UnsafeMutablePointer<Int32>.allocate(capacity: tokenCapacity * 4)
        larger.update(from: tokens, count: tokenCount)
        tokens.deallocate()
        tokens = larger
        tokenCapacity *= 4
    }
}
