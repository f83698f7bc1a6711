import JSON

/// The Boolean operations on normal forms, with the memory of automata already made and a limit for the work.
///
/// Alternatives multiply: what would make more shapes than the limits allow is an error, so that no schema takes time without end.
final class NormalFormAlgebra {
    var table = ExpressionTable()
    private var automatonProducts: [AutomatonPair: Automaton] = [:]
    private(set) var work = 0

    /// Shapes of one type in one form.
    static let shapeLimit = 600
    /// Shapes looked at in one compilation.
    static let workLimit = 60_000

    private struct AutomatonPair: Hashable {
        var left: ObjectIdentifier
        var right: ObjectIdentifier
        var isDifference: Bool
    }

    /// A schema has more alternatives than can be kept apart.
    struct Limit: Error {}

    func spend(_ count: Int = 1) throws(Limit) {
        work += count
        guard work <= Self.workLimit else { throw Limit() }
    }

    /// Counts the making of an automaton by its size.
    private func spend(on automaton: Automaton) throws(Limit) { try spend(4 + automaton.edges.count / 16) }

    // MARK: Automata

    func intersection(_ left: Automaton, _ right: Automaton) throws(Limit) -> Automaton {
        try product(left, right, isDifference: false)
    }

    func difference(_ left: Automaton, _ right: Automaton) throws(Limit) -> Automaton {
        try product(left, right, isDifference: true)
    }

    func union(_ left: Automaton, _ right: Automaton) throws(Limit) -> Automaton {
        let result: Automaton
        do { result = try left.union(right) } catch { throw Limit() }
        try spend(on: result)
        return result
    }

    private func product(_ left: Automaton, _ right: Automaton, isDifference: Bool) throws(Limit) -> Automaton {
        let key = AutomatonPair(
            left: ObjectIdentifier(left), right: ObjectIdentifier(right), isDifference: isDifference)
        if let known = automatonProducts[key] { return known }
        let result: Automaton
        do { result = try isDifference ? left.subtracting(right) : left.intersection(right) } catch { throw Limit() }
        try spend(on: result)
        retained += [left, right]
        automatonProducts[key] = result
        return result
    }

    /// The keys of a language without some names.
    func difference(_ keys: Automaton, names: [ExactText]) throws(Limit) -> Automaton {
        if names.isEmpty { return keys }
        let sorted = names.sorted()
        if keys.isUniversal {
            if let known = complements[sorted] { return known }
            let result = Automaton.allBut(sorted.map(\.string))
            complements[sorted] = result
            return result
        }
        let excluded = nameSets[sorted] ?? .texts(sorted.map(\.string))
        nameSets[sorted] = excluded
        return try difference(keys, excluded)
    }

    private var complements: [[ExactText]: Automaton] = [:]
    private var nameSets: [[ExactText]: Automaton] = [:]

    /// Keeps the automata alive whose identity is a key.
    private var retained: [Automaton] = []

    /// A shape's language with its bounds for the length in it; nil when the bounds are too large for that.
    func languageWithLength(_ shape: StringShape) throws(Limit) -> Automaton {
        let base = shape.automaton?.automaton ?? .universal
        guard shape.minimum > 0 || shape.maximum != nil else { return base }
        guard max(shape.minimum, shape.maximum ?? 0) <= 4096 else { throw Limit() }
        return try intersection(base, .length(minimum: shape.minimum, maximum: shape.maximum))
    }

    // MARK: Union

    func union(_ left: NormalForm, _ right: NormalForm) throws(Limit) -> NormalForm {
        var result = left
        result.allowsNull = left.allowsNull || right.allowsNull
        result.allowsTrue = left.allowsTrue || right.allowsTrue
        result.allowsFalse = left.allowsFalse || right.allowsFalse
        result.numbers = Self.joined(left.numbers, right.numbers, all: .all)
        result.strings = Self.joined(left.strings, right.strings, all: .all)
        result.arrays = Self.joined(left.arrays, right.arrays, all: .all)
        result.objects = Self.joined(left.objects, right.objects, all: .all)
        guard result.shapeCount <= Self.shapeLimit * 4 else { throw Limit() }
        return result
    }

