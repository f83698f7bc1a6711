internal import Foundation

/// The names that every template knows: jinja2's, and those of `transformers`.
enum Globals {
    static let names = [
        "range", "dict", "cycler", "joiner", "namespace", "raise_exception", "strftime_now",
    ]

    static func value(_ name: String) -> Value? {
        switch name {
        case "range": .object(range)
        case "dict": .object(DictFunction())
        case "cycler":
            .object(
                Function(name) { (arguments, _) throws(JinjaError) in
                    guard arguments.named.isEmpty else {
                        throw JinjaError(.type("cycler() takes no keyword arguments"))
                    }
                    return .object(try Cycler(arguments.positional))
                })
        case "joiner":
            .object(
                Function(name) { (arguments, _) throws(JinjaError) in
                    .object(try Joiner(try arguments.bind("joiner", ["sep"])[0] ?? .string(", ")))
                })
        case "namespace":
            .object(
                Function(name) { (arguments, renderer) throws(JinjaError) in
                    let dict = try makeDict(arguments, renderer)
                    let namespace = Namespace(Dict())
                    for (key, value) in zip(dict.keys, dict.values) {
                        guard let name = key.text else {
                            throw JinjaError(.type("the attributes of a namespace have texts for names"))
                        }
                        try namespace.set(name, value)
                    }
                    renderer.register(namespace)
                    return .object(namespace)
                })
        case "raise_exception":
            .object(
                Function(name) { (arguments, renderer) throws(JinjaError) in
                    let message = try arguments.bind("raise_exception", ["message"], required: 1)[0]
                    throw JinjaError(.raised(try renderer.text(message ?? .none).string))
                })
        case "strftime_now":
            .object(
                Function(name) { (arguments, renderer) throws(JinjaError) in
                    guard let format = try arguments.bind("strftime_now", ["format"], required: 1)[0]?.tracked else {
                        throw JinjaError(.type("strftime() argument 1 must be str"))
                    }
                    let text = try time(renderer.now, format.string, renderer)
                    return .string(TrackedText(text, isContent: format.hasContent))
                })
        default: nil
        }
    }

    private static var range: Function {
        Function("range") { (arguments, _) throws(JinjaError) in
            let bound = try arguments.bind("range", ["start", "stop", "step"], required: 1, allowsNames: false)
            var numbers: [Int] = []
            for value in bound {
                guard let value else { continue }
                guard let number = value.number, number.bigValue != nil else {
                    if case .undefined = value {
                        throw JinjaError(.type("'Undefined' object cannot be interpreted as an integer"))
                    }
                    throw JinjaError(.type("'\(value.typeName)' object cannot be interpreted as an integer"))
                }
                // Within a quarter of what Int holds, so that every sum in a range is exact.
                numbers.append(min(max(try value.index(), -(1 << 61)), 1 << 61))
            }
            let step = numbers.count == 3 ? numbers[2] : 1
            guard step != 0 else { throw JinjaError(.value("range() arg 3 must not be zero")) }
            return .object(
                numbers.count == 1
                    ? try RangeObject(start: 0, stop: numbers[0], step: 1)
                    : try RangeObject(start: numbers[0], stop: numbers[1], step: step))
        }
    }

    /// `dict(mapping or pairs, name=value, …)`.
    fileprivate static func makeDict(_ arguments: CallArguments, _ renderer: Renderer) throws(JinjaError) -> Dict {
        guard arguments.positional.count <= 1 else {
            throw JinjaError(.type("dict expected at most 1 argument, got \(arguments.positional.count)"))
        }
        let dict = Dict()
        if case .dict(let source)? = arguments.positional.first {
            try renderer.charge(elements: source.count)
            for (key, value) in zip(source.keys, source.values) { try dict.set(key, value) }
        } else if let source = arguments.positional.first {
            for pair in try renderer.elements(of: source) {
                let parts = try renderer.elements(of: pair)
                guard parts.count == 2 else {
                    throw JinjaError(
                        .value("dictionary update sequence element has length \(parts.count); 2 is required"))
                }
                try renderer.charge(parts[0].size)
                try dict.set(parts[0], parts[1])
            }
        }
        for (name, value) in arguments.named { try dict.set(.string(name), value) }
        return dict
    }

    static var fromKeys: Function {
        Function("fromkeys") { (arguments, renderer) throws(JinjaError) in
            let bound = try arguments.bind("fromkeys", ["iterable", "value"], required: 1, allowsNames: false)
            let dict = Dict()
            for key in try renderer.elements(of: bound[0] ?? .none) {
                try renderer.charge(key.size)
                try dict.set(key, bound[1] ?? .none)
            }
            return .dict(dict)
        }
    }

    /// Python's `datetime.strftime` in local time, which is C's but for what a time without zone has not.
    private static func time(_ date: Date, _ format: String, _ renderer: Renderer) throws(JinjaError) -> String {
        let seconds = date.timeIntervalSince1970
        guard seconds.magnitude < 1e12 else { throw JinjaError(.value("the date is out of range")) }
        var moment = time_t(seconds.rounded(.down))
        var parts = tm()
        localtime_r(&moment, &parts)
        let fraction = Int(((seconds - seconds.rounded(.down)) * 1e6).rounded(.down))
        // A character in front makes an empty result differ from one that did not fit.
        var prepared = "."
        var isEscaped = false
        for scalar in format.unicodeScalars {
            if isEscaped {
                isEscaped = false
                switch scalar {
                case "f":
                    let digits = String(fraction)
                    prepared += String(repeating: "0", count: 6 - digits.utf8.count) + digits
                case "z", "Z": break
                default: prepared += "%" + String(Character(scalar))
                }
            } else if scalar == "%" {
                isEscaped = true
            } else {
                prepared.unicodeScalars.append(scalar)
            }
        }
        if isEscaped { prepared += "%" }
        try renderer.charge(bytes: prepared.utf8.count * 16)
        var size = prepared.utf8.count * 4 + 128
        while size <= prepared.utf8.count * 256 + 4096 {
            var buffer = [CChar](repeating: 0, count: size)
            let length = strftime(&buffer, size, prepared, &parts)
            if length > 0 {
                return String(decoding: buffer[1..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            }
            size *= 4
        }
        throw JinjaError(.value("the date is too long"))
    }
}

/// `dict` as templates see it.
private final class DictFunction: Object {
    var typeName: String { "TemplateDict" }
    var isCallable: Bool { true }
    func call(_ arguments: CallArguments, _ renderer: Renderer) throws(JinjaError) -> Value {
        .dict(try Globals.makeDict(arguments, renderer))
    }
    func attribute(_ name: String) throws(JinjaError) -> Value? {
        name == "fromkeys" ? .object(Globals.fromKeys) : nil
    }
}
