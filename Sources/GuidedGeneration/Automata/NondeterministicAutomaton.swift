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

    /// The deterministic automaton that accepts what leads from `start` to `end`.
    /// - Throws: `AutomatonLimit` when it has too many states, or takes too much work.
    func determinized(start: Int32, end: Int32) throws(AutomatonLimit) -> Automaton {
        var construction = try SubsetConstruction(states, end: end)
        return try construction.automaton(from: start)
    }
}
