import JSON

/// The bytes of a language's texts as they are spelled: an automaton over bytes that is made state by state as it is walked.
///
/// Between characters it stands at a state of the language. Inside a character, which UTF-8 or an escape spells in several
/// bytes, it remembers which characters are still possible and where each leads; states that remember the same are one.
final class TextAutomaton {
    /// No text of the language goes on so.
    static let dead: Int32 = -1
    /// The quotation mark that ends the string.
    static let closes: Int32 = -2

    /// Characters, counted from the first that the bytes so far allow, and where they lead.
    private struct Branch: Hashable {
        var low: UInt32
        var high: UInt32
        var target: Int32
    }

    private enum State: Hashable {
        /// Between characters.
        case boundary(Int32)
        /// Bytes of a UTF-8 sequence still to come.
        case continuation(remaining: Int32, branches: [Branch])
        case escape(Int32)
        /// Hexadecimal digits still to come, then the characters that those spell.
        case hex(remaining: Int32, branches: [Branch], surrogate: Int32)
        /// Behind the first half of a surrogate pair, before the backslash (0), the `u` (1) and the digits (2...5) of the second.
        case low(step: Int32, target: Int32)
    }

    let language: Program.Language
    let automaton: Automaton
    private(set) lazy var distances = AutomatonDistances(automaton)
    @exclusivity(unchecked) private var states: [State] = []
    @exclusivity(unchecked) private var numbers: [State: Int32] = [:]
    @exclusivity(unchecked) private var rows: [UnsafeMutablePointer<Int32>?] = []
    /// The state of the language where a state is between characters, else -1.
    @exclusivity(unchecked) private(set) var positions: [Int32] = []
    /// The states of the language that a state can come to with the character that it is inside.
    @exclusivity(unchecked) private(set) var targets: [[Int32]] = []
    @exclusivity(unchecked) private var cuts: [ByteSet] = []

    static let start: Int32 = 0

    init(_ language: Program.Language) {
        self.language = language
        automaton =
            switch language.texts {
            case .of(let automaton): automaton.automaton
            case .allBut(let texts): .allBut(texts.map(\.string))
            }
        _ = number(.boundary(0))
    }

    deinit { for row in rows { row?.deallocate() } }

    private func number(_ state: State) -> Int32 {
        if let known = numbers[state] { return known }
        let new = Int32(states.count)
        numbers[state] = new
        states.append(state)
        rows.append(nil)
        cuts.append(ByteSet())
        switch state {
        case .boundary(let position):
            positions.append(position)
            targets.append([])
        case .continuation(_, let branches): add(branches.map(\.target))
        case .escape(let position): add(escapedTargets(position))
        case .hex(_, let branches, let surrogate): add(branches.map(\.target) + (surrogate >= 0 ? [surrogate] : []))
        case .low(_, let target): add([target])
        }
        return new
    }

    private func add(_ list: [Int32]) {
        positions.append(-1)
        targets.append(Set(list).sorted())
    }

    /// Whether every text of the language is the beginning of endlessly many others.
    private(set) lazy var isEndless: Bool = (0..<Int32(automaton.stateCount)).allSatisfy {
        distances.longest(from: $0) == .max
    }

    /// The scalars that a text may have. Only numbers without end have a limit: enough for every `Int`, `Double` and `Decimal`
    /// (38 digits behind a sign, a zero and a point), so that a model that goes on with digits comes to an end.
    private(set) lazy var lengthLimit: Int32 =
        language.spelling != .plain || distances.longest(from: 0) < .max
        ? Count.endless : max(Self.numberLimit, distances.shortest(from: 0) + Self.numberLimit / 2)

    private static let numberLimit: Int32 = 41

    /// Whether every character can follow, here and for ever, in every spelling.
    private(set) lazy var isTotal: Bool =
        language.spelling == .free && automaton.isTotal
        && (0..<Int32(automaton.stateCount)).allSatisfy { wideTarget($0) >= 0 }

    /// The classes of tokens, as bits, whose every character leads a state of the language back to itself.
    @exclusivity(unchecked) private var loopBits: [Int32: UInt8] = [:]

    func loops(at position: Int32) -> UInt8 {
        if let known = loopBits[position] { return known }
        var result: UInt8 = 0
        for (index, set) in TokenTrie.TokenClass.characters.enumerated() {
            var isLoop = true
            for range in set.ranges where isLoop {
                isLoop = automaton.edges(of: position).contains {
                    $0.target == position && $0.low <= range.low && $0.high >= range.high
                }
            }
            if isLoop { result |= 1 << UInt8(index) }
        }
        loopBits[position] = result
        return result
    }

