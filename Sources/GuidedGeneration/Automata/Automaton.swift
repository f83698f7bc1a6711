import JSON

/// A deterministic finite automaton over Unicode scalar values.
///
/// State 0 is the start. Every state can be reached and can reach an accepting one, so that no walk ends in a dead end; an
/// automaton of the empty language has no states.
final class Automaton: Sendable {
    struct Edge: Hashable, Sendable {
        var low: UInt32
        var high: UInt32
        var target: Int32
    }

    /// The edges of all states, each state's sorted and disjoint.
    let edges: [Edge]
    /// Where the edges of each state begin, and the end of the last.
    let edgeStarts: [Int32]
    let accepts: [Bool]

    var stateCount: Int { accepts.count }
    var isEmpty: Bool { accepts.isEmpty }

    func edges(of state: Int32) -> ArraySlice<Edge> {
        edges[Int(edgeStarts[Int(state)])..<Int(edgeStarts[Int(state) + 1])]
    }

    func target(of state: Int32, _ scalar: UInt32) -> Int32? {
        var (low, high) = (Int(edgeStarts[Int(state)]), Int(edgeStarts[Int(state) + 1]))
        let end = high
        while low < high {
            let middle = (low + high) / 2
            if edges[middle].high < scalar { low = middle + 1 } else { high = middle }
        }
        return low < end && edges[low].low <= scalar ? edges[low].target : nil
    }

    func matches(_ scalars: some Sequence<UInt32>) -> Bool {
        guard !isEmpty else { return false }
        var state: Int32 = 0
        for scalar in scalars {
            guard let next = target(of: state, scalar) else { return false }
            state = next
        }
        return accepts[Int(state)]
    }

    func matches(_ text: String) -> Bool { matches(text.unicodeScalars.lazy.map(\.value)) }

    /// Whether every text is accepted.
    var isUniversal: Bool {
        stateCount == 1 && accepts[0] && edges.count == 1 && edges[0].low == 0 && edges[0].high == ScalarSet.last
    }

    /// Whether every scalar can follow in every state.
    var isTotal: Bool {
        for state in 0..<stateCount {
            var next: UInt32 = 0
            for edge in edges(of: Int32(state)) {
                guard edge.low == next else { return false }
                next = edge.high + 1
            }
            guard next > ScalarSet.last else { return false }
        }
        return !isEmpty
    }

    static let empty = Automaton(trimmed: [], [])
    static let universal = Automaton(
        trimmed: [[Edge(low: 0, high: ScalarSet.last, target: 0)]], [true])

    private init(trimmed lists: [[Edge]], _ accepts: [Bool]) {
        var edges: [Edge] = []
        var starts: [Int32] = [0]
        starts.reserveCapacity(lists.count + 1)
        for list in lists {
            edges.append(contentsOf: list)
            starts.append(Int32(edges.count))
        }
        self.edges = edges
        edgeStarts = starts
        self.accepts = accepts
    }

    /// Takes states with sorted, disjoint edges; drops those that no accepting state can be reached from, and joins
    /// neighbouring edges of one target. Every state must be reachable from state 0.
    convenience init(states lists: [[Edge]], accepts: [Bool]) {
        let count = lists.count
        // Reversed edges in compressed form, then a search back from the accepting states.
        var counts = [Int32](repeating: 0, count: count + 1)
        for list in lists { for edge in list { counts[Int(edge.target) + 1] += 1 } }
        for index in 0..<count { counts[index + 1] += counts[index] }
        var sources = [Int32](repeating: 0, count: Int(counts[count]))
        var fill = counts
        for (source, list) in lists.enumerated() {
            for edge in list {
                sources[Int(fill[Int(edge.target)])] = Int32(source)
                fill[Int(edge.target)] += 1
            }
        }
        var live = accepts
        var stack = accepts.indices.filter { accepts[$0] }.map(Int32.init)
        while let state = stack.popLast() {
            for index in Int(counts[Int(state)])..<Int(counts[Int(state) + 1]) {
                let source = Int(sources[index])
                guard !live[source] else { continue }
                live[source] = true
                stack.append(Int32(source))
            }
        }
        guard count > 0, live[0] else {
            self.init(trimmed: [], [])
            return
        }
        // Of the live states keep those that live ones lead to from the start.
        var numbers = [Int32](repeating: -1, count: count)
        var order: [Int] = [0]
        numbers[0] = 0
        var next = 0
        while next < order.count {
            for edge in lists[order[next]] where live[Int(edge.target)] && numbers[Int(edge.target)] < 0 {
                numbers[Int(edge.target)] = Int32(order.count)
                order.append(Int(edge.target))
            }
            next += 1
        }
        var trimmed: [[Edge]] = []
        trimmed.reserveCapacity(order.count)
        for state in order {
            var list: [Edge] = []
            for edge in lists[state] where live[Int(edge.target)] {
                let target = numbers[Int(edge.target)]
                if let last = list.last, last.target == target, last.high + 1 == edge.low {
                    list[list.count - 1].high = edge.high
                } else {
                    list.append(Edge(low: edge.low, high: edge.high, target: target))
                }
            }
            trimmed.append(list)
        }
        self.init(trimmed: trimmed, order.map { accepts[$0] })
    }
}

