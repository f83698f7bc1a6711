extension Transcript: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
    public typealias Index = Int

    public init() { entries = [] }

    public subscript(index: Index) -> Entry {
        get { entries[index] }
        set { entries[index] = newValue }
    }

    public var startIndex: Int { entries.startIndex }
    public var endIndex: Int { entries.endIndex }

    public mutating func replaceSubrange<C>(_ subrange: Range<Int>, with newElements: consuming C)
    where C: Collection, C.Element == Entry {
        entries.replaceSubrange(subrange, with: newElements)
    }
}
