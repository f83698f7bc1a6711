import JSON

/// Makes a program of a schema: expands every expression that can be reached, finds out which of them have a value at all, and
/// leaves out what has none, so that no walk comes to a dead end.
struct ProgramBuilder {
    let compiler: SchemaCompiler
    private let options: SchemaOptions

    /// What an expression says, with its parts still expressions.
    struct Plan {
        var form: NormalForm
        var arrays: [ArrayPlan]
        var objects: [ObjectPlan]
        var hasScalars: Bool
    }

    struct Choice {
        var expression: ExpressionID
        var mark: Int32
    }

    struct ArrayPlan {
        var prefix: [[Choice]]
        var rest: [Choice]
        var minimum: Int
        var maximum: Int
        var minimumContained: Int
        var maximumContained: Int
        var isUnique: Bool
    }

    struct ObjectPlan {
        var members: [(key: ExactText, isRequired: Bool, choices: [Choice])]
        var groups: [(keys: Program.Language.Texts, spelling: Program.Language.Spelling, choices: [Choice])]
        var minimum: Int
        var maximum: Int
        var needs: Int32
    }

    /// Expressions in one grammar.
    private static let expressionLimit = 20_000
    /// The words of a finite set of keys that are written out as members.
    private static let wordLimit = 64
    /// Elements that a `contains` may ask for.
    private static let containsLimit = 1_000

    static func build(_ schema: JSONValue, options: SchemaOptions) throws(GrammarError) -> Program {
        let document = try SchemaDocument(schema)
        let compiler = SchemaCompiler(document, options: options)
        compiler.algebra.emptyCheck = { [unowned compiler] in compiler.isPlainlyEmpty($0) }
        defer { compiler.algebra.emptyCheck = nil }
        var builder = ProgramBuilder(compiler: compiler, options: options)
        return try builder.build(root: compiler.root())
    }

    private init(compiler: SchemaCompiler, options: SchemaOptions) {
        self.compiler = compiler
        self.options = options
    }

    private(set) var plans: [ExpressionID: Plan] = [:]
    private var order: [ExpressionID] = []
    private var hasValue: Set<ExpressionID> = []

    private mutating func build(root: ExpressionID) throws(GrammarError) -> Program {
        try expandAll(from: root)
        findValues()
        guard hasValue.contains(root) else {
            throw contradiction(from: root)
        }
        return try emit(root: root)
    }

    // MARK: Plans

    private mutating func expandAll(from root: ExpressionID) throws(GrammarError) {
        var seen: Set<ExpressionID> = [root]
        var next = 0
        order = [root]
        while next < order.count {
            let id = order[next]
            next += 1
            let form = try compiler.form(id)
            var plan = Plan(form: form, arrays: [], objects: [], hasScalars: false)
            for shape in form.arrays { plan.arrays.append(try self.plan(shape)) }
            for shape in form.objects { plan.objects.append(try self.plan(shape)) }
            plans[id] = plan
            func visit(_ choices: [Choice]) {
                for choice in choices where choice.expression != .never && seen.insert(choice.expression).inserted {
                    order.append(choice.expression)
                }
            }
            for array in plan.arrays {
                array.prefix.forEach(visit)
                visit(array.rest)
            }
            for object in plan.objects {
                for member in object.members { visit(member.choices) }
                for group in object.groups { visit(group.choices) }
            }
            guard order.count <= Self.expressionLimit else {
                throw GrammarError(
                    .tooComplex, keyword: "schema", path: "#", "more than \(Self.expressionLimit) different values")
            }
        }
    }

