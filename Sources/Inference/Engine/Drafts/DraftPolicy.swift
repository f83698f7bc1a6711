/// Decides for one request how many guessed tokens a step is to verify: as many as make the most of the step's time, and
/// none where that is more than they are likely to save.
package struct DraftPolicy {
    /// Guesses that were right and wrong, by the length of the match that they were made from; older ones count for less.
    private var right: [Double]
    private var wrong: [Double]

    /// Chances before anything is known, and for how many guesses they count.
    private static let priors = [0.4, 0.55, 0.7, 0.85]
    private static let priorWeight = 3.0
    private static let decay = 0.9
    /// What is not faster by this factor is not worth its risk.
    private static let leastGain = 1.05
    /// Tokens of one draft at most.
    package static let most = 16

    package init() {
        right = Self.priors.map { $0 * Self.priorWeight }
        wrong = Self.priors.map { (1 - $0) * Self.priorWeight }
    }

    private static func kind(_ matched: Int) -> Int { matched < 2 ? 0 : matched < 4 ? 1 : matched < 8 ? 2 : 3 }

    /// The chance that a guess is right, as the earlier ones tell.
    package func chance(matched: Int) -> Double {
        let kind = Self.kind(matched)
        return right[kind] / (right[kind] + wrong[kind])
    }

    /// Notes how a guess came out: how many of its tokens were right, and whether the one after them was wrong. A guess
    /// that was not verified is told by the token that came.
    package mutating func note(matched: Int, right count: Int, wasWrong: Bool) {
        let kind = Self.kind(matched)
        right[kind] = right[kind] * Self.decay + Double(count)
        wrong[kind] = wrong[kind] * Self.decay + (wasWrong ? 1 : 0)
        // Never quite sure, so that one that is wrong does not cost more than it must.
        wrong[kind] = max(wrong[kind], 0.02 * right[kind])
        right[kind] = max(right[kind], 0.02 * wrong[kind])
    }

    /// How many tokens to verify.
    /// - Parameters:
    ///   - matched: The length of the match that the guess was made from.
    ///   - available: The tokens that are guessed.
    ///   - rows: The tokens that the step computes anyhow, this request's own included.
    ///   - others: How many other requests get a token from the step.
    package func count(matched: Int, available: Int, rows: Int, others: Int, _ costs: StepCosts) -> Int {
        let chance = chance(matched: matched)
        let plain = Double(others + 1) / costs.seconds(rows: rows)
        var best = (count: 0, rate: plain * Self.leastGain)
        var (expected, reach) = (1.0, 1.0)
        for count in stride(from: 1, through: min(available, Self.most), by: 1) {
            reach *= chance
            expected += reach
            let rate = (Double(others) + expected) / costs.seconds(rows: rows + count)
            if rate > best.rate { best = (count, rate) }
        }
        return best.count
    }
}

/// How long steps of different sizes take, as measured while decoding. Up to a handful of rows a step takes little longer
/// than with one, since reading the weights takes the time; how many that is, is the machine's and the model's to say.
package struct StepCosts {
    /// The most rows of each class.
    private static let bounds = [1, 2, 4, 6, 8, 12, 17, 32, .max]
    /// Seconds, and the mean number of rows that they are of.
    private var measured: [(seconds: Double, rows: Double)?]

    /// The newest measurement's share of the mean.
    private static let share = 0.2
    /// What each further row is taken to add, in times of the first, until it is measured.
    private static let guessedSlope = 0.2

    package init() { measured = [(seconds: Double, rows: Double)?](repeating: nil, count: Self.bounds.count) }

    private static func kind(_ rows: Int) -> Int { bounds.firstIndex { rows <= $0 }! }

    package mutating func note(rows: Int, seconds: Double) {
        guard rows > 0, seconds > 0, seconds.isFinite else { return }
        let kind = Self.kind(rows)
        guard let old = measured[kind] else { return measured[kind] = (seconds, Double(rows)) }
        // A step that was held up says nothing about the next.
        let seconds = min(seconds, 3 * old.seconds)
        measured[kind] = (
            old.seconds + Self.share * (seconds - old.seconds), old.rows + Self.share * (Double(rows) - old.rows)
        )
    }

    /// What a step of so many rows is likely to take; in any unit before anything has been measured.
    package func seconds(rows: Int) -> Double {
        func guess(_ rows: Double) -> Double { 1 + Self.guessedSlope * (rows - 1) }
        let kind = Self.kind(rows)
        // The nearest class that is known, scaled.
        let known = measured.indices.filter { measured[$0] != nil }.min { abs($0 - kind) < abs($1 - kind) }
        guard let known, let value = measured[known] else { return guess(Double(rows)) }
        return value.seconds * guess(Double(rows)) / guess(value.rows)
    }
}
