import Foundation
import JSON

extension Bool: Generable {
    public static var generationSchema: GenerationSchema {
        GenerationSchema(inline: ["type": "boolean"], name: "Bool")
    }

    public init(_ content: GeneratedContent) throws {
        guard case .bool(let value) = content.node else { throw content.typeMismatch(expected: "a boolean") }
        self = value
    }

    public var generatedContent: GeneratedContent { GeneratedContent(node: .bool(self)) }

    public var promptRepresentation: Prompt { description.promptRepresentation }

    public var instructionsRepresentation: Instructions { description.instructionsRepresentation }
}

extension String: Generable {
    public static var generationSchema: GenerationSchema {
        GenerationSchema(inline: ["type": "string"], name: "String")
    }

    /// Reads a string. One that is still open gives what has come of it.
    public init(_ content: GeneratedContent) throws {
        guard case .string(let value) = content.node else { throw content.typeMismatch(expected: "a string") }
        self = value
    }

    public var generatedContent: GeneratedContent { GeneratedContent(node: .string(self)) }
}

extension Int: Generable {
    public static var generationSchema: GenerationSchema {
        GenerationSchema(inline: ["type": "integer"], name: "Int")
    }

    /// Reads a whole number, however it is spelled: `3`, `3.0` and `3e0` all do.
    public init(_ content: GeneratedContent) throws {
        guard let value = try content.number(or: "an integer")?.intValue else {
            throw content.typeMismatch(expected: "an integer of 64 bits")
        }
        self = value
    }

    public var generatedContent: GeneratedContent { GeneratedContent(node: .number(JSONNumber(self))) }

    public var promptRepresentation: Prompt { description.promptRepresentation }

    public var instructionsRepresentation: Instructions { description.instructionsRepresentation }
}

extension Float: Generable {
    public static var generationSchema: GenerationSchema {
        GenerationSchema(inline: ["type": "number"], name: "Float")
    }

    public init(_ content: GeneratedContent) throws {
        if case .nonFiniteNumber(let value) = content.node {
            self = Float(value)
        } else {
            // Rounded once, from the text.
            guard let number = try content.number(or: "a number"), let value = Float(number.text), value.isFinite else {
                throw content.typeMismatch(expected: "a number that a Float can hold")
            }
            self = value
        }
    }

    public var generatedContent: GeneratedContent {
        GeneratedContent(node: JSONNumber(self).map(GeneratedContent.Node.number) ?? .nonFiniteNumber(Double(self)))
    }

    public var promptRepresentation: Prompt { description.promptRepresentation }

    public var instructionsRepresentation: Instructions { description.instructionsRepresentation }
}

extension Double: Generable {
    public static var generationSchema: GenerationSchema {
        GenerationSchema(inline: ["type": "number"], name: "Double")
    }

    public init(_ content: GeneratedContent) throws {
        if case .nonFiniteNumber(let value) = content.node {
            self = value
        } else {
            guard let value = try content.number(or: "a number")?.doubleValue, value.isFinite else {
                throw content.typeMismatch(expected: "a number that a Double can hold")
            }
            self = value
        }
    }

    public var generatedContent: GeneratedContent { GeneratedContent(node: GeneratedContent.Node(self)) }

    public var promptRepresentation: Prompt { description.promptRepresentation }

    public var instructionsRepresentation: Instructions { description.instructionsRepresentation }
}

extension Decimal: Generable {
    public static var generationSchema: GenerationSchema {
        GenerationSchema(inline: ["type": "number"], name: "Decimal")
    }

    public init(_ content: GeneratedContent) throws {
        if case .nonFiniteNumber(let value) = content.node, value.isNaN {
            self = .nan
        } else {
            guard let value = try content.number(or: "a number")?.decimalValue, value.isFinite else {
                throw content.typeMismatch(expected: "a number that a Decimal can hold")
            }
            self = value
        }
    }

    public var generatedContent: GeneratedContent {
        GeneratedContent(node: isFinite ? .number(JSONNumber(self)) : .nonFiniteNumber(.nan))
    }

    public var promptRepresentation: Prompt { description.promptRepresentation }

    public var instructionsRepresentation: Instructions { description.instructionsRepresentation }
}

extension GeneratedContent {
    /// The number, once it cannot go on.
    fileprivate func number(or expected: String) throws -> JSONNumber? {
        switch node {
        case .number(let number):
            guard isComplete else { throw typeMismatch(expected: expected) }
            return number
        case .nonFiniteNumber: return nil
        default: throw typeMismatch(expected: expected)
        }
    }
}
