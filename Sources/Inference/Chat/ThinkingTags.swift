/// Tells thoughts from the answer in the text of a model that writes its thoughts between `<think>` and `</think>` before it
/// answers, as Qwen3 and DeepSeek-R1 do.
///
/// Only tags at the very beginning count: a text that speaks of the tag later is an answer. White space around the
/// thoughts belongs to nobody. Pieces may end anywhere, in the middle of a tag too.
package struct ThinkingTags: Sendable {
    package enum Part: Hashable, Sendable {
        case thought(String)
        case answer(String)
    }

    private enum State {
        case beginning
        /// Behind the opening tag, before the first character of the thoughts.
        case opened
        case thinking
        /// Behind the closing tag, before the first character of the answer.
        case closed
        case answering
    }

    package static let opening = "<think>"
    package static let closing = "</think>"
    private static let openingBytes = Array(opening.utf8)
    private static let closingBytes = Array(closing.utf8)

    private var state: State
    /// What has come and may still turn out to be a tag, or white space beside one. Bytes, since a tag ends where it ends,
    /// whatever the character after it would combine with. It is cut beside ASCII alone, so that its parts are texts.
    private var held: [UInt8] = []

    /// - Parameter startsInside: Whether the prompt ended with the opening tag, so that the text begins with a thought.
    package init(startsInside: Bool = false) { state = startsInside ? .opened : .beginning }

    /// Whether the thoughts have come to their end.
    package var isClosed: Bool { state == .closed || state == .answering }

    /// - Returns: What is certain with this piece, in order.
    package mutating func append(_ piece: String) -> [Part] {
        held += piece.utf8
        var parts: [Part] = []
        while step(&parts) {}
        return parts
    }

    /// - Returns: What was held back until the end. Thoughts that were not closed stay thoughts.
    package mutating func finish() -> [Part] {
        defer { held = [] }
        guard !held.isEmpty else { return [] }
        switch state {
        case .beginning, .answering: return [.answer(Self.text(held))]
        case .thinking:
            let end = Self.trimmedEnd(held[...])
            return end == 0 ? [] : [.thought(Self.text(held[..<end]))]
        case .opened, .closed: return []
        }
    }

    /// - Returns: Whether there may be more to do.
    private mutating func step(_ parts: inout [Part]) -> Bool {
        switch state {
        case .beginning:
            let text = held.drop(while: Self.isSpace)
            if text.starts(with: Self.openingBytes) {
                held = Array(text.dropFirst(Self.openingBytes.count))
                state = .opened
                return true
            }
            if Self.openingBytes.starts(with: text) { return false }
            state = .answering
            return true
        case .opened, .closed:
            held.removeFirst(held.prefix(while: Self.isSpace).count)
            if held.isEmpty { return false }
            state = state == .opened ? .thinking : .answering
            return true
        case .thinking:
            if let range = held.firstRange(of: Self.closingBytes) {
                let end = Self.trimmedEnd(held[..<range.lowerBound])
                if end > 0 { parts.append(.thought(Self.text(held[..<end]))) }
                held.removeFirst(range.upperBound)
                state = .closed
                return true
            }
            // What may be the beginning of the closing tag waits, and white space that may stand before it.
            let most = min(held.count, Self.closingBytes.count - 1)
            let kept = (0...most).last { held.suffix($0).elementsEqual(Self.closingBytes.prefix($0)) } ?? 0
            let end = Self.trimmedEnd(held.dropLast(kept))
            if end > 0 { parts.append(.thought(Self.text(held[..<end]))) }
            held.removeFirst(end)
            return false
        case .answering:
            if !held.isEmpty { parts.append(.answer(Self.text(held))) }
            held = []
            return false
        }
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    /// The place behind the last byte that is no white space.
    private static func trimmedEnd(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? 0
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }
}
