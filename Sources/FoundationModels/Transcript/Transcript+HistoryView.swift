extension Transcript {
    /// The entries behind the leading instructions: all of them when the transcript does not begin with instructions.
    ///
    /// - Complexity: O(1) to read, O(`count`) to write.
    public var history: HistoryView {
        get {
            if case .instructions? = entries.first { return HistoryView(base: entries.dropFirst()) }
            return HistoryView(base: entries[...])
        }
        set {
            if case .instructions(let instructions)? = entries.first {
                entries = [.instructions(instructions)] + newValue.base
            } else {
                entries = Array(newValue.base)
            }
        }
    }

    /// A part of a transcript that can be cut, filtered and added to like an array.
    public struct HistoryView: MutableCollection, RandomAccessCollection, RangeReplaceableCollection, Sendable,
        ExpressibleByArrayLiteral
    {
        public typealias Element = Transcript.Entry
        public typealias SubSequence = HistoryView

        /// A position in a history.
        public struct Index: Comparable, Hashable, Sendable {
            var offset: Int

            public static func < (left: Index, right: Index) -> Bool { left.offset < right.offset }
        }

        var base: ArraySlice<Entry>

        init(base: ArraySlice<Entry>) { self.base = base }

        public init() { base = [] }

        public init(arrayLiteral elements: Transcript.Entry...) { base = elements[...] }

        public var startIndex: Index { Index(offset: base.startIndex) }
        public var endIndex: Index { Index(offset: base.endIndex) }

        public func index(after i: Index) -> Index { Index(offset: i.offset + 1) }
        public func index(before i: Index) -> Index { Index(offset: i.offset - 1) }
        public func index(_ i: Index, offsetBy distance: Int) -> Index { Index(offset: i.offset + distance) }
        public func distance(from start: Index, to end: Index) -> Int { end.offset - start.offset }

        public subscript(position: Index) -> Transcript.Entry {
            get { base[position.offset] }
            set { base[position.offset] = newValue }
        }

        public subscript(bounds: Range<Index>) -> HistoryView {
            get { HistoryView(base: base[bounds.lowerBound.offset..<bounds.upperBound.offset]) }
            set { replaceSubrange(bounds, with: newValue) }
        }

        public mutating func append(_ newElement: Transcript.Entry) { base.append(newElement) }

        public mutating func append(contentsOf newElements: some Sequence<Transcript.Entry>) {
            base.append(contentsOf: newElements)
        }

        public mutating func replaceSubrange<C>(_ subrange: Range<Index>, with newElements: C)
        where C: Collection, C.Element == Transcript.Entry {
            base.replaceSubrange(subrange.lowerBound.offset..<subrange.upperBound.offset, with: newElements)
        }
    }
}
