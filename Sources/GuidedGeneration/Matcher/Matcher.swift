/// Where an output stands in its grammar. A value: a copy is a snapshot to come back to.
package struct Matcher: Sendable {
    private let trie: TokenTrie

    package init(_ grammar: Grammar, trie: TokenTrie) {
        self.trie = trie
    }

    /// The tokens that may come next; stop tokens are among them where the text so far is complete.
    package mutating func mask() -> TokenMask { TokenMask(tokens: [], vocabularySize: trie.vocabularySize) }

    /// Goes on by a token.
    /// - Returns: Whether the token was allowed; when it was not, nothing has changed.
    package mutating func accept(_ token: Int32) -> Bool { false }

    /// Goes on by text.
    /// - Returns: Whether the text was allowed; when it was not, nothing has changed.
    package mutating func accept(bytes: some Sequence<UInt8>) -> Bool { false }

    /// The text that must come next whatever the model says; empty when there is a choice.
    package mutating func forcedBytes() -> [UInt8] { [] }

    /// Whether the text so far is complete.
    package var isAccepting: Bool { false }

    /// Whether the text so far is complete and nothing can follow.
    package var isFinished: Bool { false }
}
