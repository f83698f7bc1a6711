extension Tokenizer {
    /// What the token adds to the output text; empty for control tokens and for ids that the vocabulary does not have. The
    /// bytes need not be whole characters.
    package func bytes(of token: TokenID) -> [UInt8] {
        guard vocabulary.contains(token), !isControl(token) else { return [] }
        return Array(vocabulary.pieces[Int(token)])
    }

    /// The text of the tokens, the inverse of `encode`. Bytes that are no UTF-8 become U+FFFD.
    /// - Parameter skipsSpecial: whether control tokens add nothing; otherwise they add their own text.
    package func decode(_ tokens: some Sequence<TokenID>, skipsSpecial: Bool) -> String {
        var bytes: [UInt8] = []
        var follows = DecodingState()
        for token in tokens { append(token, to: &bytes, after: &follows, skipsSpecial: skipsSpecial) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the space that `encode` puts before a text is still to be taken away.
    struct DecodingState {
        var strips = true
    }

    /// Appends what `token` adds to a text.
    func append(
        _ token: TokenID, to bytes: inout [UInt8], after state: inout DecodingState, skipsSpecial: Bool
    ) {
        guard vocabulary.contains(token) else { return }
        let type = vocabulary.types[Int(token)]
        if type == .control || type == .unknown || type == .userDefined {
            if type == .userDefined || !skipsSpecial { bytes.append(contentsOf: vocabulary.pieces[Int(token)]) }
            state.strips = true
            return
        }
        var piece = vocabulary.pieces[Int(token)]
        guard !piece.isEmpty else { return }
        if addsSpacePrefix, state.strips, piece.first == UInt8(ascii: " ") { piece.removeFirst() }
        state.strips = false
        bytes.append(contentsOf: piece)
    }
}
