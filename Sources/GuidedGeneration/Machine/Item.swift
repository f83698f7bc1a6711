/// One way in which the open container, or the open text, can be read. A state of the machine is a list of them.
///
/// All items of a state are at the same place of the text: JSON's brackets and quotation marks say where containers and strings
/// begin and end, whatever the schema. So the machine has one stack, and each item says which items below it belongs to.
struct Item: Hashable {
    enum Kind: Int32 {
        /// The place of the whole value.
        case root
        case array
        case object
        /// A string behind its opening quotation mark, or a number, `true`, `false` or `null`.
        case text
    }

    /// Where an item stands in its container.
    enum Phase: Int32 {
        /// Behind the opening bracket; at the root, before the value.
        case opened
        /// A value is open, or has just been closed, above.
        case inValue
        /// Behind a value.
        case afterValue
        /// Behind a comma that a space must follow.
        case beforeCommaSpace
        /// Behind a comma.
        case afterComma
        /// Inside a key that is declared.
        case inKey
        /// Inside a key that belongs to a group.
        case inGroupKey
        /// Behind a key.
        case afterKey
        /// Behind a colon that a space must follow.
        case beforeColonSpace
        /// Behind a colon.
        case afterColon
    }

    var kind: Kind
    var phase: Phase
    /// The array, object, node or language.
    var reference: Int32
    /// The index of the next element, at most the length of the prefix; the next member that may come; the state of the text.
    var position: Int32 = 0
    /// Elements, members or scalars that must still come.
    var lower: Int32 = 0
    /// Elements, members or scalars that may still come.
    var upper: Int32 = Count.endless
    /// What is kept of the elements or members so far.
    var marks: Int32 = 0
    /// In a key: its node, or the state of its text. Behind it: the member, or the complement of the group.
    var detail: Int32 = 0
    /// The group whose key is open.
    var group: Int32 = 0
    /// The set of items below that go on when this one is complete; -1 at the bottom.
    var parents: Int32 = -1

    static func == (left: Item, right: Item) -> Bool {
        left.kind == right.kind && left.phase == right.phase && left.reference == right.reference
            && left.position == right.position && left.lower == right.lower && left.upper == right.upper
            && left.marks == right.marks && left.detail == right.detail && left.group == right.group
            && left.parents == right.parents
    }

    func hash(into hasher: inout Hasher) {
        // Six words instead of ten calls.
        func word(_ high: Int32, _ low: Int32) -> UInt64 {
            UInt64(UInt32(bitPattern: high)) << 32 | UInt64(UInt32(bitPattern: low))
        }
        hasher.combine(word(kind.rawValue << 8 | phase.rawValue, reference))
        hasher.combine(word(position, detail))
        hasher.combine(word(lower, upper))
        hasher.combine(word(marks &* 31 &+ group, parents))
    }

    /// The same with counts that no token can use up made alike.
    func saturated(at limit: Int32) -> Item {
        guard lower > limit || (upper > limit && upper != Count.endless) else { return self }
        var item = self
        if lower > limit { item.lower = Count.far }
        if upper > limit, upper != Count.endless { item.upper = Count.far }
        return item
    }

    var isFar: Bool { lower == Count.far || upper == Count.far }
}
