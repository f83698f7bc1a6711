/// The variables of a running function. What a macro reads from the function around it, it reads from here.
final class Activation {
    var slots: [Value?]
    let parent: Activation?

    init(slotCount: Int, parent: Activation?) {
        slots = Array(repeating: nil, count: slotCount)
        self.parent = parent
    }

    subscript(slot: Slot) -> Value? {
        get {
            if slot.hops == 0 { return slots[slot.index] }
            return ancestor(slot.hops).slots[slot.index]
        }
        set { ancestor(slot.hops).slots[slot.index] = newValue }
    }

    private func ancestor(_ hops: Int) -> Activation {
        var activation = self
        for _ in 0..<hops {
            guard let parent = activation.parent else { break }
            activation = parent
        }
        return activation
    }
}

/// A macro with the variables around its definition.
final class Macro: Object {
    let statement: MacroStatement
    let activation: Activation

    init(_ statement: MacroStatement, _ activation: Activation) {
        self.statement = statement
        self.activation = activation
    }

    var typeName: String { "Macro" }
    var isCallable: Bool { true }
    func call(_ arguments: CallArguments, _ renderer: Renderer) throws(JinjaError) -> Value {
        try renderer.call(self, arguments)
    }
    func attribute(_ name: String) throws(JinjaError) -> Value? {
        switch name {
        case "name": statement.name.map(Value.plain) ?? Value.none
        case "arguments": try .tuple(statement.parameters.map { .plain($0.name) })
        case "catch_kwargs": .bool(statement.namedArgumentsIndex != nil)
        case "catch_varargs": .bool(statement.listArgumentsIndex != nil)
        case "caller": .bool(statement.callerIndex != nil)
        default: nil
        }
    }
    func writeRepr(to writer: inout ReprWriter) throws(JinjaError) {
        try writer.write("<Macro \(statement.name.map(Python.repr) ?? "anonymous")>")
    }
}
