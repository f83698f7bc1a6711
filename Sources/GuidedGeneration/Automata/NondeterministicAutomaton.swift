/// A nondeterministic automaton over scalar values, built from a regular expression (Thompson 1968) and made deterministic by
/// the subset construction (Rabin and Scott 1959).
struct NondeterministicAutomaton {
    /// A step that consumes nothing.
    enum Condition: UInt8 { case always, atStart, atEnd }

    struct State {
        var empty: [(condition: Condition, target: Int32)] = []
        /// The scalars that lead on to `target`.
        var set: ScalarSet?
        var target: Int32 = -1
    }

    private(set) var states: [State] = []
    /// The states that may be made before the construction gives up.
    static let stateLimit = 20_000

    mutating func add() throws(AutomatonLimit) -> Int32 {
        guard states.count < Self.stateLimit else { throw AutomatonLimit() }
        states.append(State())
        return Int32(states.count - 1)
    }

    mutating func connect(_ source: Int32, _ target: Int32, _ condition: Condition = .always) {
        states[Int(source)].empty.append((condition, target))
    }

    mutating func connect(_ source: Int32, over set: ScalarSet, to target: Int32) {
        states[Int(source)].set = set
        states[Int(source)].target = target
    }

    /// The states that can be reached without consuming anything, sorted.
    private func closure(
        _ seeds: [Int32], atStart: Bool, atEnd: Bool, _ marks: inout [Int32], _ mark: Int32
    ) -> [Int32] {
        var stack: [Int32] = []
        var result: [Int32] = []
        for seed in seeds where marks[Int(seed)] != mark {
            marks[Int(seed)] = mark
            stack.append(seed)
        }
        while let state = stack.popLast() {
            result.append(state)
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
        result.sort()
        return result
    }

    /// The deterministic automaton that accepts what leads from `start` to `end`.
    /// - Throws: `AutomatonLimit` when it has too many states, or takes too much work.
    func determinized(start: Int32, end: Int32) throws(AutomatonLimit) -> Automaton {
        var marks = [Int32](repeating: -1, count: states.count)
        var mark: Int32 = 0
        var numbers: [[Int32]: Int32] = [:]
        var sets: [[Int32]] = []
        var lists: [[Automaton.Edge]] = []
        var accepts: [Bool] = []
        /// Steps of work left.
        var budget = 4_000_000

        // Only states that consume, or that lead to the end of the text, tell sets apart; the closure at the very start also
        // has what follows `^`, so the first set is kept apart by a marker.
        func number(_ closed: [Int32], isFirst: Bool) -> Int32 {
            var key = closed.filter { state in
                let entry = states[Int(state)]
                return entry.set != nil || state == end || entry.empty.contains { $0.condition == .atEnd }
            }
            if isFirst { key.append(-1) }
            if let known = numbers[key] { return known }
            let new = Int32(sets.count)
            numbers[key] = new
            sets.append(key)
            return new
        }

        _ = number(closure([start], atStart: true, atEnd: false, &marks, mark), isFirst: true)
        var next = 0
        var cuts: [UInt32] = []
        while next < sets.count {
            guard sets.count <= Automaton.stateLimit else { throw AutomatonLimit() }
            let isFirst = next == 0
            let set = sets[next].filter { $0 >= 0 }
            next += 1
            if set.contains(end) {
                accepts.append(true)
            } else {
                mark += 1
                accepts.append(closure(set, atStart: isFirst, atEnd: true, &marks, mark).contains(end))
            }

            // Cut the scalars at every border of every member's set; between two cuts the targets are the same.
            cuts.removeAll(keepingCapacity: true)
            var rangeCount = 0
            for state in set {
                guard let scalars = states[Int(state)].set else { continue }
                for range in scalars.ranges {
                    cuts.append(range.low)
                    cuts.append(range.high + 1)
                }
                rangeCount += scalars.ranges.count
            }
            cuts.sort()
            var list: [Automaton.Edge] = []
            if !cuts.isEmpty {
                var unique: [UInt32] = []
                for cut in cuts where unique.last != cut { unique.append(cut) }
                // members[i]: the states that go on between unique[i] and unique[i + 1].
                var members = [[Int32]](repeating: [], count: unique.count)
                for state in set {
                    guard let scalars = states[Int(state)].set else { continue }
                    var index = 0
                    for range in scalars.ranges {
                        var (low, high) = (index, unique.count)
                        while low < high {
                            let middle = (low + high) / 2
                            if unique[middle] < range.low { low = middle + 1 } else { high = middle }
                        }
                        index = low
                        while index < unique.count, unique[index] <= range.high {
                            members[index].append(states[Int(state)].target)
                            index += 1
                            budget -= 1
                        }
                    }
                }
                guard budget > 0 else { throw AutomatonLimit() }
                var known: [[Int32]: Int32] = [:]
                for index in members.indices where !members[index].isEmpty {
                    let target: Int32
                    if let cached = known[members[index]] {
                        target = cached
                    } else {
                        mark += 1
                        let closed = closure(members[index], atStart: false, atEnd: false, &marks, mark)
                        budget -= closed.count
                        target = number(closed, isFirst: false)
                        known[members[index]] = target
                    }
                    let high = unique[index + 1] - 1
                    if let last = list.last, last.target == target, last.high + 1 == unique[index] {
                        list[list.count - 1].high = high
                    } else {
                        list.append(Automaton.Edge(low: unique[index], high: high, target: target))
                    }
                }
            }
            lists.append(list)
        }
        return Automaton(states: lists, accepts: accepts)
    }
}
