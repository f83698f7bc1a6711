import Foundation
import JSON

/// Structured content that a model generated, or that is shown to one.
///
/// It holds what JSON can say: null, booleans, numbers, strings, arrays and structures with ordered keys. Content can be
/// incomplete, as it is while a response streams in: then ``isComplete`` is false, and only what has come is there.
///
/// Contents are equal when they hold equal values, in whatever order a structure has its keys; the ``id`` plays no part.
public struct GeneratedContent: Sendable {
    /// Identifies the value among others of one response.
    public var id: GenerationID?

    /// The value. Numbers keep every digit of their text.
    package indirect enum Node: Sendable {
        case null
        case bool(Bool)
        case number(JSONNumber)
        /// Infinity or not-a-number, which a program can hold but JSON cannot say; written as null.
        case nonFiniteNumber(Double)
        case string(String)
        case array([GeneratedContent])
        case structure(properties: [String: GeneratedContent], orderedKeys: [String])
    }

    package let node: Node

    /// Whether the value came to its end. False for everything along the open tail of incomplete content: the string
    /// or number that broke off, and each array and structure around it.
    public let isComplete: Bool

    package init(node: Node, id: GenerationID? = nil, isComplete: Bool = true) {
        self.node = node
        self.id = id
        self.isComplete = isComplete
    }
}

extension GeneratedContent {
    /// Makes a structure with the given properties in their order. A repeated key keeps its first place and its last value.
    public init(properties: KeyValuePairs<String, any ConvertibleToGeneratedContent>, id: GenerationID? = nil) {
        self.init(structure: properties.lazy.map { ($0.key, $0.value.generatedContent) }, id: id)
    }

    /// Makes a structure with the given properties in their order.
    ///
    /// - Parameter combine: Makes one value of two for a key that comes again, which keeps its first place.
    public init<S>(
        properties: S, id: GenerationID? = nil,
        uniquingKeysWith combine: (GeneratedContent, GeneratedContent) throws -> some ConvertibleToGeneratedContent
    ) rethrows where S: Sequence, S.Element == (String, any ConvertibleToGeneratedContent) {
        var merged: [String: GeneratedContent] = [:]
        var orderedKeys: [String] = []
        for (key, value) in properties {
            if let earlier = merged[key] {
                merged[key] = try combine(earlier, value.generatedContent).generatedContent
            } else {
                merged[key] = value.generatedContent
                orderedKeys.append(key)
            }
        }
        self.init(kind: .structure(properties: merged, orderedKeys: orderedKeys), id: id)
    }

    /// Makes an array with the given elements.
    public init<S>(elements: S, id: GenerationID? = nil)
    where S: Sequence, S.Element == any ConvertibleToGeneratedContent {
        self.init(kind: .array(elements.map(\.generatedContent)), id: id)
    }

    /// Makes the content that stands for a value.
    public init(_ value: some ConvertibleToGeneratedContent) {
        self = value.generatedContent
    }

    /// Makes the content that stands for a value, under an identifier.
    public init(_ value: some ConvertibleToGeneratedContent, id: GenerationID) {
        self = value.generatedContent
        self.id = id
    }

    package init(structure members: some Sequence<(String, GeneratedContent)>, id: GenerationID? = nil) {
        var properties: [String: GeneratedContent] = [:]
        var orderedKeys: [String] = []
        for (key, value) in members where properties.updateValue(value, forKey: key) == nil {
            orderedKeys.append(key)
        }
        self.init(kind: .structure(properties: properties, orderedKeys: orderedKeys), id: id)
    }
}

extension GeneratedContent: Generable {
    /// The schema that every value satisfies.
    public static var generationSchema: GenerationSchema { GenerationSchema(inline: [:], name: "GeneratedContent") }

    public init(_ content: GeneratedContent) throws { self = content }

    public var generatedContent: GeneratedContent { self }
}

extension GeneratedContent: Equatable {
    public static func == (a: GeneratedContent, b: GeneratedContent) -> Bool {
        guard a.isComplete == b.isComplete else { return false }
        switch (a.node, b.node) {
        case (.null, .null): return true
        case (.bool(let a), .bool(let b)): return a == b
        case (.number(let a), .number(let b)): return a == b
        case (.nonFiniteNumber(let a), .nonFiniteNumber(let b)): return a == b || a.isNaN && b.isNaN
        case (.string(let a), .string(let b)): return a == b
        case (.array(let a), .array(let b)): return a == b
        case (.structure(let a, _), .structure(let b, _)): return a == b
        default: return false
        }
    }
}

extension GeneratedContent: CustomDebugStringConvertible {
    public var debugDescription: String { jsonString }
}
