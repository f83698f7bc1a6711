internal import Foundation
internal import JSON

/// One rendering of a template.
final class Renderer {
    private let context: JSONObject
    private let trusted: TrustedPaths
    private let blocks: [String: NamedBlock]
    private var contextValues: [String: Value] = [:]
    let limits: RenderLimits
    let now: Date

    private var root: Activation
    private var output = TrackedText()
    /// The line of the template that is being evaluated, for errors.
    var line = 0

    private var depth = 0
    private var steps = 0
    private var stepsUntilClock = 0
    private let clock = ContinuousClock()
    private let deadline: ContinuousClock.Instant

    /// What can hold itself, and is emptied at the end so that it goes away.
    private var namespaces: [Namespace] = []
    private var closures: [ObjectIdentifier: Activation] = [:]

    init(
        context: JSONObject, trusting trusted: TrustedPaths, blocks: [String: NamedBlock], limits: RenderLimits,
        now: Date
    ) {
        self.blocks = blocks
        self.context = context
        self.trusted = trusted
        self.limits = limits
        self.now = now
        deadline = clock.now + limits.duration
        root = Activation(slotCount: 0, parent: nil)
    }

    func render(_ body: Block, slotCount: Int) throws(JinjaError) -> TrackedText {
        defer {
            for namespace in namespaces { namespace.clear() }
            for activation in closures.values { activation.slots = [] }
            root.slots = []
        }
        root = Activation(slotCount: slotCount, parent: nil)
        do throws(JinjaError) {
            try enter(body.scope, root)
            _ = try run(body.body, root)
        } catch {
            throw error.line > 0 ? error : JinjaError(error.reason, line: line)
        }
        return output
    }

    // MARK: - Limits

    /// Counts work: one for a node, more for what takes longer.
    func charge(_ amount: Int = 1) throws(JinjaError) {
        steps = Value.saturatingSum(steps, amount)
        guard steps <= limits.steps else {
            throw JinjaError(.limit("the template takes more than \(limits.steps) steps"))
        }
        stepsUntilClock = stepsUntilClock.subtractingReportingOverflow(amount).partialValue
        if stepsUntilClock <= 0 {
            stepsUntilClock = 10_000
            guard clock.now < deadline else {
                throw JinjaError(.limit("the template takes longer than \(limits.duration)"))
            }
        }
    }

    /// Counts the making of a text.
    func charge(bytes: Int) throws(JinjaError) {
        guard bytes <= limits.outputBytes else {
            throw JinjaError(.limit("a text of more than \(limits.outputBytes) bytes"))
        }
        try charge(1 + bytes / 16)
    }

    /// Counts the making of a list.
    func charge(elements: Int) throws(JinjaError) {
        guard elements <= limits.elements else {
            throw JinjaError(.limit("a list of more than \(limits.elements) elements"))
        }
        try charge(1 + elements)
    }

    func nested<Result>(_ body: () throws(JinjaError) -> Result) throws(JinjaError) -> Result {
        depth += 1
        defer { depth -= 1 }
        guard depth <= limits.depth else {
            throw JinjaError(.limit("evaluation nested deeper than \(limits.depth)"))
        }
        return try body()
    }

    func text(_ value: Value) throws(JinjaError) -> TrackedText {
        switch value {
        case .string(let text), .markup(let text): return text
        default:
            try charge(value.size)
            let text = try value.str(limit: limits.outputBytes)
            try charge(bytes: text.byteCount)
            return text
        }
    }

    /// `repr(value)`.
    func repr(_ value: Value) throws(JinjaError) -> TrackedText {
        try charge(value.size)
        return try value.repr(limit: limits.outputBytes)
    }

    // MARK: - Comparing

    /// Counts the comparison of two values, which ends where the smaller one does.
    func charge(comparing left: Value, _ right: Value) throws(JinjaError) {
        let size = min(left.size, right.size)
        if size > 1 { try charge(size) }
    }