    private func plan(_ shape: ArrayShape) throws(GrammarError) -> ArrayPlan {
        var plan = ArrayPlan(
            prefix: [], rest: [], minimum: shape.minimum, maximum: shape.maximum ?? .max, minimumContained: 0,
            maximumContained: .max, isUnique: false)
        let contains = shape.contains.filter { $0.minimum > 0 || $0.maximum != nil }
        guard contains.count <= 1 else {
            throw GrammarError(
                .unsupported, keyword: "contains", path: "#" + compiler.currentPath, "more than one for the same array")
        }
        if shape.isUnique, shape.maximum ?? .max > 1 {
            guard contains.isEmpty, shape.prefix.isEmpty, let values = try finiteValues(of: shape.rest, limit: 24)
            else {
                throw GrammarError(
                    .unsupported, keyword: "uniqueItems", path: "#" + compiler.currentPath,
                    "only over elements from a list of at most 24 values")
            }
            plan.isUnique = true
            plan.maximum = min(plan.maximum, values.count)
            for (index, value) in values.enumerated() {
                plan.rest.append(
                    Choice(expression: compiler.algebra.table.intern(.constant(value)), mark: 1 << Int32(index)))
            }
            return plan
        }
        guard let constraint = contains.first else {
            plan.prefix = shape.prefix.map { [Choice(expression: $0, mark: 0)] }
            plan.rest = [Choice(expression: shape.rest, mark: 0)]
            return plan
        }
        guard max(constraint.minimum, constraint.maximum ?? 0) <= Self.containsLimit else {
            throw GrammarError(
                .tooComplex, keyword: "minContains", path: "#" + compiler.currentPath, "more than \(Self.containsLimit)"
            )
        }
        plan.minimumContained = constraint.minimum
        plan.maximumContained = constraint.maximum ?? .max
        func choices(_ element: ExpressionID) -> [Choice] {
            let hit = Choice(expression: compiler.algebra.table.all([element, constraint.expression]), mark: 1)
            // Only an upper bound makes it matter that the others do not count.
            let other =
                constraint.maximum == nil
                ? element : compiler.algebra.table.all([element, compiler.algebra.table.not(constraint.expression)])
            return [hit, Choice(expression: other, mark: 0)]
        }
        for index in 0..<max(shape.prefix.count, constraint.start) {
            let element = shape.element(index)
            plan.prefix.append(index < constraint.start ? [Choice(expression: element, mark: 0)] : choices(element))
        }
        plan.rest = choices(shape.rest)
        return plan
    }

    private func plan(_ shape: ObjectShape) throws(GrammarError) -> ObjectPlan {
        guard shape.needs.count <= 8 else {
            throw GrammarError(
                .tooComplex, keyword: "not", path: "#" + compiler.currentPath,
                "more than 8 properties of which one must differ")
        }
        var plan = ObjectPlan(
            members: [], groups: [], minimum: shape.minimum, maximum: shape.maximum ?? .max,
            needs: Int32((1 << shape.needs.count) - 1))
        /// Every way in which a value of a key can meet needs.
        func choices(_ value: ExpressionID, _ isConcerned: (ObjectShape.Need) -> Bool) -> [Choice] {
            var result = [Choice(expression: value, mark: 0)]
            for (index, need) in shape.needs.enumerated() where isConcerned(need) {
                result += result.map {
                    Choice(
                        expression: compiler.algebra.table.all([$0.expression, need.value]),
                        mark: $0.mark | 1 << Int32(index))
                }
            }
            return result
        }
        var declared: Set<ExactText> = []
        for member in shape.members {
            declared.insert(member.key)
            // One that must be there and has no value stays, so that the shape is found to have none either.
            if member.value == .never, !member.isRequired { continue }
            plan.members.append(
                (member.key, member.isRequired, choices(member.value) { $0.keys.automaton.matches(member.key.string) }))
        }
        do {
            for group in shape.groups where group.value != .never {
                if group.keys.automaton.isUniversal, shape.needs.isEmpty {
                    // Keys that only have to differ from the declared ones may be spelled in any way.
                    plan.groups.append(
                        (.allBut(declared.sorted()), .free, choices(group.value) { _ in false }))
                    continue
                }
                let keys = try compiler.algebra.difference(group.keys.automaton, names: Array(declared))
                // A key inside a need's language is told from one outside.
                var parts: [(Automaton, [ObjectShape.Need])] = [(keys, [])]
                for need in shape.needs {
                    var split: [(Automaton, [ObjectShape.Need])] = []
                    for (keys, needs) in parts {
                        let inside = try compiler.algebra.intersection(keys, need.keys.automaton)
                        let outside = try compiler.algebra.difference(keys, need.keys.automaton)
                        if !inside.isEmpty { split.append((inside, needs + [need])) }
                        if !outside.isEmpty { split.append((outside, needs)) }
                    }
                    parts = split
                }
                for (keys, needs) in parts where !keys.isEmpty {
                    let choices = choices(group.value) { needs.contains($0) }
                    if let words = keys.finiteTexts(limit: Self.wordLimit) {
                        for word in words { plan.members.append((ExactText(word), false, choices)) }
                    } else {
                        plan.groups.append((.of(InternedAutomaton(keys)), .canonical, choices))
                    }
                }
            }
        } catch {
            throw GrammarError(
                .tooComplex, keyword: "patternProperties", path: "#" + compiler.currentPath,
                "the keys need too large an automaton")
        }
        return plan
    }

