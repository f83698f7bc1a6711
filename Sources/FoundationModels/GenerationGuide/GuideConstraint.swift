import JSON

/// One rule of a guide, without the type of the value it is for.
package indirect enum GuideConstraint: Sendable, Equatable {
    case constant(String)
    case anyOf([String])
    /// A regular expression in Swift's syntax that matches whole strings.
    case pattern(String)
    case minimum(JSONNumber)
    case maximum(JSONNumber)
    case minimumCount(Int)
    case maximumCount(Int)
    case element(GuideConstraint)
    /// A rule that cannot be kept.
    case unsupported(guide: String, reason: String)

    /// A bound; unsupported when it is infinite or not a number.
    static func minimum(_ bound: GeneratedContent) -> GuideConstraint { limit("minimum", bound, Self.minimum) }

    /// A bound; unsupported when it is infinite or not a number.
    static func maximum(_ bound: GeneratedContent) -> GuideConstraint { limit("maximum", bound, Self.maximum) }

    private static func limit(
        _ name: String, _ bound: GeneratedContent, _ constraint: (JSONNumber) -> GuideConstraint
    ) -> GuideConstraint {
        switch bound.node {
        case .number(let number): constraint(number)
        case .nonFiniteNumber(let value): .unsupported(guide: name, reason: "the bound \(value) is not a finite number")
        default: .unsupported(guide: name, reason: "the bound is not a number")
        }
    }

    /// The name under which a program writes the guide.
    package var name: String {
        switch self {
        case .constant: "constant"
        case .anyOf: "anyOf"
        case .pattern: "pattern"
        case .minimum: "minimum"
        case .maximum: "maximum"
        case .minimumCount: "minimumCount"
        case .maximumCount: "maximumCount"
        case .element: "element"
        case .unsupported(let guide, _): guide
        }
    }
}

extension GuideConstraint {
    /// Writes the rule into a schema as keywords of JSON Schema, together with those that are there.
    ///
    /// - Returns: Why the rule cannot be kept, if it cannot.
    package func apply(to schema: inout JSONObject) -> String? {
        let type = schema["type"]?.stringValue
        switch self {
        case .unsupported(_, let reason): return reason
        case .constant(let value):
            guard type == "string" else { return mismatch("a string", schema) }
            return restrict(&schema, to: [value])
        case .anyOf(let values):
            // Choices for an array are choices for its elements.
            if type == "array" { return GuideConstraint.element(self).apply(to: &schema) }
            guard type == "string" else { return mismatch("a string", schema) }
            guard !values.isEmpty else { return "there are no choices" }
            return restrict(&schema, to: values)
        case .pattern(let pattern):
            guard type == "string" else { return mismatch("a string", schema) }
            let rule = SchemaDocument.wholeMatch(pattern)
            if schema["pattern"] == nil {
                for (keyword, value) in rule { schema[keyword] = value }
            } else {
                schema["allOf"] = .array((schema["allOf"]?.arrayValue ?? []) + [.object(rule)])
            }
            return nil
        case .minimum(let bound):
            guard type == "integer" || type == "number" else { return mismatch("a number", schema) }
            if let other = schema["minimum"]?.numberValue, !(other < bound) { return nil }
            schema["minimum"] = .number(bound)
            return contradiction(schema, "minimum", "maximum")
        case .maximum(let bound):
            guard type == "integer" || type == "number" else { return mismatch("a number", schema) }
            if let other = schema["maximum"]?.numberValue, !(bound < other) { return nil }
            schema["maximum"] = .number(bound)
            return contradiction(schema, "minimum", "maximum")
        case .minimumCount(let count):
            guard type == "array" else { return mismatch("an array", schema) }
            guard count >= 0 else { return "the count \(count) is negative" }
            schema["minItems"] = .number(JSONNumber(max(count, schema["minItems"]?.numberValue?.intValue ?? 0)))
            return contradiction(schema, "minItems", "maxItems")
        case .maximumCount(let count):
            guard type == "array" else { return mismatch("an array", schema) }
            guard count >= 0 else { return "the count \(count) is negative" }
            schema["maxItems"] = .number(JSONNumber(min(count, schema["maxItems"]?.numberValue?.intValue ?? .max)))
            return contradiction(schema, "minItems", "maxItems")
        case .element(let constraint):
            guard type == "array", var items = schema["items"]?.objectValue else {
                return mismatch("an array", schema)
            }
            let fault = constraint.apply(to: &items)
            schema["items"] = .object(items)
            return fault
        }
    }

    private func mismatch(_ expected: String, _ schema: JSONObject) -> String {
        "it is for \(expected), not for \(schema["type"]?.stringValue ?? schema["$ref"]?.stringValue ?? "this type")"
    }

    private func restrict(_ schema: inout JSONObject, to values: [String]) -> String? {
        var choices: [JSONValue] = []
        var seen: Set<JSONValue> = []
        for value in values.map(JSONValue.string) where seen.insert(value).inserted { choices.append(value) }
        if let others = schema["enum"]?.arrayValue.map(Set.init) { choices.removeAll { !others.contains($0) } }
        schema["enum"] = .array(choices)
        return choices.isEmpty ? "no value is left that all guides allow" : nil
    }

    private func contradiction(_ schema: JSONObject, _ lower: String, _ upper: String) -> String? {
        guard let low = schema[lower]?.numberValue, let high = schema[upper]?.numberValue, high < low else {
            return nil
        }
        return "the bounds \(low) and \(high) leave no value"
    }
}