// MARK: - Finite languages

extension Automaton {
    /// The characters that the texts of a list may have together, each of which may become a state.
    private static let listLimit = 1_000_000
    static let listLimitMessage = "the values have more than \(listLimit) characters together"

    /// Whether texts are few enough for an automaton.
    static func canList(_ texts: [String]) -> Bool {
        var count = 0
        return texts.allSatisfy { text in
            count += text.utf8.count
            return count <= listLimit
        }
    }

    /// The automaton of a finite set of texts, as a trie.
    static func texts(_ texts: [String]) -> Automaton {
        guard !texts.isEmpty else { return .empty }
        let (lists, ends) = trie(texts)
        return Automaton(trimmed: lists, ends)
    }

    /// The automaton of all texts but some: the trie of those, and a state for whatever leaves it.
    static func allBut(_ texts: [String]) -> Automaton {
        guard !texts.isEmpty else { return .universal }
        var (lists, ends) = trie(texts)
        let outside = Int32(lists.count)
        for index in lists.indices {
            var list: [Edge] = []
            var next: UInt32 = 0
            for edge in lists[index] {
                if edge.low > next { list.append(Edge(low: next, high: edge.low - 1, target: outside)) }
                list.append(edge)
                next = edge.high + 1
            }
            if next <= ScalarSet.last { list.append(Edge(low: next, high: ScalarSet.last, target: outside)) }
            lists[index] = list
        }
        lists.append([Edge(low: 0, high: ScalarSet.last, target: outside)])
        ends.append(false)
        return Automaton(trimmed: lists, ends.map { !$0 })
    }

    /// The trie of texts, and which of its states end one.
    private static func trie(_ texts: [String]) -> ([[Edge]], [Bool]) {
        var lists: [[Edge]] = [[]]
        var ends = [false]
        // A text that comes twice leads along its own edges to its own end.
        for text in texts.lazy.map(ExactText.init).sorted().lazy.map(\.string) {
            var state = 0
            for scalar in text.unicodeScalars {
                // Sorted input: the edge that can be shared is always the last.
                if let last = lists[state].last, last.low == scalar.value {
                    state = Int(last.target)
                } else {
                    lists[state].append(Edge(low: scalar.value, high: scalar.value, target: Int32(lists.count)))
                    state = lists.count
                    lists.append([])
                    ends.append(false)
                }
            }
            ends[state] = true
        }
        return (lists, ends)
    }

    /// All texts of at least `minimum` and at most `maximum` scalars, as a chain.
    static func length(minimum: Int, maximum: Int?) -> Automaton {
        let count = (maximum ?? minimum) + 1
        var lists: [[Edge]] = []
        var accepts: [Bool] = []
        for index in 0..<count {
            let isLast = index == count - 1
            let target = isLast ? (maximum == nil ? index : -1) : index + 1
            lists.append(target < 0 ? [] : [Edge(low: 0, high: ScalarSet.last, target: Int32(target))])
            accepts.append(index >= minimum)
        }
        return Automaton(states: lists, accepts: accepts)
    }

