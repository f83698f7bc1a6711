/// Cuts a text into the words over which byte-level BPE merges, by the rules of one family of models.
package struct PreTokenizer: Sendable {
    package let rule: Rule
    private let stages: [Stage]

    private enum Stage: Sendable {
        case pattern(SplitPattern)
        /// The white space at the end is a part of its own.
        case trailingSpace
    }

    package init(named name: String) throws(TokenizerError) {
        guard let rule = Self.rules.first(where: { $0.names.contains(name) }) else {
            throw .unknownPreTokenizer(name)
        }
        self.init(rule)
    }

    package init(_ rule: Rule) {
        self.rule = rule
        stages = rule.patterns.map { $0 == Rule.trailingSpace ? .trailingSpace : .pattern(SplitPattern($0)) }
    }

    /// Calls `body` with the words of `text[range]`, which is valid UTF-8, in order and without gaps.
    package func split(_ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, body: (Range<Int>) -> Void) {
        split(text, range, stage: 0, body: body)
    }

    /// Each stage cuts the parts of the one before it.
    private func split(
        _ text: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, stage: Int, body: (Range<Int>) -> Void
    ) {
        if range.isEmpty { return }
        guard stage < stages.count else { return body(range) }
        switch stages[stage] {
        case .pattern(let pattern):
            if stage + 1 == stages.count {
                pattern.split(text, range, body: body)
            } else {
                pattern.split(text, range) { split(text, $0, stage: stage + 1, body: body) }
            }
        case .trailingSpace:
            var start = range.upperBound
            while start > range.lowerBound {
                var previous = start - 1
                while previous > range.lowerBound, text[previous] & 0xc0 == 0x80 { previous -= 1 }
                let scalar = String(decoding: text[previous..<start], as: UTF8.self).unicodeScalars.first!
                guard scalar.properties.isWhitespace else { break }
                start = previous
            }
            split(text, range.lowerBound..<start, stage: stage + 1, body: body)
            split(text, start..<range.upperBound, stage: stage + 1, body: body)
        }
    }
}