    private static func joined<Shape: Hashable>(_ left: [Shape], _ right: [Shape], all: Shape) -> [Shape] {
        if left.isEmpty { return right }
        if right.isEmpty { return left }
        if left.contains(all) || right.contains(all) { return [all] }
        var seen = Set(left)
        return left + right.filter { seen.insert($0).inserted }
    }

    // MARK: Intersection

    func intersection(_ left: NormalForm, _ right: NormalForm) throws(Limit) -> NormalForm {
        var result = NormalForm.never
        result.allowsNull = left.allowsNull && right.allowsNull
        result.allowsTrue = left.allowsTrue && right.allowsTrue
        result.allowsFalse = left.allowsFalse && right.allowsFalse
        result.numbers = try pairs(left.numbers, right.numbers, all: .all) { a, b throws(Limit) in
            let shape = a.intersection(b)
            return shape.isPlainlyEmpty ? nil : shape
        }
        result.strings = try pairs(left.strings, right.strings, all: .all) { [self] a, b throws(Limit) in
            try intersection(a, b)
        }
        result.arrays = try pairs(left.arrays, right.arrays, all: .all) { [self] a, b throws(Limit) in
            intersection(a, b)
        }
        result.objects = try pairs(left.objects, right.objects, all: .all) { [self] a, b throws(Limit) in
            try intersection(a, b)
        }
        return result
    }

    private func pairs<Shape: Hashable>(
        _ left: [Shape], _ right: [Shape], all: Shape,
        _ meet: (Shape, Shape) throws(Limit) -> Shape?
    ) throws(Limit) -> [Shape] {
        if left.isEmpty || right.isEmpty { return [] }
        if left == [all] { return right }
        if right == [all] { return left }
        var result: [Shape] = []
        var seen: Set<Shape> = []
        for a in left {
            for b in right {
                try spend()
                guard let shape = a == b ? a : try meet(a, b), seen.insert(shape).inserted else { continue }
                result.append(shape)
                guard result.count <= Self.shapeLimit else { throw Limit() }
            }
        }
        return result.contains(all) ? [all] : result
    }

    private func intersection(_ left: StringShape, _ right: StringShape) throws(Limit) -> StringShape? {
        var result = left
        result.minimum = max(left.minimum, right.minimum)
        result.maximum = Self.least(left.maximum, right.maximum)
        if let maximum = result.maximum, result.minimum > maximum { return nil }
        if let other = right.automaton {
            if let mine = left.automaton {
                let product = try intersection(mine.automaton, other.automaton)
                if product.isEmpty { return nil }
                result.automaton = InternedAutomaton(product)
            } else {
                result.automaton = other
            }
        }
        return result
    }

    static func least(_ left: Int?, _ right: Int?) -> Int? {
        guard let left else { return right }
        guard let right else { return left }
        return min(left, right)
    }

    private func intersection(_ left: ArrayShape, _ right: ArrayShape) -> ArrayShape? {
        var result = ArrayShape()
        for index in 0..<max(left.prefix.count, right.prefix.count) {
            result.prefix.append(table.all([left.element(index), right.element(index)]))
        }
        result.rest = table.all([left.rest, right.rest])
        result.minimum = max(left.minimum, right.minimum)
        result.maximum = Self.least(left.maximum, right.maximum)
        result.contains = left.contains + right.contains.filter { !left.contains.contains($0) }
        result.isUnique = left.isUnique || right.isUnique
        return result.normalized()
    }

