/// A text that is equal to another only when their code points are.
package struct ExactText: Hashable, Sendable {
    package let string: String

    package init(_ string: String) { self.string = string }

    package static func == (left: ExactText, right: ExactText) -> Bool {
        // Equal code points are equal to Swift too, which compares most texts byte by byte.
        left.string.utf8.count == right.string.utf8.count && left.string == right.string
            && left.string.utf8.elementsEqual(right.string.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        let isHashed: Void? = string.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isHashed == nil { for byte in string.utf8 { hasher.combine(byte) } }
    }
}

extension ExactText: Comparable {
    /// By the bytes of UTF-8, which have the order of the code points.
    package static func < (left: ExactText, right: ExactText) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }
}
