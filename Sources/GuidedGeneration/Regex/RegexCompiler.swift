/// Makes automata of regular expressions.
enum RegexCompiler {
    /// The automaton of the texts in which a pattern matches somewhere, as JSON Schema's `pattern` has it.
    static func search(_ pattern: String) throws(RegexError) -> Automaton {
        let syntax = try RegexParser.parse(pattern, dialect: .ecmaScript)
        return try compile(syntax, searches: true)
    }

    /// The same as a language and bounds for the length of its texts, where that keeps a long count out of the automaton.
    static func searchShape(_ pattern: String) throws(RegexError) -> StringShape {
        let syntax = try RegexParser.parse(pattern, dialect: .ecmaScript)
        if let (core, minimum, maximum) = syntax.withoutCount(longerThan: countLimit) {
            return StringShape(
                automaton: InternedAutomaton(try compile(core, searches: true)), minimum: minimum, maximum: maximum)
        }
        return StringShape(automaton: InternedAutomaton(try compile(syntax, searches: true)))
    }

    /// The longest repetition of single characters that is written out as states where it could be counted.
    private static let countLimit = 24

    /// The automaton of the texts that a pattern matches from start to end.
    static func whole(_ pattern: String, dialect: RegexDialect) throws(RegexError) -> Automaton {
        try compile(try RegexParser.parse(pattern, dialect: dialect), searches: false)
    }

    /// The texts that a pattern matches from start to end as a language and bounds for their length, where that keeps a long count
    /// out of the automaton.
    static func wholeShape(_ pattern: String, dialect: RegexDialect) throws(RegexError) -> StringShape {
        let syntax = try RegexParser.parse(pattern, dialect: dialect)
        let anchored = RegexSyntax.sequence([.start, syntax, .end])
        if let (core, minimum, maximum) = anchored.withoutCount(longerThan: countLimit) {
            return StringShape(
                automaton: InternedAutomaton(try compile(core, searches: false)), minimum: minimum, maximum: maximum)
        }
        return StringShape(automaton: InternedAutomaton(try compile(syntax, searches: false)))
    }

    static func compile(_ syntax: RegexSyntax, searches: Bool) throws(RegexError) -> Automaton {
        do {
            var automaton = NondeterministicAutomaton()
            let start = try automaton.add()
            let end = try automaton.add()
            if searches {
                // The state before the match holds while nothing has matched, the one behind it for ever.
                let before = try automaton.add()
                automaton.connect(start, before)
                if !syntax.isAnchoredAtStart {
                    let loop = try automaton.add()
                    automaton.connect(start, loop)
                    automaton.connect(loop, over: .all, to: loop)
                    automaton.connect(loop, before)
                }
                let after = try automaton.add()
                try add(syntax, from: before, to: after, in: &automaton)
                automaton.connect(after, end, .atEnd)
                if !syntax.isAnchoredAtEnd {
                    let loop = try automaton.add()
                    automaton.connect(after, loop)
                    automaton.connect(loop, over: .all, to: loop)
                    automaton.connect(loop, end)
                }
            } else {
                try add(syntax, from: start, to: end, in: &automaton)
            }
            let result = try automaton.determinized(start: start, end: end)
            return result.stateCount <= 2_000 ? result.minimized() : result
        } catch {
            throw RegexError(
                reason: .tooComplex, message: "the pattern needs more than \(Automaton.stateLimit) states")
        }
    }

    /// Adds what leads from one state to another over the matches of a syntax.
    private static func add(
        _ syntax: RegexSyntax, from source: Int32, to target: Int32, in automaton: inout NondeterministicAutomaton
    ) throws(AutomatonLimit) {
        switch syntax {
        case .empty: automaton.connect(source, target)
        case .start: automaton.connect(source, target, .atStart)
        case .end: automaton.connect(source, target, .atEnd)
        case .set(let set):
            guard !set.isEmpty else { return }
            let state = try automaton.add()
            automaton.connect(source, state)
            automaton.connect(state, over: set, to: target)
        case .sequence(let parts):
            var current = source
            for (index, part) in parts.enumerated() {
                let next = index == parts.count - 1 ? target : try automaton.add()
                try add(part, from: current, to: next, in: &automaton)
                current = next
            }
            if parts.isEmpty { automaton.connect(source, target) }
        case .alternatives(let alternatives):
            for alternative in alternatives { try add(alternative, from: source, to: target, in: &automaton) }
        case .repetition(let body, let minimum, let maximum):
            var current = source
            for _ in 0..<minimum {
                let next = try automaton.add()
                try add(body, from: current, to: next, in: &automaton)
                current = next
            }
            if let maximum {
                automaton.connect(current, target)
                for _ in minimum..<maximum {
                    let next = try automaton.add()
                    try add(body, from: current, to: next, in: &automaton)
                    automaton.connect(next, target)
                    current = next
                }
            } else {
                let loop = try automaton.add()
                automaton.connect(current, loop)
                let next = try automaton.add()
                try add(body, from: loop, to: next, in: &automaton)
                automaton.connect(next, loop)
                automaton.connect(loop, target)
            }
        }
    }
}

extension RegexSyntax {
    /// An anchored sequence of characters, of which one is repeated up to a high count, as the same with an endless repetition
    /// and bounds for the length of the whole; nil for any other pattern.
    func withoutCount(longerThan limit: Int) -> (core: RegexSyntax, minimum: Int, maximum: Int?)? {
        guard isAnchoredAtStart, isAnchoredAtEnd else { return nil }
        var parts: [RegexSyntax] = []
        func flatten(_ syntax: RegexSyntax) {
            if case .sequence(let inner) = syntax { inner.forEach(flatten) } else { parts.append(syntax) }
        }
        flatten(self)
        var minimum = 0
        var maximum: Int? = 0
        var isCounted = false
        for (index, part) in parts.enumerated() {
            switch part {
            case .start where index == 0, .end where index == parts.count - 1: continue
            case .set:
                minimum += 1
                maximum = maximum.map { $0 + 1 }
            case .repetition(.set(let set), let low, let high):
                if low == high, low <= limit {
                    // A fixed number of characters leaves the rest to be told by the length.
                    minimum += low
                    maximum = maximum.map { $0 + low }
                    continue
                }
                guard !isCounted, max(low, high ?? 0) > limit else { return nil }
                isCounted = true
                minimum += low
                maximum = high.flatMap { high in maximum.map { $0 + high } }
                parts[index] = .repetition(.set(set), minimum: 0, maximum: nil)
            default: return nil
            }
        }
        guard isCounted else { return nil }
        return (.sequence(parts), min(minimum, 1 << 30), maximum.map { min($0, 1 << 30) })
    }

    /// Whether every match begins at the start of the text.
    var isAnchoredAtStart: Bool {
        switch self {
        case .start: true
        case .sequence(let parts): parts.first?.isAnchoredAtStart ?? false
        case .alternatives(let alternatives): alternatives.allSatisfy(\.isAnchoredAtStart)
        default: false
        }
    }

    /// Whether every match ends at the end of the text.
    var isAnchoredAtEnd: Bool {
        switch self {
        case .end: true
        case .sequence(let parts): parts.last?.isAnchoredAtEnd ?? false
        case .alternatives(let alternatives): alternatives.allSatisfy(\.isAnchoredAtEnd)
        default: false
        }
    }
}
