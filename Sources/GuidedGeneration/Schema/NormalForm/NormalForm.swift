import JSON

/// A schema as a union of shapes, each of one JSON type. Shapes of a type may overlap; what arrays and objects hold stays an
/// expression, expanded when something asks for it.
struct NormalForm {
    var allowsNull = false
    var allowsTrue = false
    var allowsFalse = false
    var numbers: [NumberShape] = []
    var strings: [StringShape] = []
    var arrays: [ArrayShape] = []
    var objects: [ObjectShape] = []

    static let never = NormalForm()
    static let any = NormalForm(
        allowsNull: true, allowsTrue: true, allowsFalse: true, numbers: [.all], strings: [.all], arrays: [.all],
        objects: [.all])

    /// Whether no shape is left. A form with shapes may still have no value.
    var isPlainlyEmpty: Bool {
        !allowsNull && !allowsTrue && !allowsFalse && numbers.isEmpty && strings.isEmpty && arrays.isEmpty
            && objects.isEmpty
    }

    var shapeCount: Int { numbers.count + strings.count + arrays.count + objects.count }
}

/// A set of strings: a regular language, and bounds for the number of scalars.
struct StringShape: Hashable {
    /// Nil for every string.
    var automaton: InternedAutomaton?
    var minimum = 0
    var maximum: Int?

    static let all = StringShape()
}

/// An automaton that is equal to itself alone.
struct InternedAutomaton: Hashable, Sendable {
    let automaton: Automaton

    init(_ automaton: Automaton) { self.automaton = automaton }

    static func == (left: InternedAutomaton, right: InternedAutomaton) -> Bool { left.automaton === right.automaton }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(automaton)) }
}

struct ArrayShape: Hashable {
    /// How many elements, from an index on, satisfy an expression.
    struct Contains: Hashable {
        var expression: ExpressionID
        var start: Int
        var minimum: Int
        var maximum: Int?
    }

    var prefix: [ExpressionID] = []
    /// The elements behind the prefix.
    var rest = ExpressionID.any
    var minimum = 0
    var maximum: Int?
    var contains: [Contains] = []
    var isUnique = false

    static let all = ArrayShape()

    func element(_ index: Int) -> ExpressionID { index < prefix.count ? prefix[index] : rest }
}

struct ObjectShape: Hashable {
    struct Member: Hashable {
        var key: ExactText
        /// `never` for a key that must not be there.
        var value: ExpressionID
        var isRequired: Bool
    }

    /// The keys of a language, unless they are declared as members.
    struct Group: Hashable {
        var keys: InternedAutomaton
        var value: ExpressionID
    }

    /// At least one key of a language has a value of an expression.
    struct Need: Hashable {
        var keys: InternedAutomaton
        var value: ExpressionID
    }

    /// In the order in which they are written.
    var members: [Member] = []
    /// A partition of all strings.
    var groups: [Group] = [Group(keys: universalKeys, value: .any)]
    var minimum = 0
    var maximum: Int?
    var needs: [Need] = []

    static let universalKeys = InternedAutomaton(.universal)
    static let all = ObjectShape()

    /// What the value of a key must be.
    func value(of key: ExactText) -> ExpressionID {
        if let member = members.first(where: { $0.key == key }) { return member.value }
        return groupValue(of: key)
    }

    func groupValue(of key: ExactText) -> ExpressionID {
        if groups.count == 1 { return groups[0].value }
        return groups.first { $0.keys.automaton.matches(key.string) }?.value ?? .never
    }
}
