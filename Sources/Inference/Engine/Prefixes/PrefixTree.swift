import Tokenizers

/// A radix tree over tokens: of all sequences that are known, those that begin with as much as possible of a text.
///
/// Each node has a run of tokens and the holders that have all tokens from the root to the end of that run. Runs are cut
/// only where holders part.
///
/// Source: D. R. Morrison, "PATRICIA" (1968); for prompts, L. Zheng et al., "SGLang: Efficient Execution of Structured
/// Language Model Programs" (2024).
package final class PrefixTree<Holder: AnyObject> {
    private final class Node {
        var tokens: ArraySlice<TokenID>
        /// By their first token.
        var children: [TokenID: Node] = [:]
        /// Those of a child are among those of its parent.
        var holders: [ObjectIdentifier: Holder]

        init(_ tokens: ArraySlice<TokenID>, _ holders: [ObjectIdentifier: Holder]) {
            self.tokens = tokens
            self.holders = holders
        }

        func commonPrefix(_ other: ArraySlice<TokenID>) -> Int {
            var (left, right) = (tokens.startIndex, other.startIndex)
            while left < tokens.endIndex, right < other.endIndex, tokens[left] == other[right] {
                left += 1
                right += 1
            }
            return left - tokens.startIndex
        }
    }

    private let root = Node([], [:])

    package init() {}

    /// The longest beginning of a text that some holder has, and all holders that have it; none when that is empty.
    package func longestPrefix(of tokens: [TokenID]) -> (length: Int, holders: [Holder]) {
        var node = root
        var rest = tokens[...]
        while let first = rest.first, let child = node.children[first] {
            let common = child.commonPrefix(rest)
            rest = rest.dropFirst(common)
            node = child
            if common < child.tokens.count { break }
        }
        return (tokens.count - rest.count, Array(node.holders.values))
    }

    /// Notes that a holder has a text, which must begin with what it was noted to have before.
    package func insert(_ tokens: [TokenID], for holder: Holder) {
        let id = ObjectIdentifier(holder)
        var node = root
        // A copy, so that the tree never holds a buffer that its owner goes on appending to.
        var rest = Array(tokens)[...]
        while let first = rest.first {
            guard let child = node.children[first] else {
                node.children[first] = Node(rest, [id: holder])
                // A holder that grows and is alone needs no new node.
                if node !== root { merge(node) }
                return
            }
            let common = child.commonPrefix(rest)
            if common < child.tokens.count { split(child, at: common) }
            child.holders[id] = holder
            node = child
            rest = rest.dropFirst(common)
        }
    }

    /// Notes that a holder has no more than the first `kept` of its tokens.
    /// - Parameter tokens: What it was noted to have.
    package func remove(_ holder: Holder, tokens: [TokenID], keeping kept: Int = 0) {
        let id = ObjectIdentifier(holder)
        var path: [Node] = []
        var node = root
        var start = 0
        while start < tokens.count, let child = node.children[tokens[start]], child.holders[id] != nil {
            if start < kept, start + child.tokens.count > kept { split(child, at: kept - start) }
            start += child.tokens.count
            path.append(child)
            node = child
        }
        var end = start
        for index in path.indices.reversed() {
            let node = path[index]
            let begin = end - node.tokens.count
            if begin >= kept {
                node.holders[id] = nil
                if node.holders.isEmpty {
                    (index > 0 ? path[index - 1] : root).children[node.tokens.first!] = nil
                }
            }
            if !node.holders.isEmpty { merge(node) }
            end = begin
        }
    }

    /// Cuts a node in two, of which it is the upper one.
    private func split(_ node: Node, at count: Int) {
        let lower = Node(node.tokens.dropFirst(count), node.holders)
        lower.children = node.children
        node.tokens = node.tokens.prefix(count)
        node.children = [lower.tokens.first!: lower]
    }

    /// Puts a node together with its only child where both have the same holders.
    private func merge(_ node: Node) {
        guard node.children.count == 1, let child = node.children.values.first,
            child.holders.count == node.holders.count
        else { return }
        node.tokens = (Array(node.tokens) + child.tokens)[...]
        node.children = child.children
    }

    /// All holders.
    package var all: [Holder] {
        var holders: [ObjectIdentifier: Holder] = [:]
        for child in root.children.values { holders.merge(child.holders) { $1 } }
        return Array(holders.values)
    }

    /// How many runs there are.
    package var nodeCount: Int {
        func count(_ node: Node) -> Int { node.children.values.reduce(1) { $0 + count($1) } }
        return count(root) - 1
    }
}