    /// The values of an expression when they are few, scalar and all known.
    private func finiteValues(of id: ExpressionID, limit: Int) throws(GrammarError) -> [JSONValue]? {
        let form = try compiler.form(id)
        guard form.arrays.isEmpty, form.objects.isEmpty else { return nil }
        var values: [JSONValue] = []
        if form.allowsNull { values.append(.null) }
        if form.allowsTrue { values.append(.bool(true)) }
        if form.allowsFalse { values.append(.bool(false)) }
        var texts: Set<ExactText> = []
        for shape in form.strings {
            guard let language = try? compiler.algebra.languageWithLength(shape),
                let words = language.finiteTexts(limit: limit)
            else { return nil }
            for word in words where texts.insert(ExactText(word)).inserted { values.append(.string(word)) }
        }
        var numbers: Set<String> = []
        for shape in form.numbers {
            guard shape.isIntegral || shape.lower == shape.upper, let automaton = try? compiler.automaton(of: shape),
                let words = automaton.finiteTexts(limit: limit)
            else { return nil }
            for word in words where numbers.insert(word).inserted {
                guard let value = try? JSONValue(parsing: word) else { return nil }
                values.append(value)
            }
        }
        return values.count <= limit ? values : nil
    }

    // MARK: Which expressions have values

    func isFilled(_ choices: [Choice]) -> Bool { choices.contains { hasValue.contains($0.expression) } }

    private func isFilled(_ plan: ArrayPlan) -> Bool { trimmed(plan) != nil }

    /// The plan without the choices that have no value; nil when no array is left.
    private func trimmed(_ plan: ArrayPlan) -> ArrayPlan? {
        var result = plan
        func filled(_ choices: [Choice]) -> [Choice] { choices.filter { hasValue.contains($0.expression) } }
        result.prefix = plan.prefix.map(filled)
        result.rest = filled(plan.rest)
        if let gap = result.prefix.firstIndex(where: \.isEmpty) {
            result.prefix = Array(result.prefix[..<gap])
            result.rest = []
        }
        if result.rest.isEmpty { result.maximum = min(result.maximum, result.prefix.count) }
        if result.isUnique { result.maximum = min(result.maximum, result.rest.count) }
        guard result.minimum <= result.maximum else { return nil }
        if result.minimumContained > 0 || result.maximumContained < .max {
            let array = Self.program(result) { _ in 0 }
            guard array.canFinish(index: 0, lower: array.minimum, upper: array.maximum, contained: 0) else {
                return nil
            }
        }
        return result
    }

    private func trimmed(_ plan: ObjectPlan) -> ObjectPlan? {
        var result = plan
        result.members = []
        for member in plan.members {
            let choices = member.choices.filter { hasValue.contains($0.expression) }
            if choices.isEmpty {
                if member.isRequired { return nil }
                continue
            }
            result.members.append((member.key, member.isRequired, choices))
        }
        result.groups = plan.groups.compactMap { group in
            let choices = group.choices.filter { hasValue.contains($0.expression) }
            return choices.isEmpty ? nil : (group.keys, group.spelling, choices)
        }
        guard result.members.count(where: \.isRequired) <= result.maximum else { return nil }
        guard !result.groups.isEmpty || result.members.count >= result.minimum else { return nil }
        var needs: Int32 = 0
        for member in result.members { for choice in member.choices { needs |= choice.mark } }
        for group in result.groups { for choice in group.choices { needs |= choice.mark } }
        guard needs & plan.needs == plan.needs else { return nil }
        return result
    }

