/// Many byte strings in one allocation: the form in which a file's vocabulary and merges travel, so that a vocabulary of
/// a quarter of a million tokens costs two arrays and not a quarter of a million.
package struct StringTable: Sendable, Hashable {
    /// All strings, one after the other.
    package private(set) var bytes: [UInt8] = []
    /// Where string `i` ends in `bytes`; it begins where the one before it ends.
    package private(set) var ends: [Int] = []

    package init() {}

    /// The strings of `bytes` that end at `ends`, which ascend to `bytes.count`.
    init(bytes: [UInt8], ends: [Int]) {
        self.bytes = bytes
        self.ends = ends
    }

    package init(_ strings: some Sequence<String>) {
        for string in strings { append(string.utf8) }
    }

    package var count: Int { ends.count }

    package mutating func reserveCapacity(_ count: Int, byteCount: Int) {
        ends.reserveCapacity(count)
        bytes.reserveCapacity(byteCount)
    }

    package mutating func append(_ string: some Sequence<UInt8>) {
        bytes.append(contentsOf: string)
        ends.append(bytes.count)
    }

    package mutating func append(_ string: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: string)
        ends.append(bytes.count)
    }

    package func range(at index: Int) -> Range<Int> {
        (index == 0 ? 0 : ends[index - 1])..<ends[index]
    }

    /// Whether the string at `range` of `bytes`, which is as long as `text`, is `text`.
    @inline(__always)
    func matches(_ text: UnsafeBufferPointer<UInt8>, at range: Range<Int>) -> Bool {
        var index = range.lowerBound
        for byte in text {
            if bytes[index] != byte { return false }
            index &+= 1
        }
        return true
    }

    package subscript(index: Int) -> ArraySlice<UInt8> { bytes[range(at: index)] }

    /// The string as text, with U+FFFD for what is not UTF-8.
    package func text(at index: Int) -> String { String(decoding: self[index], as: UTF8.self) }
}

extension StringTable: ExpressibleByArrayLiteral {
    package init(arrayLiteral strings: String...) { self.init(strings) }
}