    /// Counts the search of a value among the elements of another.
    func charge(searching value: Value, in container: Value) throws(JinjaError) {
        switch container {
        // A hash finds it.
        case .dict: try charge(value.size)
        // Work goes with the length of both.
        case .string, .markup: try charge(Value.saturatingSum(value.size, container.size))
        default:
            let (worst, overflow) = value.size.multipliedReportingOverflow(by: 1 + (container.length ?? 0))
            try charge(min(container.size, overflow ? Int.max : worst))
        }
    }

    /// What containers ask: `value is other or value == other`.
    func isIdenticalOrEqual(_ value: Value, to other: Value) throws(JinjaError) -> Bool {
        if value.isSame(as: other) { return true }
        try charge(comparing: value, other)
        return value.isEqual(to: other)
    }

    /// The order of two values of which the language knows one.
    func order(_ left: Value, _ right: Value, symbol: String) throws(JinjaError) -> Value.Order {
        try charge(comparing: left, right)
        return try left.order(right, symbol: symbol)
    }

    /// The value of a key, which must be one that can be.
    func value(of key: Value, in dict: Dict) throws(JinjaError) -> Value? {
        try charge(key.size)
        return try dict.value(of: key)
    }

    func register(_ namespace: Namespace) { namespaces.append(namespace) }

    /// All elements, as `list(value)`.
    func elements(of value: Value) throws(JinjaError) -> [Value] {
        switch value {
        case .list(let list), .tuple(let list):
            try charge(elements: list.elements.count)
            return list.elements
        default:
            let iterator = try value.iterator()
            var elements: [Value] = []
            while let element = try iterator.next() {
                try charge()
                elements.append(element)
                guard elements.count <= limits.elements else {
                    throw JinjaError(.limit("a list of more than \(limits.elements) elements"))
                }
            }
            return elements
        }
    }

    // MARK: - Output

    private func write(_ text: TrackedText) throws(JinjaError) {
        output += text
        try charge(1 + text.byteCount / 16)
        guard output.byteCount <= limits.outputBytes else {
            throw JinjaError(.limit("the result has more than \(limits.outputBytes) bytes"))
        }
    }

    /// Writes what a block has made, which must be a text.
    private func writeText(_ value: Value) throws(JinjaError) {
        guard let text = value.tracked else {
            throw JinjaError(.type("expected the block to give str, not \(value.typeName)"))
        }
        try write(text)
    }

    /// What `body` writes.
    func capture(_ body: () throws(JinjaError) -> Void) throws(JinjaError) -> TrackedText {
        let outside = output
        output = TrackedText()
        defer { output = outside }
        try body()
        return output
    }

    // MARK: - Scopes

    private func contextValue(_ name: String) throws(JinjaError) -> Value? {
        if let value = contextValues[name] { return value }
        let value: Value?
        if name == "self" {
            value = .object(TemplateReference(blocks))
        } else if let json = context[name] {
            value = try Value(json, trusting: trusted[name])
        } else {
            value = Globals.value(name)
        }
        if let value { contextValues[name] = value }
        return value
    }

    func enter(_ scope: Scope, _ activation: Activation) throws(JinjaError) {
        for (index, load) in scope.loads {
            switch load {
            case .clear: activation.slots[index] = nil
            case .copy(let slot): activation.slots[index] = activation[slot]
            case .context(let name, let topLevel):
                if let topLevel, let value = root[topLevel] {
                    activation.slots[index] = value
                } else {
                    activation.slots[index] = try contextValue(name)
                }
            }
        }
    }

    private func leave(_ scope: Scope, _ activation: Activation) {
        for index in scope.indices { activation.slots[index] = nil }
    }

    // MARK: - Statements

    /// How statements ended.
    private enum Flow {
        case next, `break`, `continue`
    }

    private func run(_ statements: [Statement], _ activation: Activation) throws(JinjaError) -> Flow {
        for statement in statements {
            let flow = try run(statement, activation)
            if flow != .next { return flow }
        }
        return .next
    }

