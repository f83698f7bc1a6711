/// How far each state of an automaton is from the ends of its texts.
struct AutomatonDistances {
    /// Scalars to an accepting state, at least and at most.
    private let shortest: [Int32]
    private let longest: [Int32]

    init(_ automaton: Automaton) {
        if automaton.isUniversal {
            (shortest, longest) = ([0], [.max])
        } else {
            shortest = automaton.shortestDistances()
            longest = automaton.longestDistances()
        }
    }

    func shortest(from state: Int32) -> Int32 { shortest[Int(state)] }

    /// The most scalars to an accepting state; `Int32.max` where there is no end.
    func longest(from state: Int32) -> Int32 { longest[Int(state)] }

    /// Whether a text can be completed from a state with at least and at most so many scalars.
    ///
    /// Exact where one bound alone is narrow: bounds that are near to one another are made part of the automaton.
    func canFinish(_ state: Int32, lower: Int32, upper: Int32) -> Bool {
        shortest[Int(state)] <= upper && longest[Int(state)] >= lower
    }
}
