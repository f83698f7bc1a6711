/// The members of a JSON object in the order of the text. A repeated key keeps its first place and its last value.
package struct JSONObject: Sendable {
    package private(set) var keys: [String] = []
    private var values: [String: JSONValue] = [:]

    package init() {}

    package init(_ members: some Sequence<(String, JSONValue)>) {
        for (key, value) in members { self[key] = value }
    }

    package var count: Int { keys.count }
    package var isEmpty: Bool { keys.isEmpty }

    /// - Complexity: O(1), but O(`count`) to remove a key by setting nil.
    package subscript(key: String) -> JSONValue? {
        get { values[key] }
        set {
            if let newValue {
                if values.updateValue(newValue, forKey: key) == nil { keys.append(key) }
            } else if values.removeValue(forKey: key) != nil {
                keys.removeAll { $0 == key }
            }
        }
    }
}

extension JSONObject: Sequence {
    package func makeIterator() -> AnyIterator<(key: String, value: JSONValue)> {
        var index = 0
        return AnyIterator {
            guard index < keys.count else { return nil }
            defer { index += 1 }
            let key = keys[index]
            return values[key].map { (key, $0) }
        }
    }
}

extension JSONObject: Hashable {
    /// Objects are equal when they have equal members, in whatever order.
    package static func == (left: JSONObject, right: JSONObject) -> Bool { left.values == right.values }
    package func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}
