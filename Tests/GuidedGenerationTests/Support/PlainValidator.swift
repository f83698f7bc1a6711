import Foundation
import JSON

/// Says whether a value is valid, keyword by keyword as the specification reads: slow, plain, and without automata. It knows the
/// keywords that random schemas are made of.
struct PlainValidator {
    let root: JSONValue

    func isValid(_ value: JSONValue, _ schema: JSONValue) -> Bool {
        if let flag = schema.boolValue { return flag }
        guard let object = schema.objectValue else { return false }
        for (keyword, argument) in object where !holds(keyword, argument, value, object) { return false }
        return true
    }

    private func holds(_ keyword: String, _ argument: JSONValue, _ value: JSONValue, _ schema: JSONObject) -> Bool {
        let text = value.stringValue
        let number = value.numberValue?.decimalValue
        let array = value.arrayValue
        let object = value.objectValue
        let count = argument.numberValue?.intValue ?? 0
        switch keyword {
        case "type":
            let names = argument.arrayValue?.compactMap(\.stringValue) ?? [argument.stringValue ?? ""]
            return names.contains { $0 == value.kind || $0 == "integer" && isInteger(value) }
        case "const": return value == argument
        case "enum": return argument.arrayValue?.contains(value) ?? false
        case "minimum": return number.map { $0 >= argument.numberValue!.decimalValue! } ?? true
        case "maximum": return number.map { $0 <= argument.numberValue!.decimalValue! } ?? true
        case "exclusiveMinimum": return number.map { $0 > argument.numberValue!.decimalValue! } ?? true
        case "exclusiveMaximum": return number.map { $0 < argument.numberValue!.decimalValue! } ?? true
        case "multipleOf":
            guard let number else { return true }
            return isInteger(.number(JSONNumber(number / argument.numberValue!.decimalValue!)))
        case "minLength": return text.map { $0.unicodeScalars.count >= count } ?? true
        case "maxLength": return text.map { $0.unicodeScalars.count <= count } ?? true
        case "pattern":
            guard let text else { return true }
            // ICU's `$` also matches before a newline at the end.
            let pattern = argument.stringValue!.replacingOccurrences(of: "$", with: #"\z"#)
            let expression = try! NSRegularExpression(pattern: pattern)
            return expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
        case "minItems": return array.map { $0.count >= count } ?? true
        case "maxItems": return array.map { $0.count <= count } ?? true
        case "items":
            let start = schema["prefixItems"]?.arrayValue?.count ?? 0
            return array?.dropFirst(start).allSatisfy { isValid($0, argument) } ?? true
        case "prefixItems":
            guard let array, let schemas = argument.arrayValue else { return true }
            return zip(array, schemas).allSatisfy { isValid($0, $1) }
        case "contains":
            guard let array else { return true }
            let hits = array.count { isValid($0, argument) }
            return hits >= schema["minContains"]?.numberValue?.intValue ?? 1
                && hits <= schema["maxContains"]?.numberValue?.intValue ?? .max
        case "properties":
            guard let object, let schemas = argument.objectValue else { return true }
            return schemas.allSatisfy { key, schema in object[key].map { isValid($0, schema) } ?? true }
        case "required":
            guard let object else { return true }
            return argument.arrayValue!.allSatisfy { object[$0.stringValue!] != nil }
        case "additionalProperties":
            guard let object else { return true }
            return object.allSatisfy { schema["properties"]?[$0.key] != nil || isValid($0.value, argument) }
        case "minProperties": return object.map { $0.count >= count } ?? true
        case "maxProperties": return object.map { $0.count <= count } ?? true
        case "dependentRequired":
            guard let object else { return true }
            return argument.objectValue!.allSatisfy { key, names in
                object[key] == nil || names.arrayValue!.allSatisfy { object[$0.stringValue!] != nil }
            }
        case "allOf": return argument.arrayValue!.allSatisfy { isValid(value, $0) }
        case "anyOf": return argument.arrayValue!.contains { isValid(value, $0) }
        case "oneOf": return argument.arrayValue!.count { isValid(value, $0) } == 1
        case "not": return !isValid(value, argument)
        case "if":
            return isValid(value, argument)
                ? isValid(value, schema["then"] ?? true) : isValid(value, schema["else"] ?? true)
        case "$ref":
            return isValid(
                value, argument.stringValue == "#" ? root : root["$defs"]![String(argument.stringValue!.dropFirst(8))]!)
        default: return true
        }
    }

    private func isInteger(_ value: JSONValue) -> Bool {
        guard var number = value.numberValue?.decimalValue else { return false }
        var rounded = Decimal()
        NSDecimalRound(&rounded, &number, 0, .plain)
        return rounded == number
    }
}