    /// Goes round until nothing more is found: first what needs nothing else, then what needs only that.
    private mutating func findValues() {
        var users: [ExpressionID: [ExpressionID]] = [:]
        var queue: [ExpressionID] = []
        for id in order {
            guard let plan = plans[id] else { continue }
            var seen: Set<ExpressionID> = []
            func use(_ choices: [Choice]) {
                for choice in choices where seen.insert(choice.expression).inserted {
                    users[choice.expression, default: []].append(id)
                }
            }
            for array in plan.arrays {
                array.prefix.forEach(use)
                use(array.rest)
            }
            for object in plan.objects {
                for member in object.members { use(member.choices) }
                for group in object.groups { use(group.choices) }
            }
            queue.append(id)
        }
        // From the end, since later expressions are mostly parts of earlier ones.
        while let id = queue.popLast() {
            guard !hasValue.contains(id), let plan = plans[id], isFilled(plan) else { continue }
            hasValue.insert(id)
            queue.append(contentsOf: users[id] ?? [])
        }
    }

    private func isFilled(_ plan: Plan) -> Bool {
        let form = plan.form
        if form.allowsNull || form.allowsTrue || form.allowsFalse { return true }
        if form.strings.contains(where: isFilled) || form.numbers.contains(where: isFilled) { return true }
        return plan.arrays.contains { trimmed($0) != nil } || plan.objects.contains { trimmed($0) != nil }
    }

    private func isFilled(_ shape: NumberShape) -> Bool {
        if shape == .all || shape == .integers { return true }
        // What cannot be decided here is an error when it is emitted.
        guard let automaton = try? compiler.automaton(of: shape) else { return true }
        return !automaton.isEmpty
    }

    private func isFilled(_ shape: StringShape) -> Bool {
        if let maximum = shape.maximum, shape.minimum > maximum { return false }
        guard let automaton = shape.automaton?.automaton else { return true }
        guard !automaton.isEmpty else { return false }
        guard shape.minimum > 0 || shape.maximum != nil else { return true }
        guard let bounded = try? language(shape) else { return true }
        return !bounded.automaton.isEmpty
            && AutomatonDistances(bounded.automaton).canFinish(
                0, lower: Int32(bounded.minimum), upper: Int32(bounded.maximum ?? Int(Int32.max)))
    }

    /// A language and bounds that can be kept apart from it: where an automaton and narrow bounds depend on one another, the
    /// bounds become part of the automaton.
    private func language(
        _ shape: StringShape
    ) throws(NormalFormAlgebra.Limit) -> (automaton: Automaton, minimum: Int, maximum: Int?) {
        let automaton = shape.automaton?.automaton ?? .universal
        if automaton.isUniversal { return (automaton, shape.minimum, shape.maximum) }
        if let maximum = shape.maximum, shape.minimum > 0, maximum - shape.minimum < automaton.stateCount {
            if shape.minimum <= 64 {
                // An upper bound alone can be counted: what is needed to the end is known in every state.
                var lower = shape
                lower.maximum = nil
                return (try compiler.algebra.languageWithLength(lower), 0, maximum)
            }
            return (try compiler.algebra.languageWithLength(shape), 0, nil)
        }
        return (automaton, shape.minimum, shape.maximum)
    }

    // MARK: Emission

    private static func program(_ plan: ArrayPlan, _ node: (ExpressionID) -> Int32) -> Program.Array {
        func alternatives(_ choices: [Choice]) -> [Program.Alternative] {
            choices.map { Program.Alternative(node: node($0.expression), mark: $0.mark) }
        }
        return Program.Array(
            prefix: plan.prefix.map(alternatives), rest: alternatives(plan.rest), minimum: Int32(plan.minimum),
            maximum: Int32(min(plan.maximum, Int(Int32.max))), minimumContained: Int32(plan.minimumContained),
            maximumContained: Int32(min(plan.maximumContained, Int(Int32.max))), isUnique: plan.isUnique)
    }

