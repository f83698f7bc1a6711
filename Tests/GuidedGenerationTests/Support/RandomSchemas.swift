import JSON

/// Makes schemas of the keywords that `PlainValidator` knows.
struct RandomSchemas {
    var random: RandomBits

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &random)! }

    mutating func flip(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    mutating func schema(depth: Int) -> JSONValue {
        let kinds = depth > 0 ? Array(0...9) : Array(0...4)
        switch pick(kinds) {
        case 0: return string()
        case 1: return number()
        case 2: return ["enum": .array((0...Int.random(in: 0...3, using: &random)).map { _ in scalar() })]
        case 3: return ["type": .string(pick(["boolean", "null", "integer", "string"]))]
        case 4: return ["const": scalar()]
        case 5, 6: return object(depth: depth - 1)
        case 7: return array(depth: depth - 1)
        case 8:
            let keyword = pick(["anyOf", "oneOf", "allOf"])
            return [keyword: .array((0...1).map { _ in schema(depth: depth - 1) })]
        default:
            var object: JSONObject = ["not": schema(depth: 0)]
            if flip(0.5) { object["type"] = pick(["string", "integer", ["null", "boolean"]]) }
            return .object(object)
        }
    }

    private mutating func scalar() -> JSONValue {
        pick(["a", "ab", "é", "x\"y", 0, 1, -7, 2.5, true, false, nil, "", "12"])
    }

    private mutating func string() -> JSONValue {
        var object: JSONObject = ["type": "string"]
        if flip(0.4) { object["minLength"] = .number(JSONNumber(Int.random(in: 0...3, using: &random))) }
        if flip(0.5) { object["maxLength"] = .number(JSONNumber(Int.random(in: 3...9, using: &random))) }
        if flip(0.4) {
            object["pattern"] = .string(pick(["^a", "b$", "^[a-c]*$", "[0-9]", "^(ab|c)+$", "^[^a]*$", "a{2}"]))
        }
        return .object(object)
    }

    private mutating func number() -> JSONValue {
        var object: JSONObject = ["type": .string(pick(["integer", "number"]))]
        if flip(0.6) { object[pick(["minimum", "exclusiveMinimum"])] = pick([-12, 0, 3, -0.5, 1.25]) }
        if flip(0.6) { object[pick(["maximum", "exclusiveMaximum"])] = pick([5, 17, 100, 7.75]) }
        if flip(0.3) { object["multipleOf"] = pick([2, 3, 0.5, 0.25, 10]) }
        return .object(object)
    }

    private mutating func object(depth: Int) -> JSONValue {
        var object: JSONObject = ["type": "object"]
        let keys = ["a", "b", "ab", "é"].shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
        if !keys.isEmpty {
            object["properties"] = .object(JSONObject(keys.map { ($0, schema(depth: depth)) }))
            object["required"] = .array(keys.filter { _ in flip(0.5) }.map(JSONValue.string))
        }
        if flip(0.6) { object["additionalProperties"] = flip(0.7) ? false : schema(depth: 0) }
        if flip(0.2) { object["minProperties"] = 1 }
        if flip(0.3) { object["maxProperties"] = 3 }
        if flip(0.2) { object["dependentRequired"] = ["a": ["b"]] }
        return .object(object)
    }

    private mutating func array(depth: Int) -> JSONValue {
        var object: JSONObject = ["type": "array", "items": schema(depth: depth)]
        if flip(0.3) { object["prefixItems"] = .array([schema(depth: depth)]) }
        if flip(0.4) { object["minItems"] = .number(JSONNumber(Int.random(in: 0...2, using: &random))) }
        if flip(0.7) { object["maxItems"] = .number(JSONNumber(Int.random(in: 2...4, using: &random))) }
        if flip(0.2) { object["contains"] = schema(depth: 0) }
        return .object(object)
    }
}