    /// The texts of the language when they are at most `limit`, sorted by their scalars; nil when they are more.
    func finiteTexts(limit: Int) -> [String]? {
        guard !isEmpty else { return [] }
        var texts: [String] = []
        /// In UTF-8, and how many characters it has.
        var path: [UInt8] = []
        var length = 0
        // A finite language of few texts has no cycle, so no path is longer than the number of states.
        func visit(_ state: Int32) -> Bool {
            guard length <= stateCount else { return false }
            if accepts[Int(state)] {
                texts.append(String(decoding: path, as: UTF8.self))
                guard texts.count <= limit else { return false }
            }
            for edge in edges(of: state) {
                guard edge.high - edge.low <= UInt32(limit) else { return false }
                for value in edge.low...edge.high {
                    guard let scalar = Unicode.Scalar(value) else { continue }
                    let count = path.count
                    path.append(contentsOf: UTF8.encode(scalar)!)
                    length += 1
                    guard visit(edge.target) else { return false }
                    length -= 1
                    path.removeLast(path.count - count)
                }
            }
            return true
        }
        guard stateCount <= 4096, hasTexts(atMost: limit) else { return nil }
        return visit(0) ? texts : nil
    }

    /// Whether the language has so many texts or fewer: counted state by state, without writing one out.
    private func hasTexts(atMost limit: Int) -> Bool {
        /// The texts from each state on; -1 where they are not known, -2 while they are counted.
        var counts = [Int](repeating: -1, count: stateCount)
        func count(_ state: Int32) -> Int? {
            let known = counts[Int(state)]
            if known != -1 { return known >= 0 ? known : nil }
            counts[Int(state)] = -2
            var sum = accepts[Int(state)] ? 1 : 0
            for edge in edges(of: state) {
                // No state is without a text, so a cycle is endless and a wide edge is much.
                guard edge.high - edge.low <= UInt32(limit), let below = count(edge.target) else { return nil }
                sum += Int(edge.high - edge.low + 1) * below
                guard sum <= limit else { return nil }
            }
            counts[Int(state)] = sum
            return sum
        }
        return count(0) != nil
    }
}

// MARK: - Boolean operations

extension Automaton {
    /// The states that an operation may make before it gives up.
    static let stateLimit = 20_000

    private enum Operation { case intersection, union, difference }

    /// - Throws: `AutomatonLimit` when the result has more than `stateLimit` states.
    func intersection(_ other: Automaton) throws(AutomatonLimit) -> Automaton {
        if self === other || other.isUniversal { return self }
        if isUniversal { return other }
        return try product(other, .intersection)
    }

    func union(_ other: Automaton) throws(AutomatonLimit) -> Automaton {
        if self === other || other.isEmpty || isUniversal { return self }
        if isEmpty || other.isUniversal { return other }
        return try product(other, .union)
    }

    func subtracting(_ other: Automaton) throws(AutomatonLimit) -> Automaton {
        if other.isEmpty || isEmpty { return self }
        if self === other || other.isUniversal { return .empty }
        return try product(other, .difference)
    }

    func complement() throws(AutomatonLimit) -> Automaton { try Automaton.universal.subtracting(self) }

