import Foundation

/// A grammar as a deterministic pushdown automaton over bytes, made as it is walked, and the masks that a vocabulary has in it.
///
/// A state of the stack is a list of items: all the ways to read the container, or the text, that is open there. Alternatives
/// run beside one another in the list, so the automaton has one stack however many they are (Alur and Madhusudan, "Visibly
/// pushdown languages", 2004). States, their transitions and masks are kept, and shared by all matchers of the grammar.
final class Machine: @unchecked Sendable {  // everything mutable is guarded by `lock`
    let program: Program
    let trie: TokenTrie
    let lock = NSLock()

    /// What a byte leads to from a list of items.
    enum Outcome {
        case dead
        /// The container or text goes on.
        case stay([Item])
        /// A value begins above.
        case push(saved: [Item], top: [Item])
        /// The value is complete, and with it the values of these items below.
        case pop([Int32])
        /// The same, but the byte belongs to what follows the value.
        case popAgain([Int32])
    }

    // How a transition is written in a row.
    static let dead: Int32 = -1
    static let pushFlag: Int32 = 1 << 28
    static let popFlag: Int32 = 1 << 29
    static let popAgainFlag: Int32 = 1 << 30

    // Access is exclusive by the lock; checking it again for every byte would cost as much as the walk.

    /// Transitions of states by byte, made when a state is first left; one pointer for each state.
    @exclusivity(unchecked) var rows: UnsafeMutablePointer<UnsafeMutablePointer<Int32>?>
    /// The classes of tokens, as bits, that leave a state as it is; `unknownLoops` before anyone has asked.
    @exclusivity(unchecked) var loopBits: UnsafeMutablePointer<UInt8>
    static let unknownLoops: UInt8 = 0xff
    @exclusivity(unchecked) private var rowCapacity = 256
    @exclusivity(unchecked) private var rowCount = 0
    @exclusivity(unchecked) private(set) var states: [[Item]] = []
    @exclusivity(unchecked) private var stateNumbers: [[Item]: Int32] = [:]
    /// Whether a state has counts that are only known to be large.
    @exclusivity(unchecked) private(set) var farStates: [Bool] = []
    /// Whether a state is inside an undeclared key.
    enum KeyPlace: UInt8 {
        case outside
        /// Inside one that must not come twice.
        case tracked
        /// Inside one of which there may be too few to leave any out.
        case untracked
    }

    @exclusivity(unchecked) private(set) var keyPlaces: [KeyPlace] = []
    /// The one byte that can follow, or -1.
    @exclusivity(unchecked) private(set) var forcedBytes: [Int16] = []

    @exclusivity(unchecked) private(set) var parentSets: [[Int32]] = []
    @exclusivity(unchecked) private var parentSetNumbers: [[Int32]: Int32] = [:]
    @exclusivity(unchecked) var pushes: [(saved: Int32, top: Int32)] = []
    @exclusivity(unchecked) private var pushNumbers: [UInt64: Int32] = [:]
    @exclusivity(unchecked) private var resumptions: [UInt64: Int32] = [:]

    @exclusivity(unchecked) private var texts: [TextAutomaton?]
    @exclusivity(unchecked) private var keyTries: [KeyTrie?]
    /// Counts above this are taken for far.
    let farLimit: Int32
    let maskStore = MaskStore()
    @exclusivity(unchecked) var arena: Arena

    let startState: Int32
    /// Whether there is an object with keys that are not declared.
    let hasOpenObjects: Bool

    init(_ program: Program, trie: TokenTrie) {
        self.program = program
        self.trie = trie
        texts = Array(repeating: nil, count: program.languages.count)
        keyTries = Array(repeating: nil, count: program.objects.count)
        var longest = 0
        for case .of(let automaton) in program.languages.lazy.map(\.texts) where !automaton.automaton.isUniversal {
            longest = max(longest, automaton.automaton.stateCount)
        }
        farLimit = Int32(trie.maximumTokenLength + 2 + longest)
        rows = .allocate(capacity: rowCapacity)
        rows.initialize(repeating: nil, count: rowCapacity)
        loopBits = .allocate(capacity: rowCapacity)
        loopBits.initialize(repeating: Self.unknownLoops, count: rowCapacity)
        arena = Arena(depth: trie.maximumTokenLength + 2)
        startState = 0
        hasOpenObjects = program.objects.contains { !$0.groups.isEmpty }
        let first: Item
        switch program.root {
        case .value(let node): first = Item(kind: .root, phase: .opened, reference: node)
        case .text(let language): first = Item(kind: .text, phase: .opened, reference: language)
        }
        _ = intern([first])
    }

    deinit {
        for state in 0..<states.count { rows[state]?.deallocate() }
        rows.deallocate()
        loopBits.deallocate()
        arena.deallocate()
    }

    // MARK: Parts that are made when they are first walked

    func text(_ language: Int32) -> TextAutomaton {
        if let known = texts[Int(language)] { return known }
        let text = TextAutomaton(program.languages[Int(language)])
        texts[Int(language)] = text
        return text
    }

    func keys(of object: Int32) -> KeyTrie {
        if let known = keyTries[Int(object)] { return known }
        let keys = KeyTrie(program.objects[Int(object)].members.map(\.key))
        keyTries[Int(object)] = keys
        return keys
    }

    // MARK: States