    private mutating func emit(root: ExpressionID) throws(GrammarError) -> Program {
        var languages: [Program.Language] = []
        var languageNumbers: [Program.Language: Int32] = [:]
        func number(_ texts: Program.Language.Texts, _ spelling: Program.Language.Spelling) -> Int32 {
            let language = Program.Language(texts, spelling)
            if let known = languageNumbers[language] { return known }
            languageNumbers[language] = Int32(languages.count)
            languages.append(language)
            return Int32(languages.count - 1)
        }
        func number(_ automaton: Automaton, _ spelling: Program.Language.Spelling) -> Int32 {
            number(.of(InternedAutomaton(automaton)), spelling)
        }

        var nodeNumbers: [ExpressionID: Int32] = [:]
        for id in order where hasValue.contains(id) { nodeNumbers[id] = Int32(nodeNumbers.count) }
        func node(_ id: ExpressionID) -> Int32 { nodeNumbers[id] ?? 0 }
        func alternatives(_ choices: [Choice]) -> [Program.Alternative] {
            choices.map { Program.Alternative(node: node($0.expression), mark: $0.mark) }
        }

        var nodes: [Program.Node] = []
        var arrays: [Program.Array] = []
        var objects: [Program.Object] = []
        var plainNumbers: [[NumberShape]: Int32] = [:]
        for id in order where hasValue.contains(id) {
            guard let plan = plans[id] else { continue }
            var result = Program.Node()
            if plan.form.allowsNull { result.plain.append(number(Self.null, .plain)) }
            if plan.form.allowsTrue { result.plain.append(number(Self.true, .plain)) }
            if plan.form.allowsFalse { result.plain.append(number(Self.false, .plain)) }
            if !plan.form.numbers.isEmpty {
                let shapes = plan.form.numbers
                let known = plainNumbers[shapes]
                var language = known
                if language == nil, let automaton = try self.numbers(shapes) { language = number(automaton, .plain) }
                if let language {
                    plainNumbers[shapes] = language
                    result.plain.append(language)
                }
            }
            for string in try Self.merged(plan.form.strings, self) {
                // Where any character may come, in any of its spellings.
                let spelling: Program.Language.Spelling = string.automaton.isTotal ? .free : .canonical
                result.strings.append(
                    Program.BoundedString(
                        language: number(string.automaton, spelling), minimum: Int32(string.minimum),
                        maximum: Int32(string.maximum ?? Int(Int32.max))))
            }
            for array in plan.arrays {
                guard let trimmed = trimmed(array) else { continue }
                result.arrays.append(Int32(arrays.count))
                arrays.append(Self.program(trimmed, node))
            }
            for object in plan.objects {
                guard let trimmed = trimmed(object) else { continue }
                var emitted = Program.Object(
                    members: trimmed.members.map {
                        Program.Member(
                            key: $0.key.string, isRequired: $0.isRequired, alternatives: alternatives($0.choices))
                    },
                    groups: trimmed.groups.map {
                        Program.Group(language: number($0.keys, $0.spelling), alternatives: alternatives($0.choices))
                    },
                    minimum: Int32(trimmed.minimum), maximum: Int32(min(trimmed.maximum, Int(Int32.max))),
                    needs: trimmed.needs)
                emitted.indexMembers()
                if emitted.needs != 0, emitted.maximum < .max {
                    throw GrammarError(
                        .unsupported, keyword: "maxProperties", path: "#",
                        "beside a negated schema for the values of unnamed properties")
                }
                result.objects.append(Int32(objects.count))
                objects.append(emitted)
            }
            nodes.append(result)
        }
        return Program(
            languages: languages, nodes: nodes, arrays: arrays, objects: objects, root: .value(node(root)),
            isSpaced: options.isSpaced)
    }

    private static let null = Automaton.texts(["null"])
    private static let `true` = Automaton.texts(["true"])
    private static let `false` = Automaton.texts(["false"])

    /// The union of sets of numbers; nil when none has a member.
    private func numbers(_ shapes: [NumberShape]) throws(GrammarError) -> Automaton? {
        do {
            var values: [String] = []
            var result = Automaton.empty
            for shape in shapes {
                if let lower = shape.lower, lower == shape.upper, !lower.isExclusive, shape.multiples.isEmpty,
                    shape.nonMultiples.isEmpty
                {
                    values.append(lower.value.text)
                } else {
                    result = try result.union(try compiler.automaton(of: shape))
                }
            }
            if !values.isEmpty { result = try result.union(.texts(values)) }
            return result.isEmpty ? nil : result
        } catch {
            throw GrammarError(
                .tooComplex, keyword: "multipleOf", path: "#", "the numbers need too large an automaton")
        }
    }