    private func run(_ statement: Statement, _ activation: Activation) throws(JinjaError) -> Flow {
        switch statement {
        case .text(let text): try write(TrackedText(text))
        case .print(let expression):
            line = expression.line
            let value = try evaluate(expression, activation)
            try write(try text(value))
        case .if(let branches, let otherwise):
            for branch in branches where try evaluate(branch.test, activation).isTrue {
                return try nested { () throws(JinjaError) in try run(branch.body, activation) }
            }
            return try nested { () throws(JinjaError) in try run(otherwise, activation) }
        case .for(let loop): return try nested { () throws(JinjaError) in try run(loop, activation) }
        case .assign(let target, let value, let line): try runAssign(target, value, line, activation)
        case .assignBlock(let target, let filter, let block):
            let (text, flow) = try runCaptured(block, activation)
            if flow != .next { return flow }
            var value = Value.string(text)
            if let filter { value = try evaluate(filter, activation, blockText: value) }
            try assign(value, to: target, activation)
            leave(block.scope, activation)
        case .macro(let macro):
            capture(activation)
            if let variable = macro.variable { activation[variable.slot] = .object(Macro(macro, activation)) }
        case .call(let macro, let call):
            capture(activation)
            line = call.line
            let caller = Value.object(Macro(macro, activation))
            let value = try evaluateCall(call, activation, caller: caller)
            try writeText(value)
        case .generation(let macro):
            capture(activation)
            try writeText(try call(Macro(macro, activation), CallArguments()))
        case .filter(let filter, let block):
            let (text, flow) = try runCaptured(block, activation)
            if flow != .next { return flow }
            let value = try evaluate(filter, activation, blockText: .string(text))
            try writeText(value)
            leave(block.scope, activation)
        case .with(let pairs, let block): return try runWith(pairs, block, activation)
        case .autoescape(let condition, let block):
            try enter(block.scope, activation)
            line = condition.line
            guard try !evaluate(condition, activation).isTrue else {
                throw JinjaError(.value("autoescape is not supported: a chat template is no HTML"), line: line)
            }
            let flow = try nested { () throws(JinjaError) in try run(block.body, activation) }
            leave(block.scope, activation)
            return flow
        case .block(let block, let isScoped): try run(block, parent: isScoped ? activation : nil)
        case .break: return .break
        case .continue: return .continue
        }
        return .next
    }

    private func run(_ block: MacroStatement, parent: Activation?) throws(JinjaError) {
        let inside = Activation(slotCount: block.slotCount, parent: parent)
        try nested { () throws(JinjaError) in
            try enter(block.block.scope, inside)
            _ = try run(block.block.body, inside)
        }
    }

    /// What a block writes.
    func text(of block: MacroStatement) throws(JinjaError) -> TrackedText {
        try capture { () throws(JinjaError) in try run(block, parent: nil) }
    }

    private func runAssign(
        _ target: Expression, _ value: Expression, _ line: Int, _ activation: Activation
    ) throws(JinjaError) {
        self.line = line
        try checkNamespaces(in: target, activation)
        try assign(try evaluate(value, activation), to: target, activation)
    }

    private func runWith(
        _ pairs: [(target: Expression, value: Expression)], _ block: Block, _ activation: Activation
    ) throws(JinjaError) -> Flow {
        try enter(block.scope, activation)
        for (target, value) in pairs {
            line = value.line
            try assign(try evaluate(value, activation), to: target, activation)
        }
        let flow = try nested { () throws(JinjaError) in try run(block.body, activation) }
        leave(block.scope, activation)
        return flow
    }

    private func runCaptured(_ block: Block, _ activation: Activation) throws(JinjaError) -> (TrackedText, Flow) {
        try enter(block.scope, activation)
        var flow = Flow.next
        let text = try capture { () throws(JinjaError) in
            flow = try nested { () throws(JinjaError) in try run(block.body, activation) }
        }
        return (text, flow)
    }

