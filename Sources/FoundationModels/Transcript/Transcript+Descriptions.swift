import Foundation

extension Transcript.Entry: CustomStringConvertible {
    public var description: String {
        switch self {
        case .instructions(let entry): entry.description
        case .prompt(let entry): entry.description
        case .toolCalls(let entry): entry.description
        case .toolOutput(let entry): entry.description
        case .response(let entry): entry.description
        case .reasoning(let entry): entry.description
        }
    }
}

extension Transcript.Segment: CustomStringConvertible {
    public var description: String {
        switch self {
        case .text(let segment): segment.description
        case .structure(let segment): segment.description
        case .attachment(let segment): segment.description
        }
    }
}

extension Transcript.TextSegment: CustomStringConvertible {
    public var description: String { content }
}

extension Transcript.StructuredSegment: CustomStringConvertible {
    public var description: String { content.jsonString }
}

extension Transcript.AttachmentSegment: CustomStringConvertible {
    public var description: String {
        let name = label.map { " \"\($0)\"" } ?? ""
        return switch content {
        case .image(let image): "<image\(name)\(image.url.map { " \($0.absoluteString)" } ?? "")>"
        }
    }
}

extension Transcript.Instructions: CustomStringConvertible {
    public var description: String {
        let tools = toolDefinitions.isEmpty ? "" : " [tools: \(toolDefinitions.map(\.name).joined(separator: ", "))]"
        return "(Instructions) \(segments.descriptions)\(tools)"
    }
}

extension Transcript.Prompt: CustomStringConvertible {
    public var description: String {
        "(Prompt) \(segments.descriptions)\(responseFormat.map { " [format: \($0.name)]" } ?? "")"
    }
}

extension Transcript.ResponseFormat: CustomStringConvertible {
    public var description: String { name }
}

extension Transcript.ToolCalls: CustomStringConvertible {
    public var description: String { "(ToolCalls) \(map(\.description).joined(separator: ", "))" }
}

extension Transcript.ToolCall: CustomStringConvertible {
    public var description: String { "\(toolName)(\(argumentsText))" }
}

extension Transcript.ToolOutput: CustomStringConvertible {
    public var description: String { "(ToolOutput \(toolName)) \(segments.descriptions)" }
}

extension Transcript.Response: CustomStringConvertible {
    public var description: String { "(Response) \(segments.descriptions)" }
}

extension Transcript.Reasoning: CustomStringConvertible {
    public var description: String { "(Reasoning) \(segments.descriptions)" }
}

extension [Transcript.Segment] {
    fileprivate var descriptions: String { map(\.description).joined(separator: " ") }
}
