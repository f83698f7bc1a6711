/// Makes a nondeterministic automaton deterministic (Rabin and Scott 1959).
///
/// Scalars that no set of the automaton tells apart are one symbol here, so that a state has as many successors to look at as the
/// pattern distinguishes kinds of characters, however many ranges those have.
struct SubsetConstruction {
    private let states: [NondeterministicAutomaton.State]
    private let end: Int32
    /// The symbol of each stretch of scalars, in the order of the scalars.
    private let segments: [(low: UInt32, high: UInt32, symbol: Int32)]
    /// The segments of each symbol.
    private let segmentsOfSymbol: [[Int32]]
    /// The symbols of the set of each state.
    private let symbols: [[Int32]]

    /// For states asked about before: the states that matter among those that can be reached without consuming anything.
    private var closures: [[Int32]?]
    private var marks: [Int32]
    private var mark: Int32 = 0
    /// Steps of work left.
    private var budget = workLimit
    private static let workLimit = 2_000_000
    /// Closures longer than this are not kept.
    private static let keptClosure = 128

    init(_ states: [NondeterministicAutomaton.State], end: Int32) throws(AutomatonLimit) {
        self.states = states
        self.end = end
        (segments, symbols) = try Self.alphabet(of: states)
        var lists = [[Int32]](repeating: [], count: Int((segments.map(\.symbol).max() ?? -1) + 1))
        for (index, segment) in segments.enumerated() { lists[Int(segment.symbol)].append(Int32(index)) }
        segmentsOfSymbol = lists
        closures = Array(repeating: nil, count: states.count)
        marks = Array(repeating: -1, count: states.count)
    }

    // MARK: The alphabet

    /// Cuts the scalars where any set begins or ends, and gives one symbol to all stretches that lie in the same sets.
    private static func alphabet(
        of states: [NondeterministicAutomaton.State]
    ) throws(AutomatonLimit) -> (segments: [(low: UInt32, high: UInt32, symbol: Int32)], symbols: [[Int32]]) {
        var numbers: [ScalarSet: Int32] = [:]
        var sets: [ScalarSet] = []
        var setOfState = [Int32](repeating: -1, count: states.count)
        for (index, state) in states.enumerated() {
            guard let set = state.set else { continue }
            if let known = numbers[set] {
                setOfState[index] = known
            } else {
                setOfState[index] = Int32(sets.count)
                numbers[set] = Int32(sets.count)
                sets.append(set)
            }
        }
        // Where a set begins (+1) and where it has ended (-1), in order.
        var borders: [(place: UInt32, set: Int32, begins: Bool)] = []
        for (index, set) in sets.enumerated() {
            for range in set.ranges {
                borders.append((range.low, Int32(index), true))
                borders.append((range.high + 1, Int32(index), false))
            }
        }
        borders.sort { $0.place < $1.place }
        var segments: [(low: UInt32, high: UInt32, symbol: Int32)] = []
        /// The sets that the stretch lies in, sorted.
        var open: [Int32] = []
        var known: [[Int32]: Int32] = [:]
        var members: [[Int32]] = []
        var budget = workLimit
        var index = 0
        while index < borders.count {
            let place = borders[index].place
            while index < borders.count, borders[index].place == place {
                let (_, set, begins) = borders[index]
                let slot = open.firstIndex { $0 >= set } ?? open.count
                if begins { open.insert(set, at: slot) } else { open.remove(at: slot) }
                index += 1
            }
            guard index < borders.count, !open.isEmpty else { continue }
            budget -= open.count
            guard budget > 0 else { throw AutomatonLimit() }
            let symbol: Int32
            if let same = known[open] {
                symbol = same
            } else {
                symbol = Int32(members.count)
                known[open] = symbol
                members.append(open)
            }
            segments.append((place, borders[index].place - 1, symbol))
        }
        var symbolsOfSet = [[Int32]](repeating: [], count: sets.count)
        for (symbol, sets) in members.enumerated() { for set in sets { symbolsOfSet[Int(set)].append(Int32(symbol)) } }
        return (segments, setOfState.map { $0 < 0 ? [] : symbolsOfSet[Int($0)] })
    }

    // MARK: Closures

    /// Only states that consume, or that lead to the end of the text, tell sets apart.
    private func matters(_ state: Int32) -> Bool {
        let entry = states[Int(state)]
        return entry.set != nil || state == end || entry.empty.contains { $0.condition == .atEnd }
    }

