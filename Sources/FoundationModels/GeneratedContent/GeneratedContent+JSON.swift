import JSON

extension GeneratedContent {
    /// Reads JSON text, which may break off anywhere, as the output of a model does while it is made.
    ///
    /// `{"title": "A story of` gives a structure whose title is "A story of". A member whose value has not begun is left out.
    ///
    /// - Throws: ``ParsingError`` when the text is not the beginning of a JSON text, or is empty.
    public init(json: String) throws {
        try self.init(json: json, id: nil)
    }

    /// Reads JSON text as ``init(json:)`` does, and identifies the root by `id` and every structure in it by its place, so that the
    /// same structure has the same identifier in every snapshot of one response.
    package init(json: String, id: GenerationID?) throws {
        do {
            let partial = try JSONValue.parsePartial(json)
            self.init(partial.value, openDepth: partial.openDepth, id: id)
        } catch {
            throw ParsingError(rawContent: json, underlyingError: error, debugDescription: error.description)
        }
    }

    /// Makes content of a JSON value.
    ///
    /// - Parameters:
    ///   - openDepth: How many values are open, counted from this one along last children.
    ///   - id: The identifier of the root, from which those of the structures within follow.
    package init(_ value: JSONValue, openDepth: Int = 0, id: GenerationID? = nil) {
        let isComplete = openDepth == 0
        switch value {
        case .null: self.init(node: .null, id: id, isComplete: isComplete)
        case .bool(let value): self.init(node: .bool(value), id: id, isComplete: isComplete)
        case .number(let number): self.init(node: .number(number), id: id, isComplete: isComplete)
        case .string(let string): self.init(node: .string(string), id: id, isComplete: isComplete)
        case .array(let values):
            let elements = values.enumerated().map { index, value in
                let isLast = index == values.count - 1
                return GeneratedContent(
                    value, openDepth: isLast ? max(0, openDepth - 1) : 0,
                    id: value.isStructured ? id?.appending(index: index) : nil)
            }
            self.init(node: .array(elements), id: id, isComplete: isComplete)
        case .object(let object):
            var properties: [String: GeneratedContent] = [:]
            properties.reserveCapacity(object.count)
            // Keys of structures are Swift's strings: those that differ only in how they compose characters are one key,
            // which like any repeated key keeps its first place and its last value.
            var orderedKeys: [String] = []
            for (index, (key, value)) in object.enumerated() {
                let content = GeneratedContent(
                    value, openDepth: index == object.count - 1 ? max(0, openDepth - 1) : 0,
                    id: value.isStructured ? id?.appending(key: key) : nil)
                if properties.updateValue(content, forKey: key) == nil { orderedKeys.append(key) }
            }
            self.init(
                node: .structure(properties: properties, orderedKeys: orderedKeys), id: id, isComplete: isComplete)
        }
    }

    /// The content as JSON text on one line, keys in their order. Incomplete content is closed where it stands.
    public var jsonString: String { jsonValue.text(spaced: true) }

    /// The content as a JSON value.
    package var jsonValue: JSONValue {
        switch node {
        case .null, .nonFiniteNumber: .null
        case .bool(let value): .bool(value)
        case .number(let number): .number(number)
        case .string(let string): .string(string)
        case .array(let elements): .array(elements.map(\.jsonValue))
        case .structure(let properties, let orderedKeys):
            .object(JSONObject(orderedKeys.lazy.compactMap { key in properties[key].map { (key, $0.jsonValue) } }))
        }
    }
}

extension JSONValue {
    fileprivate var isStructured: Bool {
        switch self {
        case .array, .object: true
        default: false
        }
    }
}
