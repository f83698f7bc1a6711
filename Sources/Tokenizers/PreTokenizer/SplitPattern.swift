/// A regular expression of a pre-tokenizer, compiled for its one task: to cut much text into words, fast.
///
/// The language is what such patterns use: alternatives (the first that matches counts), groups with `?`, sets with greedy
/// quantifiers, `\p{…}` for general categories, `\s` and `\S` over Unicode's white space, `(?i:…)` for ASCII letters and a
/// negative look-ahead for one character. A group cannot be repeated, so that the matcher's depth depends on the
/// pattern and not on the text.
struct SplitPattern: Sendable {
    struct Node {
        enum Kind { case set, notFollowedBy, branch }

        var kind: Kind
        /// What follows: a node, or -1 when the pattern has matched.
        var next: Int32
        /// A set: its scalars and how many of them.
        var low: UInt64 = 0
        var high: UInt64 = 0
        var classes: ScalarClass.Mask = 0
        var isNegated = false
        var ranges: Range<Int32> = 0..<0
        var minimum = 1
        var maximum = 1
        /// A branch: its alternatives in `branches`, best first.
        var branches: Range<Int32> = 0..<0
    }

    private(set) var nodes: [Node] = []
    private(set) var ranges: [ClosedRange<UInt32>] = []
    private(set) var branches: [Int32] = []
    /// The alternatives of the whole pattern, at most 64.
    private(set) var alternatives: [Int32] = []
    /// For each first byte of the text, the alternatives that may match, one bit each.
    private(set) var starts = [UInt64](repeating: 0, count: 256)

    /// - Precondition: `source` is a pattern of the table of pre-tokenizers, which is written for this language.
    init(_ source: String) {
        var parser = PatternParser(source)
        let tree = parser.parse()
        alternatives = tree.map { compile($0[...], next: -1) }
        precondition(alternatives.count <= 64, "too many alternatives: \(source)")
        for (number, alternative) in alternatives.enumerated() {
            let first = firstBytes(alternative)
            for byte in 0..<256 where first[byte] { starts[byte] |= 1 << UInt64(number) }
        }
    }

    private mutating func compile(_ items: ArraySlice<PatternParser.Item>, next: Int32) -> Int32 {
        guard let item = items.first else { return next }
        let rest = compile(items.dropFirst(), next: next)
        switch item {
        case .set(let set, let minimum, let maximum):
            var node = setNode(set, kind: .set, next: rest)
            node.minimum = minimum
            node.maximum = maximum
            nodes.append(node)
        case .notFollowedBy(let set):
            nodes.append(setNode(set, kind: .notFollowedBy, next: rest))
        case .group(let choices, let isOptional):
            var targets = choices.map { compile($0[...], next: rest) }
            if isOptional { targets.append(rest) }
            let start = Int32(branches.count)
            branches.append(contentsOf: targets)
            nodes.append(Node(kind: .branch, next: rest, branches: start..<Int32(branches.count)))
        }
        return Int32(nodes.count - 1)
    }

    private mutating func setNode(_ set: CharacterSet, kind: Node.Kind, next: Int32) -> Node {
        let start = Int32(ranges.count)
        ranges.append(contentsOf: set.ranges)
        return Node(
            kind: kind, next: next, low: set.low, high: set.high, classes: set.classes, isNegated: set.isNegated,
            ranges: start..<Int32(ranges.count))
    }

    /// The bytes with which a match from `node` on may begin.
    private func firstBytes(_ index: Int32) -> [Bool] {
        guard index >= 0 else { return [Bool](repeating: true, count: 256) }
        let node = nodes[Int(index)]
        switch node.kind {
        case .notFollowedBy: return [Bool](repeating: true, count: 256)
        case .branch:
            var union = [Bool](repeating: false, count: 256)
            for branch in node.branches {
                for (byte, isFirst) in firstBytes(branches[Int(branch)]).enumerated() where isFirst {
                    union[byte] = true
                }
            }
            return union
        case .set:
            var first = node.minimum == 0 ? firstBytes(node.next) : [Bool](repeating: false, count: 256)
            for byte in 0..<128 where (byte < 64 ? node.low : node.high) >> UInt64(byte & 63) & 1 != 0 {
                first[byte] = true
            }
            if node.isNegated || node.classes != 0 || !node.ranges.isEmpty {
                for byte in 128..<256 { first[byte] = true }
            }
            return first
        }
    }
}
