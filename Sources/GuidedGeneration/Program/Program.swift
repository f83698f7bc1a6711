import JSON

/// What a grammar allows, ready to be walked: every node, shape and language can be completed from wherever it is entered.
final class Program: Sendable {
    /// A regular language of texts.
    struct Language: Hashable, Sendable {
        enum Spelling: Hashable, Sendable {
            /// The text as it is.
            case plain
            /// Inside a JSON string, each character in the one way that the writer has.
            case canonical
            /// Inside a JSON string, with every escape.
            case free
        }

        enum Texts: Hashable, Sendable {
            case of(InternedAutomaton)
            /// All texts but some; its automaton is made when it is walked.
            case allBut([ExactText])
        }

        var texts: Texts
        var spelling: Spelling

        init(_ texts: Texts, _ spelling: Spelling) {
            self.texts = texts
            self.spelling = spelling
        }

        init(_ automaton: Automaton, _ spelling: Spelling) { self.init(.of(InternedAutomaton(automaton)), spelling) }

        func contains(_ text: String) -> Bool {
            switch texts {
            case .of(let automaton): automaton.automaton.matches(text)
            case .allBut(let others): !others.contains(ExactText(text))
            }
        }
    }

    /// The strings of a language within bounds for their scalars.
    struct BoundedString: Sendable {
        var language: Int32
        var minimum: Int32
        var maximum: Int32
    }

    /// A place for a value: all that may begin there.
    struct Node: Sendable {
        /// Numbers, `true`, `false` and `null`, by their first characters.
        var plain: [Int32] = []
        var strings: [BoundedString] = []
        var arrays: [Int32] = []
        var objects: [Int32] = []
    }

    /// A way to fill a place, and what it does to the marks that are kept of the container.
    struct Alternative: Hashable, Sendable {
        var node: Int32
        /// For arrays how much the count of contained elements rises, or the bit of a value that must not come again; for
        /// objects the bits of the needs that are met.
        var mark: Int32
    }

    struct Array: Sendable {
        var prefix: [[Alternative]] = []
        /// Empty where nothing may follow the prefix.
        var rest: [Alternative] = []
        var minimum: Int32 = 0
        var maximum: Int32 = .max
        /// Elements that must be contained, and may be; both 0 and endless where nothing is counted.
        var minimumContained: Int32 = 0
        var maximumContained: Int32 = .max
        /// Whether marks are the bits of values that have been used up.
        var isUnique = false

        var counts: Bool { minimumContained > 0 || maximumContained < .max }

        func alternatives(at index: Int32) -> [Alternative] { index < prefix.count ? prefix[Int(index)] : rest }
    }

    struct Member: Sendable {
        var key: String
        var isRequired: Bool
        var alternatives: [Alternative]
    }

    struct Group: Sendable {
        var language: Int32
        var alternatives: [Alternative]
    }

    struct Object: Sendable {
        var members: [Member] = []
        var groups: [Group] = []
        var minimum: Int32 = 0
        var maximum: Int32 = .max
        /// The bits of the needs.
        var needs: Int32 = 0
        /// For each member and the end: the next required member, or the number of members.
        var nextRequired: [Int32] = [0]
        /// For each member and the end: how many from there on are required, and how many there are.
        var requiredFrom: [Int32] = [0]

        var counts: Bool { minimum > 0 || maximum < .max }
    }

    enum Root: Sendable {
        case value(Int32)
        case text(language: Int32)
    }

    let languages: [Language]
    let nodes: [Node]
    let arrays: [Array]
    let objects: [Object]
    let root: Root
    /// Whether a space follows `,` and `:`.
    let isSpaced: Bool

    init(
        languages: [Language], nodes: [Node] = [], arrays: [Array] = [], objects: [Object] = [], root: Root,
        isSpaced: Bool = false
    ) {
        self.languages = languages
        self.nodes = nodes
        self.arrays = arrays
        self.objects = objects
        self.root = root
        self.isSpaced = isSpaced
    }
}