    private func intersection(_ left: ObjectShape, _ right: ObjectShape) throws(Limit) -> ObjectShape? {
        var result = ObjectShape()
        result.members.reserveCapacity(left.members.count + right.members.count)
        var places: [ExactText: Int] = [:]
        for member in left.members {
            places[member.key] = result.members.count
            result.members.append(member)
        }
        var isShared = [Bool](repeating: false, count: left.members.count)
        var added: [ObjectShape.Member] = []
        for member in right.members {
            if let place = places[member.key] {
                isShared[place] = true
                result.members[place].isRequired = member.isRequired || result.members[place].isRequired
                result.members[place].value = meet(result.members[place].value, member.value)
            } else {
                var member = member
                member.value = meet(left.groupValue(of: member.key), member.value)
                added.append(member)
            }
        }
        if right.groups != ObjectShape.all.groups {
            for (place, member) in left.members.enumerated() where !isShared[place] {
                result.members[place].value = meet(member.value, right.groupValue(of: member.key))
            }
        }
        result.members += added
        try spend(result.members.count / 8)
        guard !result.members.contains(where: { $0.isRequired && $0.value == .never }) else { return nil }

        if left.groups == ObjectShape.all.groups {
            result.groups = right.groups
        } else if right.groups == ObjectShape.all.groups {
            result.groups = left.groups
        } else {
            result.groups = []
            for a in left.groups {
                for b in right.groups {
                    let keys =
                        a.keys.automaton.isUniversal
                        ? b.keys.automaton
                        : b.keys.automaton.isUniversal
                            ? a.keys.automaton : try intersection(a.keys.automaton, b.keys.automaton)
                    guard !keys.isEmpty else { continue }
                    result.groups.append(
                        ObjectShape.Group(keys: InternedAutomaton(keys), value: table.all([a.value, b.value])))
                }
            }
        }
        result.minimum = max(left.minimum, right.minimum)
        result.maximum = Self.least(left.maximum, right.maximum)
        if let maximum = result.maximum {
            guard result.minimum <= maximum, result.members.count(where: \.isRequired) <= maximum else { return nil }
        }
        result.needs = left.needs + right.needs.filter { !left.needs.contains($0) }
        return result
    }

    /// Both of two expressions, seen to be nothing where constants and plain scalars already say so.
    private func meet(_ left: ExpressionID, _ right: ExpressionID) -> ExpressionID {
        let both = table.all([left, right])
        guard both != left, both != right, both != .never else { return both }
        return emptyCheck?(both) == true ? .never : both
    }

    /// Asks the compiler whether an expression is known to have no value.
    var emptyCheck: ((ExpressionID) -> Bool)?

    // MARK: Complement

    func complement(_ form: NormalForm) throws(ComplementError) -> NormalForm {
        var result = NormalForm.never
        result.allowsNull = !form.allowsNull
        result.allowsTrue = !form.allowsTrue
        result.allowsFalse = !form.allowsFalse
        do {
            if !form.numbers.contains(.all) {
                var rest = NormalForm(numbers: [.all])
                for shape in form.numbers { rest = try intersection(rest, NormalForm(numbers: shape.complement)) }
                result.numbers = rest.numbers
            }
            if !form.strings.contains(.all) {
                var rest = NormalForm(strings: [.all])
                for shape in form.strings { rest = try intersection(rest, NormalForm(strings: try complement(shape))) }
                result.strings = rest.strings
            }
            if !form.objects.contains(.all) {
                var rest = NormalForm(objects: [.all])
                for shape in form.objects { rest = try intersection(rest, NormalForm(objects: try complement(shape))) }
                result.objects = rest.objects
            }
        } catch {
            throw .limit
        }
        if !form.arrays.contains(.all) {
            var rest = NormalForm(arrays: [.all])
            for shape in form.arrays {
                guard !shape.isUnique else { throw .unique }
                do {
                    rest = try intersection(rest, NormalForm(arrays: complement(shape)))
                } catch {
                    throw .limit
                }
            }
            result.arrays = rest.arrays
        }
        return result
    }

    enum ComplementError: Error {
        case limit
        /// Arrays with an element twice have no automaton.
        case unique
    }

