extension Tokenizer {
    /// A number of tokens that `text` has at least, known without finding them: every byte is part of a token, and no token
    /// stands for more bytes than the longest does.
    ///
    /// Bytes that the vocabulary may leave out, and white space that a token next to it may swallow, do not count.
    package func leastTokenCount(of text: String) -> Int {
        var text = text
        let swallowsSpace = !specialTokens.stripsLeft.isEmpty || !specialTokens.stripsRight.isEmpty
        let counted = (0..<256).map { byte in
            byteTokens[byte] >= 0 && !(swallowsSpace && isSpace(UInt8(byte)))
        }
        let bytes = text.withUTF8 { text in
            counted.withUnsafeBufferPointer { counted in text.reduce(0) { $0 + (counted[Int($1)] ? 1 : 0) } }
        }
        return (bytes + mostBytesOfToken - 1) / mostBytesOfToken
    }

    /// The tokens of `text`.
    /// - Parameters:
    ///   - parsesSpecial: whether the text of a control token becomes that token, as in a rendered chat template;
    ///     otherwise it is text, as in what a user wrote. User-defined tokens are found in both cases.
    ///   - addsBOS: whether the begin-of-text token comes first *if the file wants one* and the text does not begin with it.
    ///   - addsEOS: whether the end-of-text token comes last if the file wants one and the text does not end with it.
    package func encode(
        _ text: String, parsesSpecial: Bool, addsBOS: Bool, addsEOS: Bool = false
    ) -> [TokenID] {
        encode(
            text, contentRanges: parsesSpecial ? [] : [0..<text.utf8.count], addsBOS: addsBOS, addsEOS: addsEOS)
    }

    /// The tokens of a text that a chat template made.
    ///
    /// The text is tokenised as a whole, so that tokens join across the borders of content as they did in training; but a
    /// control token that is spelled in content, or partly in content, is text like any other.
    /// - Parameter contentRanges: The bytes that do not come from the template itself, ascending.
    package func encode(
        _ text: String, contentRanges: [Range<Int>], addsBOS: Bool, addsEOS: Bool = false
    ) -> [TokenID] {
        var text = text
        var tokens = text.withUTF8 { encode($0, contentRanges: contentRanges) }
        if addsBOS, self.addsBOS, let bosToken, tokens.first != bosToken { tokens.insert(bosToken, at: 0) }
        if addsEOS, self.addsEOS, let eosToken, tokens.last != eosToken { tokens.append(eosToken) }
        return tokens
    }

    private func encode(_ text: UnsafeBufferPointer<UInt8>, contentRanges: [Range<Int>]) -> [TokenID] {
        var encoder = Encoder(self, text)
        var content = ContentCursor(contentRanges, count: text.count)
        var position = 0
        while position < text.count {
            let special = specialTokens.first(in: text, from: position, content: &content)
            var end = special?.range.lowerBound ?? text.count
            var next = special?.range.upperBound ?? text.count
            if let token = special?.token {
                if specialTokens.stripsLeft.contains(token) {
                    while end > position, isSpace(text[end - 1]) { end -= 1 }
                }
                if specialTokens.stripsRight.contains(token) {
                    while next < text.count, isSpace(text[next]) { next += 1 }
                }
            }
            if end > position { encoder.append(position..<end) }
            if let token = special?.token { encoder.append(token) }
            position = next
        }
        return encoder.tokens
    }

    private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
}
