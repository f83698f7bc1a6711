/// Likeness of words, for hints after a slip.
package enum EditDistance {
    /// The fewest insertions, deletions, replacements and swaps of neighbours that lead from one word to the other, where no
    /// piece is changed twice (optimal string alignment).
    package static func between(_ left: String, _ right: String) -> Int {
        let a = Array(left), b = Array(right)
        guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
        var before: [Int] = []
        var previous = Array(0...b.count)
        for i in 1...a.count {
            var row = [i]
            for j in 1...b.count {
                var best = min(row[j - 1] + 1, previous[j] + 1, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { best = min(best, before[j - 2] + 1) }
                row.append(best)
            }
            (before, previous) = (previous, row)
        }
        return previous[b.count]
    }

    /// The candidate that a word most likely stands for: one that begins with it, else one at most a third of it away.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        guard !word.isEmpty, word.count <= 200 else { return nil }
        if let begun = candidates.first(where: { word.count >= 3 && $0.hasPrefix(word) }) { return begun }
        let limit = max(1, word.count / 3)
        return candidates.map { (between(word, $0), $0) }.filter { $0.0 <= limit }.min { $0.0 < $1.0 }?.1
    }
}
