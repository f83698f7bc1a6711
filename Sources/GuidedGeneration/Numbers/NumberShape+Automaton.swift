extension NumberShape {
    /// The automaton of the JSON spellings of the set's members.
    ///
    /// A whole number is written without fraction or exponent, and zero without sign. Another number is written without
    /// exponent, with as many zeros at its end as the writer likes, unless nothing bounds it.
    /// - Throws: `AutomatonLimit` for a `multipleOf` of too many remainders.
    func automaton() throws(AutomatonLimit) -> Automaton {
        if self == .all { return Self.anyNumber }
        if self == .integers { return Self.anyInteger }
        if isPlainlyEmpty { return .empty }
        if self == Self.naturals { return Self.wholeNumbers }
        if let lower, let upper, lower.value == upper.value, multiples.isEmpty, nonMultiples.isEmpty {
            // One value: its plainest spelling, and for a fraction that is all there is to choose.
            return .texts([lower.value.text])
        }
        if let values = fewIntegers { return .texts(values.map(String.init)) }
        // Magnitudes first: multiples are the same on both sides of zero.
        var magnitudes = Self.decimals
        let isIntegral = isIntegral
        if isIntegral { magnitudes = Self.wholeNumbers }
        for multiple in multiples where multiple != .one {
            magnitudes = try magnitudes.intersection(Self.multiples(of: multiple))
        }
        for multiple in nonMultiples { magnitudes = try magnitudes.subtracting(Self.multiples(of: multiple)) }

        var positive = magnitudes
        var negative = try magnitudes.subtracting(isIntegral ? Automaton.texts(["0"]) : .empty)
        if let lower {
            if lower.value.isNegative {
                negative = try negative.intersection(
                    Self.compared(with: lower.value.magnitude, less: true, equal: !lower.isExclusive, greater: false))
            } else if lower.value.isZero, !lower.isExclusive {
                // Minus zero is zero.
                negative = try negative.intersection(Self.zeros)
            } else {
                negative = .empty
                positive = try positive.intersection(
                    Self.compared(with: lower.value, less: false, equal: !lower.isExclusive, greater: true))
            }
        }
        if let upper {
            if upper.value.isNegative {
                positive = .empty
                negative = try negative.intersection(
                    Self.compared(with: upper.value.magnitude, less: false, equal: !upper.isExclusive, greater: true))
            } else {
                positive = try positive.intersection(
                    Self.compared(with: upper.value, less: true, equal: !upper.isExclusive, greater: false))
                if upper.value.isZero, upper.isExclusive { negative = try negative.subtracting(Self.zeros) }
            }
        }
        return Self.signed(positive: positive, negative: negative)
    }

    /// The members when they are whole and few.
    private var fewIntegers: [Int]? {
        guard multiples == [.one], nonMultiples.isEmpty, let lower = lower?.smallInteger(up: true),
            let upper = upper?.smallInteger(up: false), upper - lower <= 100
        else { return nil }
        return lower <= upper ? Array(lower...upper) : []
    }

    private static let anyNumber = try! RegexCompiler.whole(
        #"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+\-]?[0-9]+)?"#, dialect: .ecmaScript)
    private static let anyInteger = try! RegexCompiler.whole("0|-?[1-9][0-9]*", dialect: .ecmaScript)
    private static let naturals = NumberShape(lower: Bound(value: .zero, isExclusive: false), multiples: [.one])
    private static let decimals = try! RegexCompiler.whole(#"(0|[1-9][0-9]*)(\.[0-9]+)?"#, dialect: .ecmaScript)
    private static let wholeNumbers = try! RegexCompiler.whole("0|[1-9][0-9]*", dialect: .ecmaScript)
    private static let zeros = try! RegexCompiler.whole(#"0(\.0+)?"#, dialect: .ecmaScript)

    private static func digit(_ low: Int, _ high: Int, _ target: Int32) -> Automaton.Edge {
        Automaton.Edge(low: UInt32(0x30 + low), high: UInt32(0x30 + high), target: target)
    }

    private static func point(_ target: Int32) -> Automaton.Edge {
        Automaton.Edge(low: 0x2e, high: 0x2e, target: target)
    }

    /// Joins the magnitudes of both signs.
    private static func signed(positive: Automaton, negative: Automaton) -> Automaton {
        var lists: [[Automaton.Edge]] = [[]]
        var accepts = [false]
        func append(_ automaton: Automaton) -> Int32 {
            let base = Int32(lists.count)
            for state in 0..<automaton.stateCount {
                lists.append(
                    automaton.edges(of: Int32(state)).map {
                        Automaton.Edge(low: $0.low, high: $0.high, target: $0.target + base)
                    })
                accepts.append(automaton.accepts[state])
            }
            return base
        }
        if !negative.isEmpty {
            // The minus sign comes before the digits in ASCII.
            let base = append(negative)
            lists[0].append(Automaton.Edge(low: 0x2d, high: 0x2d, target: base))
        }
        if !positive.isEmpty {
            let base = append(positive)
            lists[0] += lists[Int(base)]
        }
        return Automaton(states: lists, accepts: accepts)
    }

    /// The decimals, without sign, that compare with a magnitude in one of the given ways.
    private static func compared(with value: DecimalNumber, less: Bool, equal: Bool, greater: Bool) -> Automaton {
        let integer = value.integerDigits
        let fraction = value.fractionDigits
        enum Order: Int { case less, equal, greater }
        var lists: [[Automaton.Edge]] = []
        var accepts: [Bool] = []
        func add(_ isAccepted: Bool) -> Int32 {
            lists.append([])
            accepts.append(isAccepted)
            return Int32(lists.count - 1)
        }
        /// Whether a number that ends with its digits compared so far in this order is wanted.
        func isWanted(_ order: Order, fractionRead: Int) -> Bool {
            switch order {
            case .less: less
            case .greater: greater
            case .equal: fractionRead < fraction.count ? less : equal
            }
        }
        let start = add(false)
        // Behind the point: decided either way, or equal so far after so many digits.
        let decided = [Order.less, .greater].map { order -> (Order, point: Int32, digits: Int32) in
            let point = add(false)
            let digits = add(isWanted(order, fractionRead: 0))
            lists[Int(point)] = [digit(0, 9, digits)]
            lists[Int(digits)] = [digit(0, 9, digits)]
            return (order, point, digits)
        }
        func decidedDigits(_ order: Order) -> Int32 { decided[order == .less ? 0 : 1].digits }
        let equalPoint = add(false)
        var equalDigits: [Int32] = []
        for index in 1...(fraction.count + 1) { equalDigits.append(add(isWanted(.equal, fractionRead: index))) }
        for index in 0...(fraction.count + 1) {
            let state = index == 0 ? equalPoint : equalDigits[index - 1]
            let wanted = index < fraction.count ? Int(fraction[index]) : 0
            var list: [Automaton.Edge] = []
            if wanted > 0 { list.append(digit(0, wanted - 1, decidedDigits(.less))) }
            list.append(digit(wanted, wanted, equalDigits[min(index, fraction.count)]))
            if wanted < 9 { list.append(digit(wanted + 1, 9, decidedDigits(.greater))) }
            lists[Int(state)] = list
        }
        // Before the point: how many digits, and how the first of them compare.
        var states: [Int: Int32] = [:]
        var pending: [(Int, Order)] = []
        func state(_ count: Int, _ order: Order) -> Int32 {
            let key = min(count, integer.count + 1) * 3 + order.rawValue
            if let known = states[key] { return known }
            let length: Order = count < integer.count ? .less : count > integer.count ? .greater : order
            let new = add(isWanted(length, fractionRead: 0))
            states[key] = new
            pending.append((min(count, integer.count + 1), order))
            return new
        }
        func order(_ current: Order, at index: Int, _ digit: Int) -> Order {
            guard current == .equal, index < integer.count else { return current }
            return digit < Int(integer[index]) ? .less : digit > Int(integer[index]) ? .greater : .equal
        }
        var first: [Automaton.Edge] = []
        // A number that begins with zero has no other digit before the point: equal only to a zero.
        let zero: Order = integer == [0] ? .equal : .less
        let zeroState = add(isWanted(zero, fractionRead: 0))
        lists[Int(zeroState)] = [point(zero == .equal ? equalPoint : decided[0].point)]
        first.append(digit(0, 0, zeroState))
        for value in 1...9 { first.append(digit(value, value, state(1, order(.equal, at: 0, value)))) }
        lists[Int(start)] = first
        while let (count, current) = pending.popLast() {
            guard let source = states[count * 3 + current.rawValue] else { continue }
            let length: Order = count < integer.count ? .less : count > integer.count ? .greater : current
            var list = [
                point(length == .equal ? equalPoint : decided[length == .less ? 0 : 1].point)
            ]
            for value in 0...9 {
                let next = count > integer.count ? current : order(current, at: count, value)
                list.append(digit(value, value, state(count + 1, next)))
            }
            lists[Int(source)] = list
        }
        return Automaton(states: lists, accepts: accepts).minimized()
    }

    /// The decimals, without sign, that are multiples of a positive number: the digits' remainder, digit by digit.
    private static func multiples(of number: DecimalNumber) throws(AutomatonLimit) -> Automaton {
        guard let (divisor, exponent) = number.scaled, divisor > 0 else { throw AutomatonLimit() }
        // The number is divisor × 10^exponent, and the divisor does not end in zero.
        let scale = max(0, -exponent)
        let zeros = max(0, exponent)
        guard divisor <= 10_000, divisor * (scale + zeros + 2) <= Automaton.stateLimit * 2 else {
            throw AutomatonLimit()
        }
        var lists: [[Automaton.Edge]] = []
        var accepts: [Bool] = []
        func add(_ isAccepted: Bool) -> Int32 {
            lists.append([])
            accepts.append(isAccepted)
            return Int32(lists.count - 1)
        }
        let start = add(false)
        // Behind the point only zeros, once nothing else divides.
        let zeroPoint = add(false)
        let zeroDigits = add(true)
        lists[Int(zeroPoint)] = [digit(0, 0, zeroDigits)]
        lists[Int(zeroDigits)] = [digit(0, 0, zeroDigits)]

        var known: [[Int]: Int32] = [:]
        var pending: [[Int]] = []
        /// place 0: before the point; 1: at the point or behind it, with so many digits read.
        func state(place: Int, read: Int, remainder: Int) -> Int32 {
            let key = [place, read, remainder]
            if let existing = known[key] { return existing }
            let isAccepted: Bool
            if place == 0 {
                isAccepted = remainder * power(10, scale, modulo: divisor) % divisor == 0 && read >= zeros
            } else {
                isAccepted = read > 0 && remainder * power(10, scale - read, modulo: divisor) % divisor == 0
            }
            let new = add(isAccepted)
            known[key] = new
            pending.append(key)
            return new
        }
        // Before the point `read` counts the zeros at the end, up to as many as the number needs. Zero has all it needs.
        var first = [digit(0, 0, add(true))]
        let leadingZero = first[0].target
        for value in 1...9 { first.append(digit(value, value, state(place: 0, read: 0, remainder: value % divisor))) }
        lists[Int(start)] = first
        lists[Int(leadingZero)] = [
            point(scale == 0 ? zeroPoint : state(place: 1, read: 0, remainder: 0))
        ]
        while let key = pending.popLast() {
            guard let source = known[key] else { continue }
            let (place, read, remainder) = (key[0], key[1], key[2])
            var list: [Automaton.Edge] = []
            if place == 0 {
                if scale == 0 {
                    if accepts[Int(source)] { list.append(point(zeroPoint)) }
                } else {
                    list.append(point(state(place: 1, read: 0, remainder: remainder)))
                }
                for value in 0...9 {
                    let trailing = value == 0 ? min(read + 1, zeros) : 0
                    list.append(
                        digit(
                            value, value,
                            state(place: 0, read: trailing, remainder: (remainder * 10 + value) % divisor)))
                }
            } else if read < scale {
                for value in 0...9 {
                    list.append(
                        digit(
                            value, value,
                            state(place: 1, read: read + 1, remainder: (remainder * 10 + value) % divisor)))
                }
            } else if remainder == 0 {
                list.append(digit(0, 0, zeroDigits))
            }
            lists[Int(source)] = list
        }
        return Automaton(states: lists, accepts: accepts).minimized()
    }

    private static func power(_ base: Int, _ exponent: Int, modulo: Int) -> Int {
        var result = 1 % modulo
        for _ in 0..<max(exponent, 0) { result = result * base % modulo }
        return result
    }
}

extension NumberShape.Bound {
    /// The nearest whole number inside the bound, when it has at most nine digits.
    fileprivate func smallInteger(up: Bool) -> Int? {
        guard value.point <= 9 else { return nil }
        var result = value.integerDigits.reduce(0) { $0 * 10 + Int($1) }
        if value.isNegative { result = -result }
        if value.isInteger { return isExclusive ? result + (up ? 1 : -1) : result }
        // The digits before the point alone are nearer to zero than the value.
        if up, !value.isNegative { result += 1 }
        if !up, value.isNegative { result -= 1 }
        return result
    }
}