    /// Whether a state is between characters and the text may end there.
    func accepts(_ state: Int32) -> Bool {
        let position = positions[Int(state)]
        return position >= 0 && automaton.accepts[Int(position)]
    }

    /// Whether nothing can follow.
    func isTerminal(_ state: Int32) -> Bool {
        let position = positions[Int(state)]
        return position >= 0 && automaton.edges(of: position).isEmpty
    }

    /// Whether a text can be completed with at least and at most so many scalars, the one that has begun among them.
    func canFinish(_ state: Int32, lower: Int32, upper: Int32) -> Bool {
        if lower == 0, upper == Count.endless { return true }
        let position = positions[Int(state)]
        if position >= 0 { return distances.canFinish(position, lower: lower, upper: upper) }
        guard upper > 0 else { return false }
        let (lower, upper) = (Count.down(lower), Count.down(upper))
        for target in targets[Int(state)] where distances.canFinish(target, lower: lower, upper: upper) { return true }
        return false
    }

    func next(_ state: Int32, _ byte: UInt8) -> Int32 { row(state)[Int(byte)] }

    /// The bytes at which what a state does changes.
    func cuts(of state: Int32) -> ByteSet {
        _ = row(state)
        return cuts[Int(state)]
    }

    func row(_ state: Int32) -> UnsafeMutablePointer<Int32> {
        if let row = rows[Int(state)] { return row }
        let row = UnsafeMutablePointer<Int32>.allocate(capacity: 256)
        row.initialize(repeating: Self.dead, count: 256)
        fill(row, of: states[Int(state)])
        rows[Int(state)] = row
        var set = ByteSet()
        for byte in 1..<256 where row[byte] != row[byte - 1] { set.insert(byte) }
        cuts[Int(state)] = set
        return row
    }

    // MARK: Rows

    private var isJSON: Bool { language.spelling != .plain }

    private func fill(_ row: UnsafeMutablePointer<Int32>, of state: State) {
        switch state {
        case .boundary(let position): fillBoundary(row, position)
        case .continuation(let remaining, let branches):
            let unit = UInt32(1) << UInt32(6 * (remaining - 1))
            for value in 0..<UInt32(64) {
                row[Int(0x80 + value)] = continuation(
                    branches, from: value * unit, to: (value + 1) * unit - 1, remaining - 1)
            }
        case .escape(let position): fillEscape(row, position)
        case .hex(let remaining, let branches, let surrogate):
            let unit = UInt32(1) << UInt32(4 * (remaining - 1))
            for byte in 0..<256 {
                guard let value = hexadecimalValue(UInt8(byte)), isSpelled(UInt8(byte)) else { continue }
                row[byte] = hex(branches, surrogate, from: value * unit, to: (value + 1) * unit - 1, remaining - 1)
            }
        case .low(let step, let target):
            switch step {
            case 0: row[Int(UInt8(ascii: "\\"))] = number(.low(step: 1, target: target))
            case 1: row[Int(UInt8(ascii: "u"))] = number(.low(step: 2, target: target))
            default:
                for byte in 0..<256 {
                    guard let value = hexadecimalValue(UInt8(byte)) else { continue }
                    if step == 2, value != 0xd { continue }
                    if step == 3, value < 0xc { continue }
                    row[byte] = number(step == 5 ? .boundary(target) : .low(step: step + 1, target: target))
                }
            }
        }
    }

    /// The writer's digits are small letters.
    private func isSpelled(_ digit: UInt8) -> Bool {
        language.spelling == .free || !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains(digit)
    }

    private func fillBoundary(_ row: UnsafeMutablePointer<Int32>, _ position: Int32) {
        let edges = automaton.edges(of: position)
        for edge in edges where edge.low < 0x80 {
            let target = number(.boundary(edge.target))
            for value in edge.low...min(edge.high, 0x7f) { row[Int(value)] = target }
        }
        if let last = edges.last, last.high == ScalarSet.last, last.low <= 0x80 {
            // All characters of several bytes lead to one place, as in most languages: then so do their leading bytes.
            let states = wideStates[last.target] ?? makeWideStates(last.target)
            for lead in 0xc2...0xf4 { row[lead] = states[lead - 0xc2] }
        } else if let last = edges.last, last.high >= 0x80 {
            // Leading bytes by the characters that they begin; those that a character may not have are cut off.
            for lead in UInt32(0xc2)...0xf4 {
                let (low, high, remaining): (UInt32, UInt32, Int32) =
                    switch lead {
                    case 0xc2...0xdf: ((lead & 0x1f) << 6, (lead & 0x1f) << 6 | 0x3f, 1)
                    case 0xe0...0xef: ((lead & 0xf) << 12, (lead & 0xf) << 12 | 0xfff, 2)
                    default: ((lead & 7) << 18, (lead & 7) << 18 | 0x3ffff, 3)
                    }
                guard high >= edges[edges.startIndex].low else { continue }
                let least: UInt32 = lead == 0xe0 ? 0x800 : lead == 0xf0 ? 0x10000 : low
                let branches = branches(position, from: least, to: min(high, ScalarSet.last), relativeTo: low)
                guard !branches.isEmpty else { continue }
                row[Int(lead)] = number(.continuation(remaining: remaining, branches: branches))
            }
        }
        guard isJSON else { return }
        for value in 0..<0x20 { row[value] = Self.dead }
        row[Int(UInt8(ascii: "\""))] = automaton.accepts[Int(position)] ? Self.closes : Self.dead
        row[Int(UInt8(ascii: "\\"))] = escapedTargets(position).isEmpty ? Self.dead : number(.escape(position))
    }

