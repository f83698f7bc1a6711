extension Machine {
    /// What a byte leads to from a list of items. Everything that the rows hold comes from here, so this is what a byte means.
    func step(_ items: [Item], _ byte: UInt8) -> Outcome {
        guard let first = items.first else { return .dead }
        return first.kind == .text ? stepText(items, byte) : stepContainers(items, byte)
    }

    // MARK: Texts

    private func stepText(_ items: [Item], _ byte: UInt8) -> Outcome {
        var next: [Item] = []
        var closed: [Int32] = []
        var isTerminal = true
        for item in items {
            let text = self.text(item.reference)
            let target = text.next(item.position, byte)
            if target == TextAutomaton.closes {
                if item.lower == 0 { add(parentSets[Int(item.parents)], to: &closed) }
                continue
            }
            guard target >= 0 else { continue }
            var moved = item
            moved.position = target
            if text.positions[Int(target)] >= 0 {
                guard item.upper > 0 else { continue }
                moved.lower = Count.down(item.lower)
                moved.upper = Count.down(item.upper)
            }
            guard text.canFinish(target, lower: moved.lower, upper: moved.upper) else { continue }
            if isTerminal { isTerminal = item.parents >= 0 && isComplete(moved, in: text) && text.isTerminal(target) }
            next.append(moved)
        }
        if !closed.isEmpty { return .pop(closed.sorted()) }
        if next.isEmpty {
            let completed = completedParents(items)
            return completed.isEmpty ? .dead : .popAgain(completed)
        }
        // A literal, or a number that nothing can follow, is complete with its last character.
        if isTerminal, let item = next.first, program.languages[Int(item.reference)].spelling == .plain {
            return .pop(completedParents(next))
        }
        return .stay(next)
    }

    private func isComplete(_ item: Item, in text: TextAutomaton) -> Bool { text.accepts(item.position) }

    /// The items below that plain texts complete as they stand.
    func completedParents(_ items: [Item]) -> [Int32] {
        var result: [Int32] = []
        for item in items where item.parents >= 0 {
            guard program.languages[Int(item.reference)].spelling == .plain,
                text(item.reference).accepts(item.position)
            else { continue }
            add(parentSets[Int(item.parents)], to: &result)
        }
        return result.sorted()
    }

    private func add(_ members: [Int32], to list: inout [Int32]) {
        for member in members where !list.contains(member) { list.append(member) }
    }

    // MARK: Containers

    private func stepContainers(_ items: [Item], _ byte: UInt8) -> Outcome {
        var next: [Item] = []
        var closed: [Int32] = []
        /// Places for values, and what may stand there.
        var places: [(item: Item, node: Int32)] = []
        for item in items {
            switch item.kind {
            case .root: if item.phase == .opened { places.append((entered(item), item.reference)) }
            case .array: stepArray(item, byte, &next, &closed, &places)
            case .object: stepObject(item, byte, &next, &closed, &places)
            case .text: break
            }
        }
        if !closed.isEmpty { return .pop(closed.sorted()) }
        if !next.isEmpty { return .stay(next) }
        return places.isEmpty ? .dead : beginValue(places, byte)
    }

    private func entered(_ item: Item) -> Item {
        var item = item
        item.phase = .inValue
        return item
    }

    private func stepArray(
        _ item: Item, _ byte: UInt8, _ next: inout [Item], _ closed: inout [Int32],
        _ places: inout [(item: Item, node: Int32)]
    ) {
        let array = program.arrays[Int(item.reference)]
        switch item.phase {
        case .opened, .afterComma:
            if byte == UInt8(ascii: "]") {
                if item.phase == .opened, canClose(item, array) { add(parentSets[Int(item.parents)], to: &closed) }
                return
            }
            guard item.upper > 0 else { return }
            for alternative in array.alternatives(at: item.position) {
                if let entered = enter(item, array, alternative) { places.append((entered, alternative.node)) }
            }
        case .afterValue:
            if byte == UInt8(ascii: "]") {
                if canClose(item, array) { add(parentSets[Int(item.parents)], to: &closed) }
            } else if byte == UInt8(ascii: ","), item.upper > 0, !array.alternatives(at: item.position).isEmpty {
                // Another element must be possible, not only allowed.
                guard array.alternatives(at: item.position).contains(where: { enter(item, array, $0) != nil }) else {
                    return
                }
                var moved = item
                moved.phase = program.isSpaced ? .beforeCommaSpace : .afterComma
                next.append(moved)
            }
        case .beforeCommaSpace:
            guard byte == UInt8(ascii: " ") else { return }
            var moved = item
            moved.phase = .afterComma
            next.append(moved)
        default: break
        }
    }

    private func canClose(_ item: Item, _ array: Program.Array) -> Bool {
        item.lower == 0 && (!array.counts || item.marks >= array.minimumContained)
    }

    /// The item with one more element, filled in this way; nil when the array could not be completed then.
    private func enter(_ item: Item, _ array: Program.Array, _ alternative: Program.Alternative) -> Item? {
        var moved = item
        moved.phase = .inValue
        moved.position = min(item.position + 1, Int32(array.prefix.count))
        moved.lower = Count.down(item.lower)
        moved.upper = Count.down(item.upper)
        if array.isUnique {
            guard item.marks & alternative.mark == 0 else { return nil }
            moved.marks |= alternative.mark
        } else if array.counts {
            // What is not bounded above need not be counted beyond what is asked for.
            moved.marks += alternative.mark
            if array.maximumContained == .max { moved.marks = min(moved.marks, array.minimumContained) }
            guard
                array.canFinish(index: moved.position, lower: moved.lower, upper: moved.upper, contained: moved.marks)
            else { return nil }
        }
        return moved
    }

    private func stepObject(
        _ item: Item, _ byte: UInt8, _ next: inout [Item], _ closed: inout [Int32],
        _ places: inout [(item: Item, node: Int32)]
    ) {
        let object = program.objects[Int(item.reference)]
        switch item.phase {
        case .opened, .afterComma:
            if byte == UInt8(ascii: "\"") {
                appendKeyStarts(item, object, &next)
            } else if byte == UInt8(ascii: "}"), item.phase == .opened, canClose(item, object) {
                add(parentSets[Int(item.parents)], to: &closed)
            }
        case .inKey:
            let node = keys(of: item.reference).nodes[Int(item.detail)]
            guard let place = node.bytes.firstIndex(of: byte) else { return }
            let child = node.children[place]
            let below = keys(of: item.reference).nodes[Int(child)]
            guard let member = firstMember(of: below, item, object) else { return }
            var moved = item
            if below.bytes.isEmpty {
                moved.phase = .afterKey
                moved.position = member + 1
                moved.detail = member
            } else {
                moved.detail = child
            }
            next.append(moved)
        case .inGroupKey:
            let group = object.groups[Int(item.group)]
            let text = self.text(group.language)
            let target = text.next(item.detail, byte)
            var moved = item
            if target == TextAutomaton.closes {
                moved.phase = .afterKey
                moved.position = Int32(object.members.count)
                moved.detail = ~item.group
                moved.group = 0
            } else if target >= 0 {
                moved.detail = target
            } else {
                return
            }
            next.append(moved)
        case .afterKey:
            guard byte == UInt8(ascii: ":") else { return }
            var moved = item
            moved.phase = program.isSpaced ? .beforeColonSpace : .afterColon
            next.append(moved)
        case .beforeColonSpace, .beforeCommaSpace:
            guard byte == UInt8(ascii: " ") else { return }
            var moved = item
            moved.phase = item.phase == .beforeColonSpace ? .afterColon : .afterComma
            next.append(moved)
        case .afterColon:
            let alternatives =
                item.detail >= 0
                ? object.members[Int(item.detail)].alternatives : object.groups[Int(~item.detail)].alternatives
            for alternative in alternatives {
                var moved = item
                moved.phase = .inValue
                moved.detail = 0
                moved.lower = Count.down(item.lower)
                moved.upper = Count.down(item.upper)
                moved.marks |= alternative.mark
                guard object.canFinish(from: moved.position, lower: moved.lower, upper: moved.upper, marks: moved.marks)
                else { continue }
                places.append((moved, alternative.node))
            }
        case .afterValue:
            if byte == UInt8(ascii: "}") {
                if canClose(item, object) { add(parentSets[Int(item.parents)], to: &closed) }
            } else if byte == UInt8(ascii: ",") {
                var starts: [Item] = []
                appendKeyStarts(item, object, &starts)
                guard !starts.isEmpty else { return }
                var moved = item
                moved.phase = program.isSpaced ? .beforeCommaSpace : .afterComma
                next.append(moved)
            }
        default: break
        }
    }

    private func canClose(_ item: Item, _ object: Program.Object) -> Bool {
        item.lower == 0 && object.requiredFrom[Int(item.position)] == 0 && object.needs & ~item.marks == 0
    }

    private func appendKeyStarts(_ item: Item, _ object: Program.Object, _ next: inout [Item]) {
        guard item.upper > 0 else { return }
        if firstMember(of: keys(of: item.reference).nodes[0], item, object) != nil {
            var moved = item
            moved.phase = .inKey
            moved.detail = 0
            next.append(moved)
        }
        // Keys that are not declared come behind those that are.
        guard object.requiredFrom[Int(item.position)] == 0 else { return }
        for group in object.groups.indices {
            var moved = item
            moved.phase = .inGroupKey
            moved.detail = TextAutomaton.start
            moved.group = Int32(group)
            guard canAdd(moved, at: Int32(object.members.count), object.groups[group].alternatives, object) else {
                continue
            }
            next.append(moved)
        }
    }

    /// The first member below a node of the keys that may come next.
    private func firstMember(of node: KeyTrie.Node, _ item: Item, _ object: Program.Object) -> Int32? {
        let limit = object.nextRequired[Int(item.position)]
        var (low, high) = (0, node.members.count)
        while low < high {
            let middle = (low + high) / 2
            if node.members[middle] < item.position { low = middle + 1 } else { high = middle }
        }
        while low < node.members.count, node.members[low] <= limit {
            let member = node.members[low]
            if canAdd(item, at: member + 1, object.members[Int(member)].alternatives, object) { return member }
            low += 1
        }
        return nil
    }

    /// Whether the object can be completed once a member has been added behind which others from `index` on may come.
    private func canAdd(
        _ item: Item, at index: Int32, _ alternatives: [Program.Alternative], _ object: Program.Object
    ) -> Bool {
        guard object.counts || object.needs != 0 else { return true }
        guard item.upper > 0 else { return false }
        let (lower, upper) = (Count.down(item.lower), Count.down(item.upper))
        return alternatives.contains {
            object.canFinish(from: index, lower: lower, upper: upper, marks: item.marks | $0.mark)
        }
    }

    // MARK: Values

    private func beginValue(_ places: [(item: Item, node: Int32)], _ byte: UInt8) -> Outcome {
        var saved: [Item] = []
        var top: [Item] = []
        /// The items below, for each of `top`.
        var owners: [[Int32]] = []
        func begin(_ new: Item, for item: Item) {
            let index: Int32
            if let known = saved.firstIndex(of: item) {
                index = Int32(known)
            } else {
                index = Int32(saved.count)
                saved.append(item)
            }
            if let known = top.firstIndex(of: new) {
                if !owners[known].contains(index) { owners[known].append(index) }
            } else {
                top.append(new)
                owners.append([index])
            }
        }
        var isPlain = false
        for (item, number) in places {
            let node = program.nodes[Int(number)]
            switch byte {
            case UInt8(ascii: "\""):
                for string in node.strings {
                    let new = Item(
                        kind: .text, phase: .opened, reference: string.language, lower: string.minimum,
                        upper: string.maximum)
                    begin(new, for: item)
                }
            case UInt8(ascii: "["):
                for array in node.arrays {
                    let shape = program.arrays[Int(array)]
                    let new = Item(
                        kind: .array, phase: .opened, reference: array, lower: shape.minimum, upper: shape.maximum)
                    begin(new, for: item)
                }
            case UInt8(ascii: "{"):
                for object in node.objects {
                    let shape = program.objects[Int(object)]
                    let new = Item(
                        kind: .object, phase: .opened, reference: object, lower: shape.minimum, upper: shape.maximum)
                    begin(new, for: item)
                }
            default:
                isPlain = true
                for language in node.plain {
                    let text = self.text(language)
                    let target = text.next(TextAutomaton.start, byte)
                    let upper = Count.down(text.lengthLimit)
                    guard target >= 0, text.canFinish(target, lower: 0, upper: upper) else { continue }
                    let new = Item(
                        kind: .text, phase: .opened, reference: language, position: target, upper: upper)
                    begin(new, for: item)
                }
            }
        }
        guard !top.isEmpty else { return .dead }
        for index in top.indices { top[index].parents = parentSet(owners[index].sorted()) }
        if isPlain,
            top.allSatisfy({
                text($0.reference).accepts($0.position) && text($0.reference).isTerminal($0.position)
            })
        {
            return .stay(afterValues(saved, completedParents(top)))
        }
        return .push(saved: saved, top: top)
    }

    /// The items that go on when the values above some of them are complete.
    func afterValues(_ items: [Item], _ members: [Int32]) -> [Item] {
        var result: [Item] = []
        for member in members {
            var item = items[Int(member)]
            item.phase = .afterValue
            if !result.contains(item) { result.append(item) }
        }
        return result
    }

    // MARK: Cuts

    /// The bytes at which what a list of items does may change.
    func cuts(of items: [Item]) -> ByteSet {
        var set = ByteSet()
        for item in items {
            switch item.kind {
            case .text:
                set.formUnion(text(item.reference).cuts(of: item.position))
                set.insertAlone(UInt8(ascii: "\""))
            case .root:
                if item.phase == .opened { cutValue(item.reference, &set) }
            case .array:
                switch item.phase {
                case .opened, .afterComma:
                    set.insertAlone(UInt8(ascii: "]"))
                    for alternative in program.arrays[Int(item.reference)].alternatives(at: item.position) {
                        cutValue(alternative.node, &set)
                    }
                default:
                    set.insertAlone(UInt8(ascii: "]"))
                    set.insertAlone(UInt8(ascii: ","))
                    set.insertAlone(UInt8(ascii: " "))
                }
            case .object:
                let object = program.objects[Int(item.reference)]
                switch item.phase {
                case .inKey:
                    for byte in keys(of: item.reference).nodes[Int(item.detail)].bytes { set.insertAlone(byte) }
                case .inGroupKey:
                    set.formUnion(text(object.groups[Int(item.group)].language).cuts(of: item.detail))
                    set.insertAlone(UInt8(ascii: "\""))
                case .afterColon:
                    let alternatives =
                        item.detail >= 0
                        ? object.members[Int(item.detail)].alternatives : object.groups[Int(~item.detail)].alternatives
                    for alternative in alternatives { cutValue(alternative.node, &set) }
                default: for byte in "\"},: ".utf8 { set.insertAlone(byte) }
                }
            }
        }
        return set
    }

    private func cutValue(_ number: Int32, _ set: inout ByteSet) {
        let node = program.nodes[Int(number)]
        for byte in "\"[{".utf8 { set.insertAlone(byte) }
        for language in node.plain { set.formUnion(text(language).cuts(of: TextAutomaton.start)) }
    }
}
