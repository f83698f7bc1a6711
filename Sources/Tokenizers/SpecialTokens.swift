/// Finds tokens that are written out in a text: control tokens as chat templates write them, and user-defined ones, which
/// are one token whatever the merges say. The longest at the leftmost place counts.
struct SpecialTokens: Sendable {
    /// A trie over the tokens' bytes; node 0 is the root.
    private struct Node {
        var byte: UInt8
        /// The token that ends here, or -1.
        var token: TokenID = -1
        var isControl = false
        var firstChild: Int32 = -1
        var nextSibling: Int32 = -1
    }

    private var nodes = [Node(byte: 0)]
    /// For each first byte its node, or -1.
    private var roots = [Int32](repeating: -1, count: 256)
    /// Tokens that swallow the white space before or after them.
    let stripsLeft: Set<TokenID>
    let stripsRight: Set<TokenID>

    init(_ vocabulary: Vocabulary, stripsLeft: Set<TokenID>, stripsRight: Set<TokenID>) {
        self.stripsLeft = stripsLeft
        self.stripsRight = stripsRight
        for id in 0..<vocabulary.count {
            switch vocabulary.types[id] {
            case .control, .unknown: insert(vocabulary.texts[id], TokenID(id), isControl: true)
            case .userDefined: insert(vocabulary.texts[id], TokenID(id), isControl: false)
            case .normal, .unused, .byte: continue
            }
        }
    }

    private mutating func insert(_ text: ArraySlice<UInt8>, _ token: TokenID, isControl: Bool) {
        guard let first = text.first else { return }
        if roots[Int(first)] < 0 {
            roots[Int(first)] = Int32(nodes.count)
            nodes.append(Node(byte: first))
        }
        var node = Int(roots[Int(first)])
        for byte in text.dropFirst() {
            var child = nodes[node].firstChild
            while child >= 0, nodes[Int(child)].byte != byte { child = nodes[Int(child)].nextSibling }
            if child < 0 {
                child = Int32(nodes.count)
                nodes.append(Node(byte: byte, nextSibling: nodes[node].firstChild))
                nodes[node].firstChild = child
            }
            node = Int(child)
        }
        nodes[node].token = token
        nodes[node].isControl = isControl
    }

    var isEmpty: Bool { nodes.count == 1 }

    /// The first token written out at or after `start`, and where. Of control tokens only those count that stand wholly
    /// outside content.
    func first(
        in text: UnsafeBufferPointer<UInt8>, from start: Int, content: inout ContentCursor
    ) -> (token: TokenID, range: Range<Int>)? {
        if isEmpty { return nil }
        for position in start..<text.count {
            guard roots[Int(text[position])] >= 0 else { continue }
            let controlEnd = content.endOfTemplate(at: position)
            var node = roots[Int(text[position])]
            var found: (token: TokenID, range: Range<Int>)?
            var end = position + 1
            while node >= 0 {
                let current = nodes[Int(node)]
                if current.token >= 0, !current.isControl || end <= controlEnd {
                    found = (current.token, position..<end)
                }
                guard end < text.count else { break }
                let byte = text[end]
                node = current.firstChild
                while node >= 0, nodes[Int(node)].byte != byte { node = nodes[Int(node)].nextSibling }
                end += 1
            }
            if let found { return found }
        }
        return nil
    }
}

/// Walks along a text and knows where its content is, as opposed to what a chat template says.
struct ContentCursor {
    private let ranges: [Range<Int>]
    private let count: Int
    private var next = 0

    /// - Parameters:
    ///   - ranges: Of bytes, ascending.
    ///   - count: The length of the text in bytes.
    init(_ ranges: [Range<Int>], count: Int) {
        self.ranges = ranges
        self.count = count
    }

    /// Where the template's own text that `position` stands in ends; `position` itself when it stands in content.
    /// Positions may only grow from call to call.
    mutating func endOfTemplate(at position: Int) -> Int {
        while next < ranges.count, ranges[next].upperBound <= position { next += 1 }
        guard next < ranges.count else { return count }
        return max(position, ranges[next].lowerBound)
    }
}
