/// The members of a JSON object in the order of the text. A repeated key keeps its first place and its last value.
///
/// Keys are told apart by their code points, as RFC 8259 has it (section 8.3): "é" as one code point and as two are two keys,
/// though Swift's `String` finds them equal.
package struct JSONObject: Sendable {
    package private(set) var keys: [String] = []
    /// The value of each key.
    private var values: [JSONValue] = []
    /// The places of the keys, once they are so many that looking through them takes longer than hashing.
    private var places: [ExactText: Int] = [:]
    private static let scanLimit = 8

    package init() {}

    package init(_ members: some Sequence<(String, JSONValue)>) {
        for (key, value) in members { self[key] = value }
    }

    package var count: Int { keys.count }
    package var isEmpty: Bool { keys.isEmpty }

    /// - Complexity: O(1), but O(`count`) to remove a key by setting nil.
    package subscript(key: String) -> JSONValue? {
        get { place(of: key).map { values[$0] } }
        set {
            if let place = place(of: key) {
                if let newValue { values[place] = newValue } else { remove(at: place) }
            } else if let newValue {
                keys.append(key)
                values.append(newValue)
                if keys.count > Self.scanLimit + 1 { places[ExactText(key)] = keys.count - 1 } else { indexKeys() }
            }
        }
    }

    private func place(of key: String) -> Int? {
        let exact = ExactText(key)
        return keys.count > Self.scanLimit ? places[exact] : keys.firstIndex { ExactText($0) == exact }
    }

    private mutating func remove(at place: Int) {
        keys.remove(at: place)
        values.remove(at: place)
        places = [:]
        indexKeys()
    }

    private mutating func indexKeys() {
        guard keys.count > Self.scanLimit else { return }
        for (place, key) in keys.enumerated() { places[ExactText(key)] = place }
    }
}

extension JSONObject: Sequence {
    package func makeIterator() -> AnyIterator<(key: String, value: JSONValue)> {
        var index = 0
        return AnyIterator {
            guard index < keys.count else { return nil }
            defer { index += 1 }
            return (keys[index], values[index])
        }
    }
}

extension JSONObject: Hashable {
    /// Objects are equal when they have equal members, in whatever order.
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.allSatisfy { right[$0.key] == $0.value }
    }

    package func hash(into hasher: inout Hasher) {
        // The order must not show: the sum of what the members have.
        var sum = 0
        for (key, value) in self {
            var member = Hasher()
            member.combine(key)
            member.combine(value)
            sum &+= member.finalize()
        }
        hasher.combine(count)
        hasher.combine(sum)
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}
