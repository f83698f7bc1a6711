/// Merges the symbols of one word, neighbours of the least order first and the leftmost of equals, until none merges.
///
/// Short words are merged by looking at all pairs again after each merge, long ones by a heap of pairs over a linked list
/// in O(n log n). Both find the same tokens. Holds scratch memory, so that a text needs few allocations.
package struct Merger {
    /// Up to this many symbols, looking at all pairs is faster than a heap.
    static let shortLimit = 32

    private struct Symbol {
        var id: TokenID
        /// Where the symbol begins in the word, and how many bytes it has; 0 when it went into its left neighbour.
        var start: Int32
        var length: Int32
        var previous: Int32
        var next: Int32
    }

    private struct Candidate {
        /// The order of the merge above the position of its left symbol.
        var key: UInt64
        var id: TokenID
        /// The lengths of both symbols when the candidate was found: it is stale when one of them is another now.
        var leftLength: Int32
        var rightLength: Int32

        var left: Int { Int(truncatingIfNeeded: key & 0xffff_ffff) }
    }

    private var symbols: [Symbol] = []
    private var merges: [UInt64] = []
    private var heap: [Candidate] = []

    package init() {}

    /// Forgets the word before.
    package mutating func begin() { symbols.removeAll(keepingCapacity: true) }

    /// Adds the next symbol of the word.
    @inline(__always)
    package mutating func append(_ id: TokenID, length: Int) {
        let start = symbols.last.map { $0.start &+ $0.length } ?? 0
        symbols.append(Symbol(id: id, start: start, length: Int32(truncatingIfNeeded: length), previous: 0, next: 0))
    }

    /// Merges the symbols of `word`, and calls `emit` with each token that remains and the bytes it stands for. A symbol
    /// that is no token has the id -1.
    package mutating func merge(
        _ word: UnsafeBufferPointer<UInt8>, by rules: some MergeRules, usesHeap: Bool? = nil,
        emit: (TokenID, UnsafeBufferPointer<UInt8>) -> Void
    ) {
        if usesHeap ?? (symbols.count > Self.shortLimit) {
            mergeByHeap(word, by: rules)
        } else {
            mergeByScan(word, by: rules)
        }
        for symbol in symbols where symbol.length > 0 {
            let start = Int(symbol.start)
            emit(symbol.id, UnsafeBufferPointer(rebasing: word[start..<start + Int(symbol.length)]))
        }
    }

    @inline(__always)
    private static func text(
        _ word: UnsafeBufferPointer<UInt8>, _ left: Symbol, _ right: Symbol
    ) -> UnsafeBufferPointer<UInt8> {
        let end = Int(right.start &+ right.length)
        return UnsafeBufferPointer(rebasing: word[Int(left.start)..<end])
    }

    private mutating func mergeByScan(_ word: UnsafeBufferPointer<UInt8>, by rules: some MergeRules) {
        var count = symbols.count
        guard count > 1 else { return }
        merges.removeAll(keepingCapacity: true)
        for index in 1..<count {
            let (left, right) = (symbols[index - 1], symbols[index])
            merges.append(rules.merge(left.id, right.id, text: Self.text(word, left, right)).packed)
        }
        while count > 1 {
            var best = 0
            var least = merges[0] >> 32
            for index in 1..<max(1, count - 1) where merges[index] >> 32 < least {
                least = merges[index] >> 32
                best = index
            }
            if merges[best] == .max { break }
            symbols[best].id = TokenID(truncatingIfNeeded: merges[best])
            symbols[best].length &+= symbols[best + 1].length
            symbols.remove(at: best + 1)
            merges.remove(at: best)
            count -= 1
            if best > 0 { update(best - 1) }
            if best + 1 < count { update(best) }
        }

        func update(_ index: Int) {
            let (left, right) = (symbols[index], symbols[index + 1])
            merges[index] = rules.merge(left.id, right.id, text: Self.text(word, left, right)).packed
        }
    }

    private mutating func mergeByHeap(_ word: UnsafeBufferPointer<UInt8>, by rules: some MergeRules) {
        let count = symbols.count
        guard count > 1 else { return }
        heap.removeAll(keepingCapacity: true)
        for index in 0..<count {
            symbols[index].previous = Int32(index - 1)
            symbols[index].next = index + 1 == count ? -1 : Int32(index + 1)
            if index > 0 { consider(Int32(index - 1), Int32(index), keepsHeap: false) }
        }
        for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(index) }

        while let candidate = popLeast() {
            let left = candidate.left
            let right = Int(symbols[left].next)
            guard right >= 0, symbols[left].length == candidate.leftLength,
                symbols[right].length == candidate.rightLength
            else { continue }
            symbols[left].id = candidate.id
            symbols[left].length &+= symbols[right].length
            symbols[right].length = 0
            let next = symbols[right].next
            symbols[left].next = next
            if next >= 0 { symbols[Int(next)].previous = Int32(left) }
            if symbols[left].previous >= 0 { consider(symbols[left].previous, Int32(left), keepsHeap: true) }
            if next >= 0 { consider(Int32(left), next, keepsHeap: true) }
        }

        func consider(_ left: Int32, _ right: Int32, keepsHeap: Bool) {
            let (leftSymbol, rightSymbol) = (symbols[Int(left)], symbols[Int(right)])
            let merge = rules.merge(
                leftSymbol.id, rightSymbol.id, text: Self.text(word, leftSymbol, rightSymbol))
            if merge.isNone { return }
            heap.append(
                Candidate(
                    key: UInt64(merge.order) << 32 | UInt64(UInt32(bitPattern: left)), id: merge.id,
                    leftLength: leftSymbol.length, rightLength: rightSymbol.length))
            if keepsHeap { siftUp(heap.count - 1) }
        }
    }

    private mutating func popLeast() -> Candidate? {
        guard let least = heap.first else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            siftDown(0)
        }
        return least
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        let candidate = heap[index]
        while index > 0 {
            let parent = (index - 1) / 2
            if heap[parent].key <= candidate.key { break }
            heap[index] = heap[parent]
            index = parent
        }
        heap[index] = candidate
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        let candidate = heap[index]
        while true {
            var child = 2 * index + 1
            if child >= heap.count { break }
            if child + 1 < heap.count, heap[child + 1].key < heap[child].key { child += 1 }
            if candidate.key <= heap[child].key { break }
            heap[index] = heap[child]
            index = child
        }
        heap[index] = candidate
    }
}
