/// Finds the places of a text in others, in time proportional to their lengths, whatever the texts are.
///
/// Source: Knuth, Morris and Pratt, "Fast Pattern Matching in Strings" (1977).
struct TextSearch {
    private let part: [UInt8]
    /// For each beginning of the part the length of its longest proper beginning that is also its end.
    private let borders: [Int]

    /// - Parameter part: Not empty.
    init(_ part: some Sequence<UInt8>) {
        let part = Array(part)
        var borders = [Int](repeating: 0, count: part.count)
        var length = 0
        for index in part.indices.dropFirst() {
            while length > 0, part[index] != part[length] { length = borders[length - 1] }
            if part[index] == part[length] { length += 1 }
            borders[index] = length
        }
        self.part = part
        self.borders = borders
    }

    /// The first place at or after a position, in bytes.
    func first(in text: [UInt8], from start: Int = 0) -> Range<Int>? {
        text.withUnsafeBufferPointer { text in
            part.withUnsafeBufferPointer { part in
                var matched = 0
                var index = start
                while index < text.count {
                    while matched > 0, text[index] != part[matched] { matched = borders[matched - 1] }
                    if text[index] == part[matched] { matched += 1 }
                    index += 1
                    if matched == part.count { return index - matched..<index }
                }
                return nil
            }
        }
    }

    /// All places that do not overlap, in their order.
    ///
    /// - Parameters:
    ///   - maximum: How many are looked for; negative for all.
    ///   - fromEnd: Whether they are counted from the end.
    static func places(of part: String, in text: String, maximum: Int = -1, fromEnd: Bool = false) -> [Range<Int>] {
        let bytes = fromEnd ? text.utf8.reversed() : Array(text.utf8)
        let search = fromEnd ? TextSearch(part.utf8.reversed()) : TextSearch(part.utf8)
        var found: [Range<Int>] = []
        var position = 0
        while maximum < 0 || found.count < maximum, let next = search.first(in: bytes, from: position) {
            found.append(next)
            position = next.upperBound
        }
        guard fromEnd else { return found }
        return found.reversed().map { bytes.count - $0.upperBound..<bytes.count - $0.lowerBound }
    }
}