    private func complement(_ shape: StringShape) throws(Limit) -> [StringShape] {
        var result: [StringShape] = []
        if let automaton = shape.automaton {
            let outside = try difference(.universal, automaton.automaton)
            if !outside.isEmpty { result.append(StringShape(automaton: InternedAutomaton(outside))) }
        }
        if shape.minimum > 0 { result.append(StringShape(maximum: shape.minimum - 1)) }
        if let maximum = shape.maximum { result.append(StringShape(minimum: maximum + 1)) }
        return result
    }

    private func complement(_ shape: ArrayShape) -> [ArrayShape] {
        var result: [ArrayShape] = []
        if shape.minimum > 0 { result.append(ArrayShape(maximum: shape.minimum - 1)) }
        if let maximum = shape.maximum { result.append(ArrayShape(minimum: maximum + 1)) }
        for (index, element) in shape.prefix.enumerated() where element != .any {
            var prefix = [ExpressionID](repeating: .any, count: index)
            prefix.append(table.not(element))
            result.append(ArrayShape(prefix: prefix, minimum: index + 1))
        }
        if shape.rest != .any, shape.maximum.map({ $0 > shape.prefix.count }) ?? true {
            let other = table.not(shape.rest)
            if other == .any {
                result.append(ArrayShape(minimum: shape.prefix.count + 1))
            } else {
                result.append(
                    ArrayShape(contains: [
                        ArrayShape.Contains(expression: other, start: shape.prefix.count, minimum: 1)
                    ]))
            }
        }
        for constraint in shape.contains {
            if constraint.minimum > 0 {
                var fewer = constraint
                fewer.minimum = 0
                fewer.maximum = constraint.minimum - 1
                result.append(ArrayShape(contains: [fewer]))
            }
            if let maximum = constraint.maximum {
                var more = constraint
                more.minimum = maximum + 1
                more.maximum = nil
                result.append(ArrayShape(contains: [more]))
            }
        }
        return result.compactMap { $0.normalized() }
    }

    private func complement(_ shape: ObjectShape) throws(Limit) -> [ObjectShape] {
        var result: [ObjectShape] = []
        for member in shape.members {
            if member.isRequired {
                result.append(ObjectShape(members: [.init(key: member.key, value: .never, isRequired: false)]))
            }
            if member.value != .any {
                let other = table.not(member.value)
                if other != .never {
                    result.append(ObjectShape(members: [.init(key: member.key, value: other, isRequired: true)]))
                }
            }
        }
        let declared = shape.members.map(\.key)
        for group in shape.groups where group.value != .any {
            let keys = try difference(group.keys.automaton, names: declared)
            guard !keys.isEmpty else { continue }
            result.append(
                ObjectShape(needs: [.init(keys: InternedAutomaton(keys), value: table.not(group.value))]))
        }
        for need in shape.needs {
            let outside = try difference(.universal, need.keys.automaton)
            var groups = [ObjectShape.Group(keys: need.keys, value: table.not(need.value))]
            if !outside.isEmpty { groups.append(.init(keys: InternedAutomaton(outside), value: .any)) }
            result.append(ObjectShape(groups: groups))
        }
        if shape.minimum > 0 { result.append(ObjectShape(maximum: shape.minimum - 1)) }
        if let maximum = shape.maximum { result.append(ObjectShape(minimum: maximum + 1)) }
        return result
    }
}

extension ArrayShape {
    /// The same arrays with the bounds that the elements imply; nil when there are none.
    func normalized() -> ArrayShape? {
        var result = self
        if let index = prefix.firstIndex(of: .never) {
            result.prefix = Array(prefix[..<index])
            result.rest = .never
        }
        if result.rest == .never { result.maximum = min(maximum ?? .max, result.prefix.count) }
        if let maximum = result.maximum {
            guard result.minimum <= maximum else { return nil }
            if result.prefix.count > maximum { result.prefix = Array(result.prefix[..<maximum]) }
            if result.prefix.count == maximum { result.rest = .never }
        }
        return result
    }
}
