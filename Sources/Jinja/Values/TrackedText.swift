/// A text that knows which of its bytes are content: what the context brought in, as opposed to what the template says.
///
/// Content may spell the control tokens of a model's vocabulary, by chance or by intent. Only what a template says may
/// become such tokens, so every operation on texts keeps the marks, and where it cannot say what went where, all of its
/// result is content.
package struct TrackedText: Sendable, Equatable, ExpressibleByStringLiteral {
    package private(set) var string: String
    /// Ranges of UTF-8 bytes: ascending, not empty, not touching one another.
    package private(set) var contentRanges: [Range<Int>]

    /// More ranges than any prompt has are not kept apart: then everything from the first one on is content.
    static let maximumRangeCount = 100_000

    /// - Parameter isContent: Whether all of the text is content.
    package init(_ string: String = "", isContent: Bool = false) {
        self.string = string
        contentRanges = isContent && !string.isEmpty ? [0..<string.utf8.count] : []
    }

    package init(stringLiteral value: String) { self.init(value) }

    private init(_ string: String, contentRanges: [Range<Int>]) {
        self.string = string
        self.contentRanges = contentRanges
    }

    var hasContent: Bool { !contentRanges.isEmpty }
    var isEmpty: Bool { string.isEmpty }
    /// The length in UTF-8.
    var byteCount: Int { string.utf8.count }

    // MARK: - Joining

    private mutating func markContent(_ range: Range<Int>) {
        if let last = contentRanges.last,
            last.upperBound >= range.lowerBound || contentRanges.count >= Self.maximumRangeCount
        {
            contentRanges[contentRanges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
        } else if !range.isEmpty {
            contentRanges.append(range)
        }
    }

    static func += (left: inout TrackedText, right: TrackedText) {
        let offset = left.byteCount
        left.string += right.string
        for range in right.contentRanges { left.markContent(range.lowerBound + offset..<range.upperBound + offset) }
    }

    static func + (left: TrackedText, right: TrackedText) -> TrackedText {
        var result = left
        result += right
        return result
    }

    mutating func append(_ template: String) { string += template }

    mutating func append(_ scalar: TrackedScalar) {
        let start = byteCount
        string.unicodeScalars.append(scalar.scalar)
        if scalar.isContent { markContent(start..<byteCount) }
    }

    init(joining parts: some Sequence<TrackedText>, separator: TrackedText = "") {
        self.init()
        for (index, part) in parts.enumerated() {
            if index > 0, !separator.isEmpty { self += separator }
            self += part
        }
    }

    /// - Parameter count: Not negative; the caller has bounded the product.
    func repeated(_ count: Int) -> TrackedText {
        let result = String(repeating: string, count: count)
        if contentRanges.isEmpty || count == 0 { return TrackedText(result) }
        if contentRanges == [0..<byteCount] { return TrackedText(result, isContent: true) }
        var tracked = TrackedText(result)
        for index in 0..<count {
            for range in contentRanges {
                tracked.markContent(range.lowerBound + index * byteCount..<range.upperBound + index * byteCount)
            }
        }
        return tracked
    }

    // MARK: - Taking apart

    /// A part of the text, by UTF-8 bytes that begin and end characters.
    func slice(_ range: Range<Int>) -> TrackedText {
        let start = string.utf8.index(string.utf8.startIndex, offsetBy: range.lowerBound)
        let end = string.utf8.index(start, offsetBy: range.count)
        return slice(start..<end, bytes: range)
    }

    /// A part of the text that one of its functions for plain texts gave, such as a text without its edges.
    func slice(_ part: Substring.UnicodeScalarView) -> TrackedText {
        if contentRanges.isEmpty { return TrackedText(String(part)) }
        let start = string.utf8.distance(from: string.utf8.startIndex, to: part.startIndex)
        return slice(
            part.startIndex..<part.endIndex,
            bytes: start..<start + string.utf8.distance(from: part.startIndex, to: part.endIndex))
    }

    private func slice(_ range: Range<String.Index>, bytes: Range<Int>) -> TrackedText {
        var result = TrackedText(String(string[range]))
        guard !contentRanges.isEmpty else { return result }
        for content in contentRanges[firstRange(endingAfter: bytes.lowerBound)...] {
            guard content.lowerBound < bytes.upperBound else { break }
            let common = content.clamped(to: bytes)
            result.markContent(common.lowerBound - bytes.lowerBound..<common.upperBound - bytes.lowerBound)
        }
        return result
    }

    private func firstRange(endingAfter position: Int) -> Int {
        var (low, high) = (0, contentRanges.count)
        while low < high {
            let middle = (low + high) / 2
            if contentRanges[middle].upperBound > position { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// The code points, each with whether it is content.
    var scalars: Scalars { Scalars(self) }

    struct Scalars: Sequence, IteratorProtocol {
        private var scalars: String.UnicodeScalarView.Iterator
        private let contentRanges: [Range<Int>]
        private var position = 0
        private var range = 0

        fileprivate init(_ text: TrackedText) {
            scalars = text.string.unicodeScalars.makeIterator()
            contentRanges = text.contentRanges
        }

        mutating func next() -> TrackedScalar? {
            guard let scalar = scalars.next() else { return nil }
            while range < contentRanges.count, contentRanges[range].upperBound <= position { range += 1 }
            let isContent = range < contentRanges.count && contentRanges[range].lowerBound <= position
            position += UTF8.width(scalar)
            return TrackedScalar(scalar: scalar, isContent: isContent)
        }
    }

    init(_ scalars: some Sequence<TrackedScalar>) {
        self.init()
        for scalar in scalars { append(scalar) }
    }

    // MARK: - Making other texts

    /// The text with something else for some bytes of ASCII. What stands for a byte is content if the byte was.
    func replacingBytes(_ replacement: (UInt8) -> StaticString?) -> TrackedText {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount + byteCount / 4)
        var ranges = contentRanges
        var range = 0
        // The bounds of ranges ascend, so that each is passed once.
        var bound = ranges.first?.lowerBound
        var isInside = false
        func pass(_ position: Int) {
            while let next = bound, next == position {
                if isInside {
                    ranges[range] = ranges[range].lowerBound..<bytes.count
                    range += 1
                    bound = range < ranges.count ? ranges[range].lowerBound : nil
                } else {
                    let end = ranges[range].upperBound
                    bound = end
                    ranges[range] = bytes.count..<max(bytes.count, end)
                }
                isInside.toggle()
            }
        }
        for (position, byte) in string.utf8.enumerated() {
            pass(position)
            if let other = replacement(byte) {
                other.withUTF8Buffer { bytes.append(contentsOf: $0) }
            } else {
                bytes.append(byte)
            }
        }
        pass(byteCount)
        return TrackedText(String(decoding: bytes, as: UTF8.self), contentRanges: ranges)
    }

    /// What a function makes of the text. If it changes lengths, a mark spreads over all of it.
    func map(_ body: (String) throws(JinjaError) -> String) throws(JinjaError) -> TrackedText {
        let result = try body(string)
        if contentRanges.isEmpty { return TrackedText(result) }
        if result.utf8.count == byteCount, hasSameWidths(result) {
            return TrackedText(result, contentRanges: contentRanges)
        }
        return TrackedText(result, isContent: true)
    }

    private func hasSameWidths(_ other: String) -> Bool {
        zip(string.utf8, other.utf8).allSatisfy { ($0 & 0xc0 == 0x80) == ($1 & 0xc0 == 0x80) }
    }

    /// The text with all of it content if `isContent` says so.
    func marked(_ isContent: Bool) -> TrackedText { isContent ? TrackedText(string, isContent: true) : self }
}

/// A code point of a text, and whether it is content.
struct TrackedScalar {
    var scalar: Unicode.Scalar
    var isContent: Bool
}