    /// The states of the language that an escape can lead to.
    private func escapedTargets(_ position: Int32) -> [Int32] {
        let edges = automaton.edges(of: position)
        if language.spelling == .free {
            let narrow = branches(position, from: 0, to: 0xffff, relativeTo: 0).map(\.target)
            let wide = wideTarget(position)
            return wide >= 0 ? narrow + [wide] : narrow
        }
        return edges.filter { edge in
            edge.low < 0x20 || edge.low <= 0x22 && edge.high >= 0x22 || edge.low <= 0x5c && edge.high >= 0x5c
        }.map(\.target)
    }

    /// Where all characters that pairs of surrogates spell lead, if that is one state; else -1.
    private func wideTarget(_ position: Int32) -> Int32 {
        let wide = branches(position, from: 0x10000, to: ScalarSet.last, relativeTo: 0)
        guard wide.count == 1, wide[0].low == 0x10000, wide[0].high == ScalarSet.last else { return -1 }
        return wide[0].target
    }

    /// The states behind the leading bytes 0xc2...0xf4 where every character leads to one state of the language.
    @exclusivity(unchecked) private var wideStates: [Int32: [Int32]] = [:]

    private func makeWideStates(_ target: Int32) -> [Int32] {
        var result: [Int32] = []
        for lead in UInt32(0xc2)...0xf4 {
            let (low, high, remaining): (UInt32, UInt32, Int32) =
                switch lead {
                case 0xc2...0xdf: (0, 0x3f, 1)
                case 0xe0: (0x800, 0xfff, 2)
                case 0xed: (0, 0x7ff, 2)
                case 0xe1...0xef: (0, 0xfff, 2)
                case 0xf0: (0x10000, 0x3ffff, 3)
                case 0xf4: (0, 0xffff, 3)
                default: (0, 0x3ffff, 3)
                }
            let branch = Branch(low: low, high: high, target: target)
            result.append(number(.continuation(remaining: remaining, branches: [branch])))
        }
        wideStates[target] = result
        return result
    }

    /// The edges of a state over a stretch of characters, counted from `base`, without surrogates.
    private func branches(_ position: Int32, from low: UInt32, to high: UInt32, relativeTo base: UInt32) -> [Branch] {
        var result: [Branch] = []
        func add(_ low: UInt32, _ high: UInt32, _ target: Int32) {
            guard low <= high else { return }
            if let last = result.last, last.target == target, last.high + 1 == low - base {
                result[result.count - 1].high = high - base
            } else {
                result.append(Branch(low: low - base, high: high - base, target: target))
            }
        }
        let edges = automaton.edges(of: position)
        var (first, end) = (edges.startIndex, edges.endIndex)
        while first < end {
            let middle = (first + end) / 2
            if edges[middle].high < low { first = middle + 1 } else { end = middle }
        }
        for edge in edges[first...] {
            guard edge.low <= high else { break }
            let (from, to) = (max(edge.low, low), min(edge.high, high))
            if from < 0xd800, to > 0xdfff || to >= 0xd800 {
                add(from, 0xd7ff, edge.target)
                if to > 0xdfff { add(0xe000, to, edge.target) }
            } else if from >= 0xd800, from <= 0xdfff {
                if to > 0xdfff { add(0xe000, to, edge.target) }
            } else {
                add(from, to, edge.target)
            }
        }
        return result
    }

    private func clipped(_ branches: [Branch], from low: UInt32, to high: UInt32) -> [Branch] {
        var result: [Branch] = []
        for branch in branches where branch.low <= high && branch.high >= low {
            result.append(
                Branch(low: max(branch.low, low) - low, high: min(branch.high, high) - low, target: branch.target))
        }
        return result
    }

