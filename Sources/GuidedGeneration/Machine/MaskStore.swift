/// Masks by the top of the stack, and by as many levels below it as they depend on.
///
/// Whether a mask depends on a level is known only when it is made: some token that closes the value, and goes on behind it, must
/// have got so far. So a level leads either to a mask or to the levels below it, and the same levels always to the same.
final class MaskStore {
    private final class Entry {
        var mask: TokenMask?
        var below: [Int32: Entry] = [:]
    }

    private var entries: [Int32: Entry] = [:]
    /// The words of 64 bits in the masks that are kept.
    private var wordCount = 0
    /// 64 MB.
    private static let wordLimit = 8 << 20

    func find(_ stack: [Matcher.Level]) -> TokenMask? {
        var index = stack.count - 1
        guard var entry = entries[stack[index].state] else { return nil }
        while true {
            if let mask = entry.mask { return mask }
            index -= 1
            guard index >= 0, let next = entry.below[stack[index].state] else { return nil }
            entry = next
        }
    }

    /// Keeps a mask that depends on the levels of a stack from `lowest` up.
    func add(_ mask: TokenMask, _ stack: [Matcher.Level], lowest: Int) {
        if wordCount > Self.wordLimit {
            entries = [:]
            wordCount = 0
        }
        wordCount += (mask.words?.count ?? 0) + 16
        var index = stack.count - 1
        var entry = entries[stack[index].state] ?? Entry()
        entries[stack[index].state] = entry
        while index > lowest {
            index -= 1
            let next = entry.below[stack[index].state] ?? Entry()
            entry.below[stack[index].state] = next
            entry = next
        }
        entry.mask = mask
    }
}