    /// Remembers variables that a macro holds on to.
    private func capture(_ activation: Activation) {
        var current: Activation? = activation
        while let activation = current, closures.updateValue(activation, forKey: ObjectIdentifier(activation)) == nil {
            current = activation.parent
        }
    }

    private func checkNamespaces(in target: Expression, _ activation: Activation) throws(JinjaError) {
        switch target.kind {
        case .namespaceAttribute(let variable, _):
            guard case .object(let object)? = activation[variable.slot], object is Namespace else {
                throw JinjaError(.type("cannot assign attribute on non-namespace object"), line: target.line)
            }
        case .tuple(let elements): for element in elements { try checkNamespaces(in: element, activation) }
        default: break
        }
    }

    private func assign(_ value: Value, to target: Expression, _ activation: Activation) throws(JinjaError) {
        switch target.kind {
        case .name(let variable): activation[variable.slot] = value
        case .namespaceAttribute(let variable, let attribute):
            guard case .object(let object)? = activation[variable.slot], let namespace = object as? Namespace else {
                throw JinjaError(.type("cannot assign attribute on non-namespace object"), line: target.line)
            }
            try namespace.set(attribute, value)
        case .tuple(let targets):
            let iterator = try unpackable(value)
            var values: [Value] = []
            while values.count <= targets.count, let element = try iterator.next() { values.append(element) }
            guard values.count == targets.count else {
                throw JinjaError(
                    .value(
                        values.count > targets.count
                            ? "too many values to unpack (expected \(targets.count))"
                            : "not enough values to unpack (expected \(targets.count), got \(values.count))"))
            }
            for (target, value) in zip(targets, values) { try assign(value, to: target, activation) }
        default: throw JinjaError(.syntax("can't assign to this"), line: target.line)
        }
    }

    private func unpackable(_ value: Value) throws(JinjaError) -> ValueIterator {
        guard value.isIterable else {
            throw JinjaError(.type("cannot unpack non-iterable \(value.typeName) object"))
        }
        return try value.iterator()
    }

    // MARK: - Loops

    private func run(_ loop: ForStatement, _ activation: Activation) throws(JinjaError) -> Flow {
        line = loop.line
        let sequence = try evaluate(loop.sequence, activation)
        guard loop.isRecursive else { return try run(loop, over: sequence, depth0: 0, activation, outside: activation) }
        let text = try runRecursive(loop, over: sequence, depth0: 0, outside: activation)
        try write(text)
        return .next
    }

    private func runRecursive(
        _ loop: ForStatement, over sequence: Value, depth0: Int, outside: Activation
    ) throws(JinjaError) -> TrackedText {
        let inside = Activation(slotCount: loop.slotCount, parent: outside)
        return try nested { () throws(JinjaError) in
            try capture { () throws(JinjaError) in
                _ = try run(loop, over: sequence, depth0: depth0, inside, outside: outside)
            }
        }
    }

