/// What each token does inside a free JSON string, seen from between two characters: it stays inside, or it closes the string
/// and goes on behind it. Made once per vocabulary, so that the mask inside a string needs no walk.
///
/// A character counts once however it is spelled: as itself, as an escape, or as a pair of surrogate escapes.
final class StringProfile: @unchecked Sendable {  // immutable after init
    /// A token that stays inside, by the characters that the string must still have room for.
    struct Inside {
        var token: Int32
        /// The characters that the token holds or begins.
        var characters: Int32
    }

    /// The tokens that close the string, as a trie over the bytes behind the quotation mark, depth first.
    struct SuffixNode {
        var end: Int32
        var firstEntry: Int32
        var entryCount: Int32
        var depth: UInt16
        var byte: UInt8
    }

    /// The tokens that stay inside, by rising number of characters.
    let inside: [Inside]
    /// `prefixCounts[n]`: how many entries of `inside` have at most n characters, n up to the longest.
    let prefixCounts: [Int]
    /// Bit sets of the tokens with at most n characters, n up to `wordSetCount - 1`.
    let wordSets: UnsafeMutablePointer<UInt64>
    let wordSetCount: Int
    let allInside: UnsafeMutablePointer<UInt64>
    let wordCount: Int
    /// Node 0 is the root: tokens that end with the quotation mark.
    let suffixes: [SuffixNode]
    let suffixEntries: [Inside]

    init(tokens: [[UInt8]], members: [[Int32]], wordCount: Int) {
        self.wordCount = wordCount
        var inside: [Inside] = []
        var closing: [(suffix: ArraySlice<UInt8>, entry: Inside)] = []
        for (index, list) in members.enumerated() {
            let isPlain = index != TokenTrie.TokenClass.other.rawValue
            for token in list {
                let bytes = tokens[Int(token)]
                if isPlain {
                    var count: Int32 = 0
                    for byte in bytes where byte & 0xc0 != 0x80 { count += 1 }
                    inside.append(Inside(token: token, characters: count))
                    continue
                }
                var scanner = FreeStringScanner()
                scan: for (offset, byte) in bytes.enumerated() {
                    switch scanner.accept(byte) {
                    case .rejected: break scan
                    case .closed:
                        let entry = Inside(token: token, characters: Int32(scanner.characters))
                        closing.append((bytes[(offset + 1)...], entry))
                        break scan
                    case .inside:
                        guard offset == bytes.count - 1 else { continue }
                        inside.append(Inside(token: token, characters: Int32(scanner.charactersBegun)))
                    }
                }
            }
        }
        inside.sort { ($0.characters, $0.token) < ($1.characters, $1.token) }
        self.inside = inside
        let longest = Int(inside.last?.characters ?? 0)
        var prefixCounts = [Int](repeating: 0, count: longest + 1)
        for entry in inside { prefixCounts[Int(entry.characters)] += 1 }
        for index in prefixCounts.indices.dropFirst() { prefixCounts[index] += prefixCounts[index - 1] }
        self.prefixCounts = prefixCounts

        wordSetCount = min(longest, 32) + 1
        wordSets = .allocate(capacity: wordSetCount * wordCount + 1)
        wordSets.initialize(repeating: 0, count: wordSetCount * wordCount + 1)
        allInside = .allocate(capacity: wordCount + 1)
        allInside.initialize(repeating: 0, count: wordCount + 1)
        for entry in inside {
            let (word, bit) = (Int(entry.token) >> 6, UInt64(1) << UInt64(entry.token & 63))
            allInside[word] |= bit
            for limit in Int(entry.characters)..<max(wordSetCount, Int(entry.characters)) {
                wordSets[limit * wordCount + word] |= bit
            }
        }

        closing.sort { left, right in
            left.suffix.elementsEqual(right.suffix)
                ? left.entry.token < right.entry.token : left.suffix.lexicographicallyPrecedes(right.suffix)
        }
        var nodes = [SuffixNode(end: 0, firstEntry: 0, entryCount: 0, depth: 0, byte: 0)]
        var entries: [Inside] = []
        var path = [0]
        var previous: ArraySlice<UInt8> = []
        for (suffix, entry) in closing {
            let common = zip(previous, suffix).prefix { $0 == $1 }.count
            while path.count > common + 1 { nodes[path.removeLast()].end = Int32(nodes.count) }
            for byte in suffix.dropFirst(common) {
                nodes.append(
                    SuffixNode(
                        end: 0, firstEntry: Int32(entries.count), entryCount: 0, depth: UInt16(path.count), byte: byte))
                path.append(nodes.count - 1)
            }
            let last = path[path.count - 1]
            if nodes[last].entryCount == 0 { nodes[last].firstEntry = Int32(entries.count) }
            nodes[last].entryCount += 1
            entries.append(entry)
            previous = suffix
        }
        while let last = path.popLast() { nodes[last].end = Int32(nodes.count) }
        suffixes = nodes
        suffixEntries = entries
    }

    deinit {
        wordSets.deallocate()
        allInside.deallocate()
    }
}

/// Reads a JSON string byte by byte behind its opening quotation mark.
struct FreeStringScanner {
    enum Step { case inside, closed, rejected }

    private enum State {
        case boundary
        case multibyte
        case escape
        /// Behind `\u`: digits so far and their value.
        case hex(count: Int, value: UInt32, isLow: Bool)
        /// Behind the first half of a pair: the backslash, then the `u`.
        case lowBackslash
        case lowU
    }

    private var state = State.boundary
    private var validator = UTF8Validator()
    /// The whole characters so far.
    private(set) var characters = 0

    /// The whole characters and the one that has begun.
    var charactersBegun: Int {
        if case .boundary = state { characters } else { characters + 1 }
    }

    mutating func accept(_ byte: UInt8) -> Step {
        switch state {
        case .boundary:
            switch byte {
            case UInt8(ascii: "\""): return .closed
            case UInt8(ascii: "\\"): state = .escape
            case 0..<0x20: return .rejected
            default:
                guard validator.accept(byte) else { return .rejected }
                if validator.isAtBoundary { characters += 1 } else { state = .multibyte }
            }
        case .multibyte:
            guard validator.accept(byte) else { return .rejected }
            if validator.isAtBoundary { finishCharacter() }
        case .escape:
            switch byte {
            case UInt8(ascii: "u"): state = .hex(count: 0, value: 0, isLow: false)
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
                UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
                finishCharacter()
            default: return .rejected
            }
        case .hex(let count, let value, let isLow):
            guard let digit = hexadecimalValue(byte) else { return .rejected }
            let next = value << 4 | digit
            if isLow, count == 0, digit != 0xd { return .rejected }
            if isLow, count == 1, digit < 0xc { return .rejected }
            // `\udc00` and up is the second half of a pair that has no first.
            if !isLow, count == 1, value == 0xd, digit >= 0xc { return .rejected }
            if count < 3 {
                state = .hex(count: count + 1, value: next, isLow: isLow)
            } else if !isLow, (0xd800..<0xdc00).contains(next) {
                state = .lowBackslash
            } else {
                finishCharacter()
            }
        case .lowBackslash:
            guard byte == UInt8(ascii: "\\") else { return .rejected }
            state = .lowU
        case .lowU:
            guard byte == UInt8(ascii: "u") else { return .rejected }
            state = .hex(count: 0, value: 0, isLow: true)
        }
        return .inside
    }

    private mutating func finishCharacter() {
        characters += 1
        state = .boundary
    }
}

/// The value of a hexadecimal digit of either case.
func hexadecimalValue(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A")) + 10
    default: nil
    }
}
