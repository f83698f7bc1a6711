/// The names of one scope, as jinja2 finds them out before it runs anything: which of them are assigned here, which are
/// read from further out, and which come from the context.
///
/// jinja2 compiles a template to Python functions, and its scopes are what that compilation makes of them. A scope's
/// names are local variables of the function around it, called by level and name, so that two loops side by side share
/// theirs. Slots stand for those variables here.
final class Symbols {
    /// A Python function that jinja2 would write: the template, a macro, a recursive loop, the test of a loop.
    final class Function {
        let parent: Function?
        private var indices: [String: Int] = [:]
        private(set) var slotCount = 0

        init(parent: Function?) { self.parent = parent }

        func index(level: Int, name: String) -> Int {
            let key = "\(level) \(name)"
            if let index = indices[key] { return index }
            defer { slotCount += 1 }
            indices[key] = slotCount
            return slotCount
        }
    }

    struct Reference: Hashable {
        let function: ObjectIdentifier
        let index: Int
    }

    private enum Load {
        case parameter, undefined
        case alias(Reference)
        case resolve(name: String)
    }

    let function: Function
    let level: Int
    let parent: Symbols?
    private var references: [String: Reference] = [:]
    private var loads: [(index: Int, load: Load)] = []
    private(set) var stores: Set<String> = []

    init(function: Function, parent: Symbols?) {
        self.function = function
        self.parent = parent
        level = parent.map { $0.level + 1 } ?? 0
    }

    private init(copying other: Symbols) {
        function = other.function
        level = other.level
        parent = other.parent
        references = other.references
        loads = other.loads
        stores = other.stores
    }

    func copy() -> Symbols { Symbols(copying: self) }

    func reference(_ name: String) -> Reference? { references[name] ?? parent?.reference(name) }

    func isParameter(_ name: String) -> Bool {
        guard let reference = references[name] else { return false }
        return loads.contains { entry in
            if case .parameter = entry.load { entry.index == reference.index } else { false }
        }
    }

    private func define(_ name: String, _ load: Load) {
        let index = function.index(level: level, name: name)
        references[name] = Reference(function: ObjectIdentifier(function), index: index)
        setLoad(index, load)
    }

    private func setLoad(_ index: Int, _ load: Load) {
        if let position = loads.firstIndex(where: { $0.index == index }) {
            loads[position].load = load
        } else {
            loads.append((index, load))
        }
    }

    /// The name is assigned.
    func store(_ name: String) {
        stores.insert(name)
        guard references[name] == nil else { return }
        define(name, parent?.reference(name).map(Load.alias) ?? .undefined)
    }

    /// The name is given a value from outside before the scope begins.
    func declareParameter(_ name: String) {
        stores.insert(name)
        define(name, .parameter)
    }

    /// The name is read.
    func load(_ name: String) {
        if reference(name) == nil { define(name, .resolve(name: name)) }
    }

    /// What the branches of an `if` have assigned may or may not be assigned after it.
    func merge(_ branches: [Symbols]) {
        let assigned = branches.reduce(into: Set<String>()) { $0.formUnion($1.stores) }.subtracting(stores)
        for branch in branches {
            references.merge(branch.references) { $1 }
            for (index, load) in branch.loads { setLoad(index, load) }
            stores.formUnion(branch.stores)
        }
        for name in assigned {
            guard let target = reference(name) else { continue }
            setLoad(target.index, parent?.reference(name).map(Load.alias) ?? .resolve(name: name))
        }
    }

    // MARK: - What the renderer needs

    /// The slot of a name seen from a function.
    func slot(_ name: String, from function: Function) -> Slot? {
        reference(name).flatMap { slot($0, from: function) }
    }

    private func slot(_ reference: Reference, from function: Function) -> Slot? {
        var hops = 0
        var candidate: Function? = function
        while let current = candidate {
            if ObjectIdentifier(current) == reference.function { return Slot(hops: hops, index: reference.index) }
            hops += 1
            candidate = current.parent
        }
        return nil
    }

    /// - Parameter topLevel: The names of the template itself, which named blocks know without being inside of it.
    func scope(topLevel: Symbols) -> Scope {
        var scope = Scope()
        for (index, load) in loads {
            scope.indices.append(index)
            switch load {
            case .parameter: break
            case .undefined: scope.loads.append((index, .clear))
            case .alias(let reference):
                if let slot = slot(reference, from: function) { scope.loads.append((index, .copy(slot))) }
            case .resolve(let name):
                let set = topLevel.stores.contains(name) ? topLevel.slot(name, from: topLevel.function) : nil
                scope.loads.append((index, .context(name: name, topLevel: set)))
            }
        }
        return scope
    }
}
