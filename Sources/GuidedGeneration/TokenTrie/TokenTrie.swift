/// The tokens of a vocabulary as a trie over their bytes, laid out depth first in flat memory.
///
/// The tokens fall into classes by what they consist of, each class a trie of its own: where an automaton goes on unchanged
/// for every character of a class, which is so inside a free string, the mask takes the class as a whole and walks only the rest.
package final class TokenTrie: @unchecked Sendable {  // immutable after init
    /// A node, after its parent and before its next sibling.
    struct Node {
        /// The index past the last descendant.
        var end: Int32
        /// The first of the node's tokens in `tokenIDs`; tokens of equal bytes lie together.
        var firstToken: Int32
        var tokenCount: UInt16
        /// The number of bytes from the root, 1 for the first.
        var depth: UInt16
        var byte: UInt8
    }

    /// What tokens of one trie consist of. Every class but the last holds whole characters that a JSON string need not escape.
    enum TokenClass: Int, CaseIterable {
        /// `[A-Za-z0-9_]`
        case word
        /// The same with at least one space.
        case spacedWord
        /// Printable ASCII and DEL but neither `"` nor `\`.
        case ascii
        /// Whole UTF-8 characters, none of them a control character, `"` or `\`.
        case unicode
        /// The rest: quotation marks, backslashes, control characters and parts of characters.
        case other

        /// The characters of the classes, but for `other`.
        static let characters: [ScalarSet] = {
            let word = ScalarSet([(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)])
            let ascii = ScalarSet([(0x20, 0x21), (0x23, 0x5b), (0x5d, 0x7f)])
            return [
                word, word.union(ScalarSet(" ")), ascii,
                ascii.union(ScalarSet([(0x80, 0xd7ff), (0xe000, ScalarSet.last)])),
            ]
        }()
    }

    /// The nodes of one class, and its tokens as a bit set.
    struct Slice {
        var nodes: Range<Int>
        /// The nodes of depth 1.
        var roots: [Int]
        var words: UnsafeMutablePointer<UInt64>
        var tokenCount: Int
    }

    package let vocabularySize: Int
    /// The tokens that end the output.
    package let stopTokens: [Int32]
    /// The bytes of the longest token.
    package let maximumTokenLength: Int
    /// The number of 64-bit words in a bit set over the vocabulary.
    package let wordCount: Int

    let nodes: UnsafeMutablePointer<Node>
    let nodeCount: Int
    let tokenIDs: UnsafeMutablePointer<Int32>
    let slices: [Slice]
    /// The nodes of a trie of the tokens that close a free string.
    let closing: Range<Int>
    let stringProfile: StringProfile
    /// The bytes of all tokens, and where each token's begin.
    private let tokenBytes: [UInt8]
    private let byteStarts: [Int32]
    private let stopSet: Set<Int32>
    let keyTokens: KeyTokens

    /// - Parameters:
    ///   - tokens: The bytes that each token adds to the text, by token id. A token without bytes is never allowed under a constraint.
    ///   - stopTokens: The tokens that end the output, allowed where the text so far is complete. Their bytes do not matter.
    package init(tokens: [[UInt8]], stopTokens: Set<Int32>) {
        vocabularySize = tokens.count
        let wordCount = (tokens.count + 63) / 64
        self.wordCount = wordCount
        self.stopTokens = stopTokens.filter { $0 >= 0 && Int($0) < tokens.count }.sorted()
        stopSet = Set(self.stopTokens)

        var members = [[Int32]](repeating: [], count: TokenClass.allCases.count)
        var longest = 1
        var tokenBytes: [UInt8] = []
        var byteStarts: [Int32] = [0]
        for (index, bytes) in tokens.enumerated() {
            defer { byteStarts.append(Int32(tokenBytes.count)) }
            // A token longer than a depth can say is no token of a real vocabulary; it is never allowed.
            guard !bytes.isEmpty, bytes.count < 1 << 12, !stopTokens.contains(Int32(index)) else { continue }
            longest = max(longest, bytes.count)
            tokenBytes += bytes
            members[TokenClass(bytes).rawValue].append(Int32(index))
        }
        maximumTokenLength = longest
        self.tokenBytes = tokenBytes
        self.byteStarts = byteStarts

        var nodes: [Node] = []
        var ids: [Int32] = []
        nodes.reserveCapacity(tokens.count * 2)
        ids.reserveCapacity(tokens.count)
        var slices: [Slice] = []
        for list in members {
            let first = nodes.count
            let sorted = list.sorted { left, right in
                let (a, b) = (tokens[Int(left)], tokens[Int(right)])
                return a == b ? left < right : a.lexicographicallyPrecedes(b)
            }
            Self.append(sorted, of: tokens, to: &nodes, &ids)
            let words = UnsafeMutablePointer<UInt64>.allocate(capacity: wordCount)
            words.initialize(repeating: 0, count: wordCount)
            for id in sorted { words[Int(id) >> 6] |= 1 << UInt64(id & 63) }
            var roots: [Int] = []
            var root = first
            while root < nodes.count {
                roots.append(root)
                root = Int(nodes[root].end)
            }
            slices.append(
                Slice(nodes: first..<nodes.count, roots: roots, words: words, tokenCount: sorted.count))
        }
        self.slices = slices
        stringProfile = StringProfile(tokens: tokens, members: members, wordCount: wordCount)
        keyTokens = KeyTokens(tokens: tokens, members: members[TokenClass.other.rawValue])
        let firstClosing = nodes.count
        let closingTokens = stringProfile.suffixEntries.map(\.token).sorted {
            tokens[Int($0)].lexicographicallyPrecedes(tokens[Int($1)])
        }
        Self.append(closingTokens, of: tokens, to: &nodes, &ids)
        closing = firstClosing..<nodes.count
        nodeCount = nodes.count
        // The tokens below a node end where those of the node behind it begin, so the last needs one behind it.
        nodes.append(Node(end: Int32(nodes.count), firstToken: Int32(ids.count), tokenCount: 0, depth: 1, byte: 0))
        self.nodes = .allocate(capacity: max(nodes.count, 1))
        self.nodes.initialize(from: nodes, count: nodes.count)
        tokenIDs = .allocate(capacity: max(ids.count, 1))
        tokenIDs.initialize(from: ids, count: ids.count)
    }

    deinit {
        nodes.deallocate()
        tokenIDs.deallocate()
        for slice in slices { slice.words.deallocate() }
    }

    /// Whether a token ends the output.
    func isStop(_ token: Int32) -> Bool { stopSet.contains(token) }

    /// The bytes of a token; nil for one that is never allowed, which includes stop tokens.
    func bytes(of token: Int32) -> ArraySlice<UInt8>? {
        guard token >= 0, Int(token) < vocabularySize else { return nil }
        let range = Int(byteStarts[Int(token)])..<Int(byteStarts[Int(token) + 1])
        return range.isEmpty ? nil : tokenBytes[range]
    }

    /// Appends the trie of tokens that come sorted by their bytes.
    private static func append(_ sorted: [Int32], of tokens: [[UInt8]], to nodes: inout [Node], _ ids: inout [Int32]) {
        /// The nodes from the root to the last token.
        var path: [Int] = []
        var previous: [UInt8] = []
        for id in sorted {
            let bytes = tokens[Int(id)]
            var common = 0
            while common < previous.count, common < bytes.count, previous[common] == bytes[common] { common += 1 }
            while path.count > common { nodes[path.removeLast()].end = Int32(nodes.count) }
            for depth in common..<max(common, bytes.count) {
                path.append(nodes.count)
                nodes.append(
                    Node(
                        end: 0, firstToken: Int32(ids.count), tokenCount: 0, depth: UInt16(depth + 1),
                        byte: bytes[depth]))
            }
            if let last = path.last {
                if nodes[last].tokenCount == 0 { nodes[last].firstToken = Int32(ids.count) }
                // More tokens of equal bytes than the count can say are left out, never wrongly allowed.
                if nodes[last].tokenCount < .max {
                    nodes[last].tokenCount += 1
                    ids.append(id)
                }
            }
            previous = bytes
        }
        while let last = path.popLast() { nodes[last].end = Int32(nodes.count) }
    }
}

extension TokenTrie.TokenClass {
    init(_ bytes: [UInt8]) {
        var sawSpace = false
        var sawPunctuation = false
        var sawUnicode = false
        var decoder = UTF8Validator()
        for byte in bytes {
            switch byte {
            case 0..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"):
                self = .other
                return
            case UInt8(ascii: " "): sawSpace = true
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                break
            case 0x80...: sawUnicode = true
            default: sawPunctuation = true
            }
            guard decoder.accept(byte) else {
                self = .other
                return
            }
        }
        if !decoder.isAtBoundary {
            self = .other
        } else if sawUnicode {
            self = .unicode
        } else if sawPunctuation {
            self = .ascii
        } else {
            self = sawSpace ? .spacedWord : .word
        }
    }
}
