/// The tokens that may come next.
package struct TokenMask: Sendable {
    /// Memory that is written once, before the mask is seen by anyone else.
    final class Words: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<UInt64>
        let count: Int

        init(count: Int) {
            self.count = count
            pointer = .allocate(capacity: max(count, 1))
        }

        deinit { pointer.deallocate() }
    }

    /// How many tokens are allowed.
    package let count: Int
    package let vocabularySize: Int
    /// The allowed tokens in rising order, when they are so few that a list is cheaper to go through than a bit set.
    package let tokens: [Int32]?
    let words: Words?

    /// The number of allowed tokens up to which `tokens` lists them.
    package static let listLimit = 512

    init(tokens: [Int32], vocabularySize: Int) {
        count = tokens.count
        self.tokens = tokens
        self.vocabularySize = vocabularySize
        words = nil
    }

    init(words: Words, count: Int, vocabularySize: Int) {
        self.count = count
        self.words = words
        self.vocabularySize = vocabularySize
        tokens = nil
    }

    /// The mask without some tokens.
    func removing(_ removed: [Int32]) -> TokenMask {
        if removed.isEmpty { return self }
        let removed = Set(removed)
        if let tokens {
            return TokenMask(tokens: tokens.filter { !removed.contains($0) }, vocabularySize: vocabularySize)
        }
        guard let words else { return self }
        let copy = Words(count: words.count)
        copy.pointer.initialize(from: words.pointer, count: words.count)
        var count = count
        for token in removed where contains(token) {
            copy.pointer[Int(token) >> 6] &= ~(1 << UInt64(token & 63))
            count -= 1
        }
        return TokenMask(words: copy, count: count, vocabularySize: vocabularySize)
    }

    /// Whether a token is allowed.
    /// - Complexity: O(1), or O(log `count`) when `tokens` is set.
    package func contains(_ token: Int32) -> Bool {
        guard token >= 0, Int(token) < vocabularySize else { return false }
        if let words { return words.pointer[Int(token) >> 6] >> UInt64(token & 63) & 1 == 1 }
        guard let tokens else { return false }
        var (low, high) = (0, tokens.count)
        while low < high {
            let middle = (low + high) / 2
            if tokens[middle] < token { low = middle + 1 } else { high = middle }
        }
        return low < tokens.count && tokens[low] == token
    }

    /// The mask as a bit set: token t is bit t % 64 of word t / 64.
    package func withWords<Result>(_ body: (UnsafeBufferPointer<UInt64>) throws -> Result) rethrows -> Result {
        if let words { return try body(UnsafeBufferPointer(start: words.pointer, count: words.count)) }
        var bits = [UInt64](repeating: 0, count: (vocabularySize + 63) / 64)
        for token in tokens ?? [] { bits[Int(token) >> 6] |= 1 << UInt64(token & 63) }
        return try bits.withUnsafeBufferPointer(body)
    }

    /// Writes the mask as a bit set, as `withWords` has it.
    /// - Parameter target: At least (`vocabularySize` + 63) / 64 words.
    package func write(to target: UnsafeMutableBufferPointer<UInt64>) {
        let count = (vocabularySize + 63) / 64
        precondition(target.count >= count, "a mask of \(vocabularySize) tokens has \(count) words")
        if let words {
            _ = target.update(fromContentsOf: UnsafeBufferPointer(start: words.pointer, count: words.count))
        } else {
            target.update(repeating: 0)
            for token in tokens ?? [] { target[Int(token) >> 6] |= 1 << UInt64(token & 63) }
        }
    }

    /// Calls a function with every allowed token in rising order.
    package func forEach(_ body: (Int32) throws -> Void) rethrows {
        if let tokens {
            for token in tokens { try body(token) }
        } else if let words {
            for index in 0..<words.count {
                var bits = words.pointer[index]
                while bits != 0 {
                    try body(Int32(index * 64 + bits.trailingZeroBitCount))
                    bits &= bits - 1
                }
            }
        }
    }
}
