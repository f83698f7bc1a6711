/// What may be merged, and in which order.
package protocol MergeRules {
    /// The token that two neighbouring symbols become, or `Merge.none`. `text` is where both stand in the bytes that are
    /// being tokenized. A symbol that is no token has the id -1.
    func merge(_ left: TokenID, _ right: TokenID, text: UnsafeBufferPointer<UInt8>) -> Merge
}

/// A possible merge of two neighbours: its order (the least is done first) above the id of the token that it makes.
package struct Merge {
    var packed: UInt64

    package static let none = Merge(packed: .max)

    @inline(__always)
    package init(order: UInt32, id: TokenID) { packed = UInt64(order) << 32 | UInt64(UInt32(bitPattern: id)) }

    @inline(__always)
    private init(packed: UInt64) { self.packed = packed }

    package var isNone: Bool { packed == .max }
    package var order: UInt32 { UInt32(truncatingIfNeeded: packed >> 32) }
    package var id: TokenID { TokenID(truncatingIfNeeded: packed) }
}