    private func continuation(_ branches: [Branch], from low: UInt32, to high: UInt32, _ remaining: Int32) -> Int32 {
        let inside = clipped(branches, from: low, to: high)
        guard let first = inside.first else { return Self.dead }
        return number(remaining == 0 ? .boundary(first.target) : .continuation(remaining: remaining, branches: inside))
    }

    // MARK: Escapes

    private static let shortEscapes: [(byte: UInt8, scalar: UInt32)] = [
        (UInt8(ascii: "\""), 0x22), (UInt8(ascii: "\\"), 0x5c), (UInt8(ascii: "b"), 8), (UInt8(ascii: "f"), 0xc),
        (UInt8(ascii: "n"), 0xa), (UInt8(ascii: "r"), 0xd), (UInt8(ascii: "t"), 9),
    ]

    private func fillEscape(_ row: UnsafeMutablePointer<Int32>, _ position: Int32) {
        for (byte, scalar) in Self.shortEscapes {
            if let target = automaton.target(of: position, scalar) { row[Int(byte)] = number(.boundary(target)) }
        }
        if language.spelling == .free {
            if let target = automaton.target(of: position, 0x2f) {
                row[Int(UInt8(ascii: "/"))] = number(.boundary(target))
            }
            // A pair of surrogates is offered where all that pairs can spell leads to one place.
            let surrogate = wideTarget(position)
            let branches = branches(position, from: 0, to: 0xffff, relativeTo: 0)
            if !branches.isEmpty || surrogate >= 0 {
                row[Int(UInt8(ascii: "u"))] = number(.hex(remaining: 4, branches: branches, surrogate: surrogate))
            }
        } else {
            // Only control characters without a short escape are spelled by their number.
            let controls = branches(position, from: 0, to: 0x1f, relativeTo: 0)
            var rest: [Branch] = []
            for branch in controls {
                for value in branch.low...branch.high where !Self.shortEscapes.contains(where: { $0.scalar == value }) {
                    if let last = rest.last, last.target == branch.target, last.high + 1 == value {
                        rest[rest.count - 1].high = value
                    } else {
                        rest.append(Branch(low: value, high: value, target: branch.target))
                    }
                }
            }
            if !rest.isEmpty {
                row[Int(UInt8(ascii: "u"))] = number(.hex(remaining: 4, branches: rest, surrogate: -1))
            }
        }
    }

    private func hex(
        _ branches: [Branch], _ surrogate: Int32, from low: UInt32, to high: UInt32, _ remaining: Int32
    ) -> Int32 {
        let inside = clipped(branches, from: low, to: high)
        // The first halves of pairs are 0xd800...0xdbff; where they lie is known as long as it matters.
        var pair: Int32 = -1
        if surrogate >= 0 {
            switch remaining {
            case 3: if low == 0xd000 { pair = surrogate }
            case 2: if (0x800..<0xc00).contains(low) { pair = surrogate }
            default: pair = surrogate
            }
        }
        if remaining == 0 {
            if let first = inside.first { return number(.boundary(first.target)) }
            return pair >= 0 ? number(.low(step: 0, target: pair)) : Self.dead
        }
        guard !inside.isEmpty || pair >= 0 else { return Self.dead }
        return number(.hex(remaining: remaining, branches: inside, surrogate: pair))
    }
}

/// A set of byte values.
struct ByteSet: Hashable {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    mutating func insert(_ byte: Int) {
        let bit = UInt64(1) << UInt64(byte & 63)
        switch byte >> 6 {
        case 0: words.0 |= bit
        case 1: words.1 |= bit
        case 2: words.2 |= bit
        case 3: words.3 |= bit
        default: break
        }
    }

    /// Makes a byte a stretch by itself.
    mutating func insertAlone(_ byte: UInt8) {
        insert(Int(byte))
        insert(Int(byte) + 1)
    }

    mutating func formUnion(_ other: ByteSet) {
        words.0 |= other.words.0
        words.1 |= other.words.1
        words.2 |= other.words.2
        words.3 |= other.words.3
    }

    func contains(_ byte: Int) -> Bool {
        let word = byte >> 6 == 0 ? words.0 : byte >> 6 == 1 ? words.1 : byte >> 6 == 2 ? words.2 : words.3
        return word >> UInt64(byte & 63) & 1 == 1
    }

    static func == (left: ByteSet, right: ByteSet) -> Bool { left.words == right.words }

    func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}

/// Counts of what may or must still come.
enum Count {
    /// No upper bound.
    static let endless = Int32.max
    /// More than any token can use up. The exact number is kept beside, by whoever walks text.
    static let far: Int32 = 1 << 29

    /// One less, as far as counting goes.
    static func down(_ count: Int32) -> Int32 {
        count == endless || count == far ? count : max(0, count - 1)
    }
}