    func intern(_ items: [Item]) -> Int32 {
        if let known = stateNumbers[items] { return known }
        let new = Int32(states.count)
        stateNumbers[items] = new
        states.append(items)
        farStates.append(items.contains(where: \.isFar))
        keyPlaces.append(keyPlace(of: items))
        forcedBytes.append(-1)
        if states.count > rowCapacity {
            let larger = UnsafeMutablePointer<UnsafeMutablePointer<Int32>?>.allocate(capacity: rowCapacity * 2)
            larger.moveInitialize(from: rows, count: rowCapacity)
            (larger + rowCapacity).initialize(repeating: nil, count: rowCapacity)
            rows.deallocate()
            rows = larger
            let largerBits = UnsafeMutablePointer<UInt8>.allocate(capacity: rowCapacity * 2)
            largerBits.update(from: loopBits, count: rowCapacity)
            (largerBits + rowCapacity).initialize(repeating: Self.unknownLoops, count: rowCapacity)
            loopBits.deallocate()
            loopBits = largerBits
            rowCapacity *= 2
        }
        return new
    }

    private func keyPlace(of items: [Item]) -> KeyPlace {
        guard items.contains(where: { $0.kind == .object && $0.phase == .inGroupKey }) else { return .outside }
        let isEndless = items.allSatisfy { item in
            program.objects[Int(item.reference)].groups.allSatisfy { text($0.language).isEndless }
        }
        return isEndless ? .tracked : .untracked
    }

    /// The state of items whose large counts are exact.
    func internSaturated(_ items: [Item]) -> Int32 {
        for item in items where item.saturated(at: farLimit) != item {
            return intern(items.map { $0.saturated(at: farLimit) })
        }
        return intern(items)
    }

    func parentSet(_ members: [Int32]) -> Int32 {
        if let known = parentSetNumbers[members] { return known }
        let new = Int32(parentSets.count)
        parentSetNumbers[members] = new
        parentSets.append(members)
        return new
    }

    static func key(_ high: Int32, _ low: Int32) -> UInt64 {
        UInt64(UInt32(bitPattern: high)) << 32 | UInt64(UInt32(bitPattern: low))
    }

    /// The state of a container when values above some of its items have been completed.
    func resume(_ saved: Int32, _ parents: Int32) -> Int32 {
        let key = Self.key(saved, parents)
        if let known = resumptions[key] { return known }
        let state = internSaturated(afterValues(states[Int(saved)], parentSets[Int(parents)]))
        resumptions[key] = state
        return state
    }

    // MARK: Rows

    /// The rows kept at a time; what was dropped is made again when it is needed.
    private static let rowLimit = 48 * 1024

    /// Gives memory back. Called between walks only, since those hold rows.
    func trim() {
        guard rowCount > Self.rowLimit else { return }
        for state in 0..<states.count {
            rows[state]?.deallocate()
            rows[state] = nil
        }
        rowCount = 0
    }

    @inline(__always)
    func row(_ state: Int32) -> UnsafeMutablePointer<Int32> { rows[Int(state)] ?? makeRow(state) }

    @inline(never)
    private func makeRow(_ state: Int32) -> UnsafeMutablePointer<Int32> {
        let items = states[Int(state)]
        let cuts = cuts(of: items)
        let row = UnsafeMutablePointer<Int32>.allocate(capacity: 256)
        var byte = 0
        var live = 0
        var last = -1
        // Inside a text most stretches of bytes lead to few places.
        let inText = items.count == 1 ? textState(of: items[0]) : nil
        var known: [(target: Int32, transition: Int32)] = []
        while byte < 256 {
            var end = byte + 1
            while end < 256, !cuts.contains(end) { end += 1 }
            var transition: Int32?
            var target: Int32 = 0
            if let (text, state) = inText {
                target = text.next(state, UInt8(byte))
                transition = known.first { $0.target == target }?.transition
            }
            let found = transition ?? self.transition(for: step(items, UInt8(byte)))
            if inText != nil, transition == nil { known.append((target, found)) }
            for index in byte..<end { row[index] = found }
            if found != Self.dead {
                live += end - byte
                last = byte
            }
            byte = end
        }
        rows[Int(state)] = row
        rowCount += 1
        if live == 1 { forcedBytes[Int(state)] = Int16(last) }
        return row
    }

    /// The text that an item is inside, and where, if what a byte does is told by where it leads there.
    private func textState(of item: Item) -> (TextAutomaton, Int32)? {
        switch item.kind {
        case .text: (text(item.reference), item.position)
        case .object where item.phase == .inGroupKey:
            (text(program.objects[Int(item.reference)].groups[Int(item.group)].language), item.detail)
        default: nil
        }
    }

    private func transition(for outcome: Outcome) -> Int32 {
        switch outcome {
        case .dead: return Self.dead
        case .stay(let items): return internSaturated(items)
        case .push(let saved, let top):
            let key = Self.key(internSaturated(saved), internSaturated(top))
            if let known = pushNumbers[key] { return known | Self.pushFlag }
            let new = Int32(pushes.count)
            pushNumbers[key] = new
            pushes.append((Int32(truncatingIfNeeded: key >> 32), Int32(truncatingIfNeeded: key)))
            return new | Self.pushFlag
        case .pop(let parents): return parentSet(parents) | Self.popFlag
        case .popAgain(let parents): return parentSet(parents) | Self.popAgainFlag
        }
    }

    // MARK: Questions

    /// Whether a state at the bottom of the stack is the end of a complete text.
    func isComplete(_ state: Int32) -> Bool {
        states[Int(state)].contains { item in
            switch item.kind {
            case .root: item.phase == .afterValue
            case .text: item.parents < 0 && text(item.reference).accepts(item.position)
            default: false
            }
        }
    }

    /// The set of items below that a number or a literal completes if it ends here; nil when it cannot.
    func completion(of state: Int32) -> Int32? {
        let items = states[Int(state)]
        guard let first = items.first, first.kind == .text, first.parents >= 0,
            program.languages[Int(first.reference)].spelling == .plain
        else { return nil }
        let members = completedParents(items)
        return members.isEmpty ? nil : parentSet(members)
    }
}
