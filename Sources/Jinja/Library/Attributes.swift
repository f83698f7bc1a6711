/// What Python finds as `value.name`, and what the sandbox makes of it.
enum Attributes {
    /// Nil when the value has no such attribute; an undefined value when the sandbox does not hand it out.
    static func attribute(_ name: String, of value: Value, _ renderer: Renderer) throws(JinjaError) -> Value? {
        if name.hasPrefix("__"), name.hasSuffix("__") {
            // A key of that name is found; the insides of Python are not.
            if case .dict(let dict) = value, dict.value(of: name) != nil { return nil }
            if case .object(let object) = value, let namespaceValue = try object.attribute(name) {
                return namespaceValue
            }
            return forbidden(name, value)
        }
        switch value {
        case .string, .markup: return StringMethods.method(name, of: value)
        case .list(let list):
            if ["append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"].contains(name) {
                return forbidden(name, value)
            }
            if name == "copy" {
                return .object(
                    Function("copy", depth: list.depth) { (arguments, renderer) throws(JinjaError) in
                        _ = try arguments.bind("copy", [])
                        try renderer.charge(elements: list.elements.count)
                        return try .list(list.elements)
                    })
            }
            return ListMethods.method(name, of: list.elements, depth: list.depth, typeName: "list")
        case .tuple(let list):
            return ListMethods.method(name, of: list.elements, depth: list.depth, typeName: "tuple")
        case .dict(let dict):
            if ["clear", "pop", "popitem", "setdefault", "update"].contains(name) { return forbidden(name, value) }
            return DictMethods.method(name, of: dict)
        case .object(let object): return try object.attribute(name)
        case .double(let number) where name == "is_integer":
            return .object(
                Function(name) { (_, _) throws(JinjaError) in
                    .bool(number.isFinite && number.rounded() == number)
                })
        case .bool, .int, .big, .double:
            switch name {
            case "real":
                if case .bool(let flag) = value { return .int(flag ? 1 : 0) }
                return value
            case "imag":
                if case .double = value { return .double(0) }
                return .int(0)
            default: return nil
            }
        case .undefined, .none: return nil
        }
    }

    private static func forbidden(_ name: String, _ value: Value) -> Value {
        .undefined(
            Undefined(
                "access to attribute \(Python.repr(name)) of \(Python.repr(value.typeName)) object is unsafe.",
                isForbidden: true))
    }
}

enum ListMethods {
    static func method(_ name: String, of elements: [Value], depth: Int = 1, typeName: String) -> Value? {
        switch name {
        case "count":
            .object(
                Function(name, depth: depth) { (arguments, renderer) throws(JinjaError) in
                    let value = try arguments.bind("count", ["value"], required: 1, allowsNames: false)[0] ?? .none
                    try renderer.charge(elements: elements.count)
                    var count = 0
                    for element in elements where try renderer.isIdenticalOrEqual(value, to: element) { count += 1 }
                    return .int(count)
                })
        case "index":
            .object(
                Function(name, depth: depth) { (arguments, renderer) throws(JinjaError) in
                    let bound = try arguments.bind(
                        "index", ["value", "start", "stop"], required: 1, allowsNames: false)
                    try renderer.charge(elements: elements.count)
                    let slice = Slice(start: try bound[1]?.index(), stop: try bound[2]?.index(), step: 1)
                    let (first, count) = slice.resolve(count: elements.count)
                    let value = bound[0] ?? .none
                    for index in first..<first + count
                    where try renderer.isIdenticalOrEqual(value, to: elements[index]) { return .int(index) }
                    throw JinjaError(.value("the value is not in the \(typeName)"))
                })
        default: nil
        }
    }
}

enum DictMethods {
    static func method(_ name: String, of dict: Dict) -> Value? {
        switch name {
        case "keys", "values", "items":
            guard let kind = DictView.Kind(rawValue: name) else { return nil }
            return .object(
                Function(name, depth: dict.depth) { (arguments, _) throws(JinjaError) in
                    _ = try arguments.bind(name, [])
                    return .object(DictView(dict, kind))
                })
        case "get":
            return .object(
                Function(name, depth: dict.depth) { (arguments, renderer) throws(JinjaError) in
                    let bound = try arguments.bind("get", ["key", "default"], required: 1, allowsNames: false)
                    return try renderer.value(of: bound[0] ?? .none, in: dict) ?? bound[1] ?? .none
                })
        case "copy":
            return .object(
                Function(name, depth: dict.depth) { (arguments, renderer) throws(JinjaError) in
                    _ = try arguments.bind("copy", [])
                    try renderer.charge(elements: dict.count)
                    return .dict(try Dict(zip(dict.keys, dict.values)))
                })
        case "fromkeys": return .object(Globals.fromKeys)
        default: return nil
        }
    }
}
