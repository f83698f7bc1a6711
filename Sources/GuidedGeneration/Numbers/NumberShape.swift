import JSON

/// A set of numbers: an interval, and what its members are or are not multiples of.
struct NumberShape: Hashable, Sendable {
    struct Bound: Hashable, Sendable {
        var value: DecimalNumber
        var isExclusive: Bool
    }

    var lower: Bound?
    var upper: Bound?
    /// Every member is a multiple of each; sorted.
    var multiples: [DecimalNumber] = []
    /// No member is a multiple of any; sorted.
    var nonMultiples: [DecimalNumber] = []

    static let all = NumberShape()
    static let integers = NumberShape(multiples: [.one])

    static func only(_ value: DecimalNumber) -> NumberShape {
        NumberShape(
            lower: Bound(value: value, isExclusive: false), upper: Bound(value: value, isExclusive: false))
    }

    /// Whether the bounds alone leave nothing.
    var isPlainlyEmpty: Bool {
        if multiples.contains(where: nonMultiples.contains) { return true }
        guard let lower, let upper else { return false }
        return lower.value > upper.value || (lower.value == upper.value && (lower.isExclusive || upper.isExclusive))
    }

    func intersection(_ other: NumberShape) -> NumberShape {
        var result = self
        if let bound = other.lower {
            if let mine = lower {
                if bound.value > mine.value || (bound.value == mine.value && bound.isExclusive) { result.lower = bound }
            } else {
                result.lower = bound
            }
        }
        if let bound = other.upper {
            if let mine = upper {
                if bound.value < mine.value || (bound.value == mine.value && bound.isExclusive) { result.upper = bound }
            } else {
                result.upper = bound
            }
        }
        result.multiples = Set(multiples + other.multiples).sorted()
        result.nonMultiples = Set(nonMultiples + other.nonMultiples).sorted()
        return result
    }

    /// The numbers outside the set, as sets that do not overlap by their bounds.
    var complement: [NumberShape] {
        var result: [NumberShape] = []
        if let lower { result.append(NumberShape(upper: Bound(value: lower.value, isExclusive: !lower.isExclusive))) }
        if let upper { result.append(NumberShape(lower: Bound(value: upper.value, isExclusive: !upper.isExclusive))) }
        for multiple in multiples {
            result.append(NumberShape(lower: lower, upper: upper, nonMultiples: [multiple]))
        }
        for multiple in nonMultiples {
            result.append(NumberShape(lower: lower, upper: upper, multiples: [multiple]))
        }
        return result
    }

    /// Whether every member is whole.
    var isIntegral: Bool {
        multiples.contains(where: \.isInteger)
            || (lower.map { lower in upper.map { $0 == lower && lower.value.isInteger } ?? false } ?? false)
    }

    /// The set without the whole numbers beyond an `Int`, unless a bound asks for larger ones.
    var readable: NumberShape {
        guard isIntegral else { return self }
        var result = self
        if lower == nil, upper.map({ $0.value >= Self.least.value }) ?? true { result.lower = Self.least }
        if upper == nil, lower.map({ $0.value <= Self.greatest.value }) ?? true { result.upper = Self.greatest }
        return result
    }

    private static let least = Bound(value: DecimalNumber(JSONNumber(Int.min))!, isExclusive: false)
    private static let greatest = Bound(value: DecimalNumber(JSONNumber(Int.max))!, isExclusive: false)
}
