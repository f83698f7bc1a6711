import Tokenizers

/// Guesses how a text goes on that repeats parts of its prompt or of itself, as corrections, extractions and rewritings do.
///
/// The end of the text is looked for earlier in it, and what followed there is the guess. Where the text was following an
/// earlier place and left it (a word that was corrected), a single equal token nearby is enough to follow it again.
///
/// Source of the idea: A. Saxena, "Prompt Lookup Decoding" (2023); of the chains of places, LZ77's (RFC 1951, section 4).
package struct PromptLookup {
    private var tokens: [TokenID]
    /// For two neighbouring tokens, the latest place of the second.
    private var latest: [UInt64: Int32] = [:]
    /// For each place, the place before it with the same two tokens; −1: none.
    private var earlier: [Int32] = []
    /// The place of the token that comes next if the text goes on as it did there.
    private var source: Int?
    /// How many tokens in a row came as `source` had them.
    private var streak = 0
    /// How many since the last that came so.
    private var misses = 0

    /// Places that are compared at most.
    private static let mostPlaces = 16
    /// A longer match says no more.
    private static let longestMatch = 24
    /// The text has left its source for good after so many tokens of its own.
    private static let mostMisses = 8
    /// Where the source is looked for again: tokens that were left out, and tokens that were put in.
    private static let skipped = 6
    private static let inserted = 3

    package init(_ prompt: [TokenID]) {
        tokens = []
        tokens.reserveCapacity(prompt.count + 256)
        earlier.reserveCapacity(prompt.count + 256)
        latest.reserveCapacity(prompt.count)
        for token in prompt { index(token) }
    }

    private mutating func index(_ token: TokenID) {
        let place = tokens.count
        tokens.append(token)
        guard place > 0 else { return earlier.append(-1) }
        let key = UInt64(UInt32(bitPattern: tokens[place - 1])) << 32 | UInt64(UInt32(bitPattern: token))
        earlier.append(latest.updateValue(Int32(place), forKey: key) ?? -1)
    }

    /// Takes the next token of the text.
    package mutating func append(_ token: TokenID) {
        follow(token)
        index(token)
    }

    private mutating func follow(_ token: TokenID) {
        guard let place = source else { return }
        if place < tokens.count, tokens[place] == token {
            source = place + 1
            streak += 1
            misses = 0
            return
        }
        misses += 1
        streak = 0
        guard misses <= Self.mostMisses else { return source = nil }
        // Something was left out, or put in, or both; the nearest is likeliest.
        let lower = max(0, place - Self.inserted)
        let upper = min(tokens.count, place + Self.skipped + 1)
        let near = (lower..<max(lower, upper)).filter { tokens[$0] == token }.min { abs($0 - place) < abs($1 - place) }
        if let near {
            source = near + 1
            streak = 1
            misses = 0
        } else {
            source = place + 1
        }
    }

    /// What may come next, and how many tokens before it are equal in both places; nothing where nothing is known.
    package mutating func guess(most: Int) -> (tokens: [TokenID], matched: Int) {
        guard most > 0, tokens.count > 2 else { return ([], 0) }
        var best: (place: Int, matched: Int)?
        let end = tokens.count - 1
        // The last two tokens are equal at each of these places.
        var place = Int(earlier[end])
        var count = 0
        while place >= 1, count < Self.mostPlaces {
            let matched = match(place, end)
            if matched > best?.matched ?? 2 { best = (place + 1, matched) }
            place = Int(earlier[place])
            count += 1
        }
        // To stay with the place that the text has followed is better than to jump to one that matches no longer.
        if let source, streak > 0, source < tokens.count, streak >= best?.matched ?? 0 {
            best = (source, streak)
        } else if let found = best {
            (source, streak, misses) = (found.place, found.matched, 0)
        }
        guard let best else { return ([], 0) }
        return (Array(tokens[best.place..<min(tokens.count, best.place + most)]), best.matched)
    }

    private func match(_ place: Int, _ end: Int) -> Int {
        var matched = 2
        while matched < Self.longestMatch, place >= matched, tokens[place - matched] == tokens[end - matched] {
            matched += 1
        }
        return matched
    }
}