    /// Walks both automata at once; -1 stands for the state that one of them is lost in.
    private func product(_ other: Automaton, _ operation: Operation) throws(AutomatonLimit) -> Automaton {
        if operation == .intersection, isEmpty || other.isEmpty { return .empty }
        var numbers: [UInt64: Int32] = [:]
        var pairs: [(Int32, Int32)] = []
        var lists: [[Edge]] = []
        var accepts: [Bool] = []
        func number(_ left: Int32, _ right: Int32) -> Int32 {
            let key = UInt64(UInt32(bitPattern: left)) << 32 | UInt64(UInt32(bitPattern: right))
            if let known = numbers[key] { return known }
            let new = Int32(pairs.count)
            numbers[key] = new
            pairs.append((left, right))
            return new
        }
        _ = number(isEmpty ? -1 : 0, other.isEmpty ? -1 : 0)
        var next = 0
        while next < pairs.count {
            guard pairs.count <= Self.stateLimit else { throw AutomatonLimit() }
            let (left, right) = pairs[next]
            next += 1
            let leftAccepts = left >= 0 && self.accepts[Int(left)]
            let rightAccepts = right >= 0 && other.accepts[Int(right)]
            switch operation {
            case .intersection: accepts.append(leftAccepts && rightAccepts)
            case .union: accepts.append(leftAccepts || rightAccepts)
            case .difference: accepts.append(leftAccepts && !rightAccepts)
            }
            let leftEdges = left >= 0 ? edges(of: left) : []
            let rightEdges = right >= 0 ? other.edges(of: right) : []
            var list: [Edge] = []
            var (a, b) = (leftEdges.startIndex, rightEdges.startIndex)
            var position: UInt32 = 0
            while a < leftEdges.endIndex || b < rightEdges.endIndex {
                let leftEdge = a < leftEdges.endIndex ? leftEdges[a] : nil
                let rightEdge = b < rightEdges.endIndex ? rightEdges[b] : nil
                // The next stretch of scalars over which neither side changes its edge.
                var low = min(leftEdge?.low ?? .max, rightEdge?.low ?? .max)
                low = max(low, position)
                var high = UInt32.max
                var targets: (Int32, Int32) = (-1, -1)
                if let leftEdge {
                    if leftEdge.low <= low {
                        targets.0 = leftEdge.target
                        high = min(high, leftEdge.high)
                    } else {
                        high = min(high, leftEdge.low - 1)
                    }
                }
                if let rightEdge {
                    if rightEdge.low <= low {
                        targets.1 = rightEdge.target
                        high = min(high, rightEdge.high)
                    } else {
                        high = min(high, rightEdge.low - 1)
                    }
                }
                let isNeeded =
                    switch operation {
                    case .intersection: targets.0 >= 0 && targets.1 >= 0
                    case .union: true
                    case .difference: targets.0 >= 0
                    }
                if isNeeded {
                    let target = number(targets.0, targets.1)
                    if let last = list.last, last.target == target, last.high + 1 == low {
                        list[list.count - 1].high = high
                    } else {
                        list.append(Edge(low: low, high: high, target: target))
                    }
                }
                position = high &+ 1
                if let leftEdge, leftEdge.high <= high { a += 1 }
                if let rightEdge, rightEdge.high <= high { b += 1 }
                // Nothing lies behind the last scalar.
                if high >= ScalarSet.last { break }
            }
            lists.append(list)
        }
        return Automaton(states: lists, accepts: accepts)
    }
}

/// An automaton would have more states than it may.
struct AutomatonLimit: Error {}

// MARK: - Minimisation

extension Automaton {
    /// A smaller automaton of the language, mostly the smallest.
    ///
    /// States that lie on no cycle but their own are joined in one pass from the ends of the texts on (Revuz 1992); what is then
    /// left, if it is not much, by refining classes of states until no two of a class differ (Moore 1956).
    func minimized() -> Automaton {
        guard stateCount > 1 else { return self }
        return joinedFromTheEnd().refined()
    }

    /// The states that Moore's refinement, which takes as many rounds as texts are long, is used for.
    private static let refinementLimit = 150

    private func joinedFromTheEnd() -> Automaton {
        var pendingTargets = [Int32](repeating: 0, count: stateCount)
        var sources = [[Int32]](repeating: [], count: stateCount)
        for state in 0..<stateCount {
            for edge in edges(of: Int32(state)) where Int(edge.target) != state {
                pendingTargets[state] += 1
                sources[Int(edge.target)].append(Int32(state))
            }
        }
        var ready = pendingTargets.indices.filter { pendingTargets[$0] == 0 }.map(Int32.init)
        /// The state that stands for each.
        var representatives = (0..<stateCount).map(Int32.init)
        var known: [[UInt32]: Int32] = [:]
        var next = 0
        while next < ready.count {
            let state = ready[next]
            next += 1
            var signature: [UInt32] = [accepts[Int(state)] ? 1 : 0]
            for edge in edges(of: state) {
                let target = edge.target == state ? UInt32.max : UInt32(representatives[Int(edge.target)])
                let count = signature.count
                if count > 3, signature[count - 1] == target, signature[count - 2] + 1 == edge.low {
                    signature[count - 2] = edge.high
                } else {
                    signature += [edge.low, edge.high, target]
                }
            }
            if let first = known[signature] { representatives[Int(state)] = first } else { known[signature] = state }
            for source in sources[Int(state)] {
                pendingTargets[Int(source)] -= 1
                if pendingTargets[Int(source)] == 0 { ready.append(source) }
            }
        }
        return joined(representatives)
    }