    private func run(
        _ loop: ForStatement, over sequence: Value, depth0: Int, _ activation: Activation, outside: Activation
    ) throws(JinjaError) -> Flow {
        var source = try sequence.iterator()
        var length = sequence.length
        if let test = loop.test, let target = loop.testTarget {
            let unfiltered = source
            let inside = Activation(slotCount: loop.testSlotCount, parent: outside)
            var hasEntered = false
            length = nil
            source = ValueIterator { () throws(JinjaError) -> Value? in
                if !hasEntered { try self.enter(loop.testScope, inside) }
                hasEntered = true
                while let value = try unfiltered.next() {
                    try self.charge()
                    try self.assign(value, to: target, inside)
                    if try self.evaluate(test, inside).isTrue { return value }
                }
                return nil
            }
        }
        var loopObject: Loop?
        if let index = loop.loopIndex {
            let recurse: ((Value, Int) throws(JinjaError) -> Value)? =
                loop.isRecursive
                ? { [unowned self] (value: Value, depth0: Int) throws(JinjaError) -> Value in
                    .string(try self.runRecursive(loop, over: value, depth0: depth0, outside: outside))
                } : nil
            let object = try Loop(source, over: sequence, length: length, depth0: depth0, recurse: recurse)
            loopObject = object
            activation.slots[index] = .object(object)
        }
        defer { loopObject?.finish() }
        // As in jinja2, an iteration that ends early does not count: the `else` part runs after it.
        var isEmpty = true
        func next() throws(JinjaError) -> Value? {
            if let loopObject { return try loopObject.next() }
            return try source.next()
        }
        while let value = try next() {
            try charge()
            try assign(value, to: loop.target, activation)
            if let index = loop.loopIndex, let loopObject { activation.slots[index] = .object(loopObject) }
            try enter(loop.body.scope, activation)
            let flow = try run(loop.body.body, activation)
            if flow == .break { break }
            if flow == .continue { continue }
            isEmpty = false
        }
        leave(loop.body.scope, activation)
        if isEmpty, !loop.otherwise.body.isEmpty {
            try enter(loop.otherwise.scope, activation)
            let flow = try run(loop.otherwise.body, activation)
            leave(loop.otherwise.scope, activation)
            if !loop.isRecursive { return flow }
        }
        return .next
    }

    // MARK: - Macros

    func call(_ macro: Macro, _ arguments: CallArguments) throws(JinjaError) -> Value {
        let statement = macro.statement
        let parameters = statement.parameters
        let inside = Activation(slotCount: statement.slotCount, parent: macro.activation)
        var named = arguments.named
        let given = min(arguments.positional.count, parameters.count)
        var values: [Value?] = Array(arguments.positional.prefix(given))
        for parameter in parameters[given...] {
            let position = named.firstIndex { $0.name.string == parameter.name }
            values.append(position.map { named.remove(at: $0).value })
        }
        var caller: Value?
        if statement.callerIndex != nil {
            let position = named.firstIndex { $0.name.string == "caller" }
            caller = position.map { named.remove(at: $0).value }
            if caller?.isNone ?? true { caller = .undefined(Undefined("No caller defined")) }
        }
        let name = statement.name.map(Python.repr) ?? "None"
        if statement.namedArgumentsIndex == nil, let extra = named.first {
            throw JinjaError(
                .type(
                    extra.name.string == "caller"
                        ? "macro \(name) was invoked with two values for the special caller argument. "
                            + "This is most likely a bug."
                        : "macro \(name) takes no keyword argument \(Python.repr(extra.name.string))"))
        }
        if statement.listArgumentsIndex == nil, arguments.positional.count > parameters.count {
            throw JinjaError(.type("macro \(name) takes not more than \(parameters.count) argument(s)"))
        }
        let callLine = line
        let text = try nested { () throws(JinjaError) in
            try capture { () throws(JinjaError) in
                try enter(statement.block.scope, inside)
                if let index = statement.callerIndex { inside.slots[index] = caller }
                if let index = statement.namedArgumentsIndex {
                    let dict = Dict()
                    for (name, value) in named { try dict.set(.string(name), value) }
                    inside.slots[index] = .dict(dict)
                }
                if let index = statement.listArgumentsIndex {
                    inside.slots[index] = try .tuple(Array(arguments.positional.dropFirst(parameters.count)))
                }
                for (parameter, value) in zip(parameters, values) { inside.slots[parameter.slot.index] = value }
                for (index, parameter) in parameters.enumerated() where values[index] == nil {
                    if let expression = statement.default(of: index) {
                        inside.slots[parameter.slot.index] = try evaluate(expression, inside)
                    } else {
                        inside.slots[parameter.slot.index] = .undefined(
                            Undefined("parameter \(Python.repr(parameter.name)) was not provided"))
                    }
                }
                _ = try run(statement.block.body, inside)
            }
        }
        line = callLine
        return .string(text)
    }
}