    /// The states that can be reached from some without consuming anything.
    private mutating func walk(_ seeds: [Int32], atStart: Bool, atEnd: Bool) -> [Int32] {
        mark += 1
        var reached: [Int32] = []
        var stack: [Int32] = []
        for seed in seeds where marks[Int(seed)] != mark {
            marks[Int(seed)] = mark
            stack.append(seed)
        }
        while let state = stack.popLast() {
            reached.append(state)
            budget -= 1
            for (condition, target) in states[Int(state)].empty {
                switch condition {
                case .always: break
                case .atStart: guard atStart else { continue }
                case .atEnd: guard atEnd else { continue }
                }
                guard marks[Int(target)] != mark else { continue }
                marks[Int(target)] = mark
                stack.append(target)
            }
        }
        return reached
    }

    /// The states that matter among those that can be reached from some without consuming anything, sorted.
    private mutating func closure(_ seeds: [Int32]) -> [Int32] {
        if seeds.count == 1 {
            if let known = closures[Int(seeds[0])] { return known }
            let list = walked(seeds, atStart: false)
            if list.count <= Self.keptClosure { closures[Int(seeds[0])] = list }
            return list
        }
        let lists = seeds.map { closure([$0]) }
        mark += 1
        var result: [Int32] = []
        for list in lists {
            budget -= list.count
            for state in list where marks[Int(state)] != mark {
                marks[Int(state)] = mark
                result.append(state)
            }
        }
        result.sort()
        return result
    }

    private mutating func walked(_ seeds: [Int32], atStart: Bool) -> [Int32] {
        walk(seeds, atStart: atStart, atEnd: false).filter(matters).sorted()
    }

    private mutating func reachesEnd(_ set: [Int32], atStart: Bool) -> Bool {
        if set.contains(end) { return true }
        guard set.contains(where: { state in states[Int(state)].empty.contains { $0.condition == .atEnd } }) else {
            return false
        }
        return walk(set, atStart: atStart, atEnd: true).contains(end)
    }

    // MARK: The construction

    mutating func automaton(from start: Int32) throws(AutomatonLimit) -> Automaton {
        // What `^` lets through is reached from the very start alone: that set stands apart, at place 0.
        var sets = [walked([start], atStart: true)]
        var numbers: [[Int32]: Int32] = [:]
        /// The set that targets lead to.
        var numbersOfTargets: [[Int32]: Int32] = [:]
        var lists: [[Automaton.Edge]] = []
        var accepts: [Bool] = []
        var targets = [[Int32]](repeating: [], count: segmentsOfSymbol.count)
        var successors = [Int32](repeating: -1, count: segmentsOfSymbol.count)
        var used: [Int32] = []
        var next = 0
        while next < sets.count {
            guard sets.count <= Automaton.stateLimit, budget > 0 else { throw AutomatonLimit() }
            let set = sets[next]
            accepts.append(reachesEnd(set, atStart: next == 0))
            next += 1

            for state in set {
                let target = states[Int(state)].target
                budget -= symbols[Int(state)].count
                for symbol in symbols[Int(state)] {
                    if targets[Int(symbol)].isEmpty { used.append(symbol) }
                    if targets[Int(symbol)].last != target { targets[Int(symbol)].append(target) }
                }
            }
            for symbol in used {
                let key = targets[Int(symbol)]
                targets[Int(symbol)].removeAll(keepingCapacity: true)
                if let known = numbersOfTargets[key] {
                    successors[Int(symbol)] = known
                    continue
                }
                let closed = closure(key)
                let number: Int32
                if let known = numbers[closed] {
                    number = known
                } else {
                    number = Int32(sets.count)
                    numbers[closed] = number
                    sets.append(closed)
                }
                numbersOfTargets[key] = number
                successors[Int(symbol)] = number
            }
            lists.append(edges(successors, used))
            for symbol in used { successors[Int(symbol)] = -1 }
            used.removeAll(keepingCapacity: true)
        }
        return Automaton(states: lists, accepts: accepts)
    }

    /// The edges to the successors of the symbols that have one.
    private mutating func edges(_ successors: [Int32], _ used: [Int32]) -> [Automaton.Edge] {
        var list: [Automaton.Edge] = []
        func add(_ segment: (low: UInt32, high: UInt32, symbol: Int32)) {
            let target = successors[Int(segment.symbol)]
            guard target >= 0 else { return }
            if let last = list.last, last.target == target, last.high + 1 == segment.low {
                list[list.count - 1].high = segment.high
            } else {
                list.append(Automaton.Edge(low: segment.low, high: segment.high, target: target))
            }
        }
        let count = used.reduce(0) { $0 + segmentsOfSymbol[Int($1)].count }
        if count * 8 < segments.count {
            budget -= count
            for index in used.flatMap({ segmentsOfSymbol[Int($0)] }).sorted() { add(segments[Int(index)]) }
        } else {
            budget -= segments.count / 8
            for segment in segments { add(segment) }
        }
        return list
    }
}