    /// The union of sets of strings: one automaton for those without bounds.
    private static func merged(
        _ shapes: [StringShape], _ builder: ProgramBuilder
    ) throws(GrammarError) -> [(automaton: Automaton, minimum: Int, maximum: Int?)] {
        do {
            var unbounded = Automaton.empty
            var result: [(automaton: Automaton, minimum: Int, maximum: Int?)] = []
            for shape in shapes where builder.isFilled(shape) {
                let language = try builder.language(shape)
                if language.minimum == 0, language.maximum == nil {
                    unbounded = try builder.compiler.algebra.union(unbounded, language.automaton)
                } else {
                    result.append(language)
                }
            }
            if unbounded.isUniversal { return [(.universal, 0, nil)] }
            if !unbounded.isEmpty { result.append((unbounded, 0, nil)) }
            return result
        } catch {
            throw GrammarError(
                .tooComplex, keyword: "pattern", path: "#",
                "the strings need too large an automaton; wider or no bounds for their length would do")
        }
    }
}

extension Program.Object {
    /// Fills in what is derived from the members.
    mutating func indexMembers() {
        nextRequired = [Int32](repeating: Int32(members.count), count: members.count + 1)
        requiredFrom = [Int32](repeating: 0, count: members.count + 1)
        for index in members.indices.reversed() {
            nextRequired[index] = members[index].isRequired ? Int32(index) : nextRequired[index + 1]
            requiredFrom[index] = requiredFrom[index + 1] + (members[index].isRequired ? 1 : 0)
        }
    }

    /// Whether an object can be completed that has come to a member.
    ///
    /// - Parameters:
    ///   - lower: The members that must still come at least.
    ///   - upper: The members that may still come at most.
    ///   - marks: The needs that have been met.
    func canFinish(from index: Int32, lower: Int32, upper: Int32, marks: Int32) -> Bool {
        guard requiredFrom[Int(index)] <= upper else { return false }
        if groups.isEmpty, Int32(members.count) - index < lower { return false }
        let missing = needs & ~marks
        guard missing != 0 else { return true }
        var possible: Int32 = 0
        for member in members[Int(index)...] { for choice in member.alternatives { possible |= choice.mark } }
        for group in groups { for choice in group.alternatives { possible |= choice.mark } }
        return possible & missing == missing
    }
}

extension Program.Array {
    /// Whether an array can be completed.
    ///
    /// - Parameters:
    ///   - index: The index of the next element, at most the length of the prefix.
    ///   - lower: The elements that must still come at least.
    ///   - upper: The elements that may still come at most.
    ///   - contained: The elements so far that count as contained.
    func canFinish(index: Int32, lower: Int32, upper: Int32, contained: Int32) -> Bool {
        guard counts else { return true }
        guard contained <= maximumContained else { return false }
        let wanted = max(0, minimumContained - contained)
        let allowed = maximumContained == .max ? Int32.max : maximumContained - contained
        // With so many elements more, as many as `most` can count and `least` have to.
        var (most, least): (Int32, Int32) = (0, 0)
        var count: Int32 = 0
        var position = index
        while true {
            if count >= lower, most >= wanted, least <= allowed { return true }
            guard count < upper else { return false }
            let choices = alternatives(at: position)
            guard !choices.isEmpty else { return false }
            if position >= prefix.count {
                // From here on all elements are alike, so the end can be reckoned.
                let canHit = choices.contains { $0.mark > 0 }
                let canMiss = choices.contains { $0.mark == 0 }
                let more = max(lower - count, canHit ? wanted - most : 0)
                guard more <= upper - count, more > 0 else { return false }
                let (finalMost, finalLeast) = (canHit ? most + more : most, canMiss ? least : least + more)
                return finalMost >= wanted && finalLeast <= allowed
            }
            if choices.contains(where: { $0.mark > 0 }) { most += 1 }
            if !choices.contains(where: { $0.mark == 0 }) { least += 1 }
            count += 1
            position += 1
        }
    }
}