    private func refined() -> Automaton {
        guard stateCount > 1, stateCount <= Self.refinementLimit else { return self }
        var classes = accepts.map { $0 ? Int32(1) : 0 }
        var classCount = Set(classes).count
        while true {
            var numbers: [[UInt32]: Int32] = [:]
            numbers.reserveCapacity(classCount * 2)
            var refined = [Int32](repeating: 0, count: stateCount)
            var signature: [UInt32] = []
            for state in 0..<stateCount {
                signature.removeAll(keepingCapacity: true)
                signature.append(UInt32(classes[state]))
                for edge in edges(of: Int32(state)) {
                    let target = UInt32(classes[Int(edge.target)])
                    let count = signature.count
                    if count > 3, signature[count - 1] == target, signature[count - 2] + 1 == edge.low {
                        signature[count - 2] = edge.high
                    } else {
                        signature.append(edge.low)
                        signature.append(edge.high)
                        signature.append(target)
                    }
                }
                if let known = numbers[signature] {
                    refined[state] = known
                } else {
                    refined[state] = Int32(numbers.count)
                    numbers[signature] = Int32(numbers.count)
                }
            }
            let count = numbers.count
            classes = refined
            if count == classCount { break }
            classCount = count
        }
        guard classCount < stateCount else { return self }
        var representatives: [Int32] = []
        var first = [Int32](repeating: -1, count: classCount)
        for state in 0..<stateCount {
            let number = Int(classes[state])
            if first[number] < 0 { first[number] = Int32(state) }
            representatives.append(first[number])
        }
        return joined(representatives)
    }

    /// The automaton in which one state stands for others that are its equals.
    private func joined(_ representatives: [Int32]) -> Automaton {
        guard representatives.indices.contains(where: { representatives[$0] != Int32($0) }) else { return self }
        var numbers = [Int32](repeating: -1, count: stateCount)
        var order: [Int] = [Int(representatives[0])]
        numbers[order[0]] = 0
        var next = 0
        var lists: [[Edge]] = []
        while next < order.count {
            let state = order[next]
            next += 1
            var list: [Edge] = []
            for edge in edges(of: Int32(state)) {
                let target = Int(representatives[Int(edge.target)])
                if numbers[target] < 0 {
                    numbers[target] = Int32(order.count)
                    order.append(target)
                }
                list.append(Edge(low: edge.low, high: edge.high, target: numbers[target]))
            }
            lists.append(list)
        }
        return Automaton(states: lists, accepts: order.map { accepts[$0] })
    }
}

// MARK: - Distances

extension Automaton {
    /// The scalars that each state needs at least to reach an accepting one.
    func shortestDistances() -> [Int32] {
        var reversed = [[Int32]](repeating: [], count: stateCount)
        for state in 0..<stateCount {
            for edge in edges(of: Int32(state)) { reversed[Int(edge.target)].append(Int32(state)) }
        }
        var distances = accepts.map { $0 ? Int32(0) : -1 }
        var queue = accepts.indices.filter { accepts[$0] }.map(Int32.init)
        var next = 0
        while next < queue.count {
            let state = queue[next]
            next += 1
            for source in reversed[Int(state)] where distances[Int(source)] < 0 {
                distances[Int(source)] = distances[Int(state)] + 1
                queue.append(source)
            }
        }
        return distances
    }

    /// The scalars that can come at most from each state up to an accepting one; `Int32.max` where there is no end.
    func longestDistances() -> [Int32] {
        // Kahn's order on the reversed graph: what a cycle can be reached from never loses its last successor.
        var outDegrees = [Int32](repeating: 0, count: stateCount)
        var reversed = [[Int32]](repeating: [], count: stateCount)
        for state in 0..<stateCount {
            for edge in edges(of: Int32(state)) {
                reversed[Int(edge.target)].append(Int32(state))
                outDegrees[state] += 1
            }
        }
        var distances = [Int32](repeating: 0, count: stateCount)
        var isDone = [Bool](repeating: false, count: stateCount)
        var queue = outDegrees.indices.filter { outDegrees[$0] == 0 }.map(Int32.init)
        var next = 0
        while next < queue.count {
            let state = queue[next]
            next += 1
            isDone[Int(state)] = true
            for source in reversed[Int(state)] {
                distances[Int(source)] = max(distances[Int(source)], distances[Int(state)] + 1)
                outDegrees[Int(source)] -= 1
                if outDegrees[Int(source)] == 0 { queue.append(source) }
            }
        }
        for state in 0..<stateCount where !isDone[state] { distances[state] = .max }
        return distances
    }
}
