/// A set of Unicode scalar values as sorted ranges that neither touch nor overlap. Surrogates may lie inside a range; no text has them.
struct ScalarSet: Hashable, Sendable {
    struct Range: Hashable, Sendable {
        var low: UInt32
        var high: UInt32
    }

    private(set) var ranges: [Range]

    static let last: UInt32 = 0x10ffff
    static let all = ScalarSet(ranges: [Range(low: 0, high: last)])
    static let empty = ScalarSet(ranges: [])

    private init(ranges: [Range]) { self.ranges = ranges }

    init(_ pairs: [(UInt32, UInt32)]) {
        var sorted = pairs.filter { $0.0 <= $0.1 }
        sorted.sort { $0.0 < $1.0 }
        var ranges: [Range] = []
        for (low, high) in sorted {
            if let last = ranges.last, low <= last.high || low == last.high + 1 {
                ranges[ranges.count - 1].high = max(last.high, high)
            } else {
                ranges.append(Range(low: low, high: high))
            }
        }
        self.ranges = ranges
    }

    init(_ low: UInt32, _ high: UInt32) { self.init([(low, high)]) }

    init(_ scalar: UInt32) { self.init([(scalar, scalar)]) }

    init(_ characters: String) { self.init(characters.unicodeScalars.map { ($0.value, $0.value) }) }

    var isEmpty: Bool { ranges.isEmpty }

    func contains(_ scalar: UInt32) -> Bool {
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].high < scalar { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].low <= scalar
    }

    func union(_ other: ScalarSet) -> ScalarSet {
        if isEmpty { return other }
        if other.isEmpty { return self }
        return ScalarSet((ranges + other.ranges).map { ($0.low, $0.high) })
    }

    var complement: ScalarSet {
        var result: [Range] = []
        var next: UInt32 = 0
        for range in ranges {
            if range.low > next { result.append(Range(low: next, high: range.low - 1)) }
            next = range.high + 1
        }
        if next <= Self.last { result.append(Range(low: next, high: Self.last)) }
        return ScalarSet(ranges: result)
    }

    func intersection(_ other: ScalarSet) -> ScalarSet {
        var result: [Range] = []
        var (left, right) = (0, 0)
        while left < ranges.count, right < other.ranges.count {
            let (a, b) = (ranges[left], other.ranges[right])
            let (low, high) = (max(a.low, b.low), min(a.high, b.high))
            if low <= high { result.append(Range(low: low, high: high)) }
            if a.high < b.high { left += 1 } else { right += 1 }
        }
        return ScalarSet(ranges: result)
    }

    func subtracting(_ other: ScalarSet) -> ScalarSet { intersection(other.complement) }
}
