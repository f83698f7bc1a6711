import Foundation
import JSON

// The JSON of a transcript, as Apple's framework writes it:
//
//     {"type": "FoundationModels.Transcript", "version": 1, "transcript": {"entries": [
//       {"role": "instructions", "id": …, "contents": […], "tools": [{"type": "function", "function": {…}}]},
//       {"role": "user", "id": …, "contents": […], "options": {…}, "responseFormat": {"type": "jsonSchema", …}},
//       {"role": "response", "id": …, "toolCalls": [{"id": …, "name": …, "arguments": "JSON text"}]},
//       {"role": "tool", "id": …, "toolCallID": …, "toolName": …, "contents": […]},
//       {"role": "response", "id": …, "assets": […], "contents": […]}]}}
//
// What no published file shows is written under keys of its own beside these, only where there is something to write: `contextOptions`,
// `metadata`, the role `reasoning` with `signature`, and contents of the type `attachment`.
extension Transcript: Codable {
    private enum Key: String, CodingKey {
        case type, version, transcript
    }

    private enum ContentKey: String, CodingKey {
        case entries
    }

    static let documentType = "FoundationModels.Transcript"

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let type = try container.decode(String.self, forKey: .type)
        guard type == Self.documentType else {
            throw DecodingError.dataCorruptedError(
                forKey: .type, in: container, debugDescription: "The type is \"\(type)\", not \"\(Self.documentType)\"."
            )
        }
        let version = try Version(from: container.superDecoder(forKey: .version))
        guard version.major == 1 else {
            throw DecodingError.dataCorruptedError(
                forKey: .version, in: container,
                debugDescription: "The version is \(version.text); versions 1 and 1.1 can be read.")
        }
        let content = try container.nestedContainer(keyedBy: ContentKey.self, forKey: .transcript)
        entries = try content.decode([EntryCoding].self, forKey: .entries).map(\.entry)
        orderStructures()
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Self.documentType, forKey: .type)
        try container.encode(1, forKey: .version)
        var content = container.nestedContainer(keyedBy: ContentKey.self, forKey: .transcript)
        try content.encode(entries.map(EntryCoding.init), forKey: .entries)
    }

    /// Decoders do not tell the order of keys. The order of a structured response is that of the schema that its prompt asked for.
    private mutating func orderStructures() {
        var schema: JSONValue?
        for (index, entry) in entries.enumerated() {
            switch entry {
            case .prompt(let prompt): schema = prompt.responseFormat?.schema.enforcedSchema
            case .response(var response):
                guard let schema else { continue }
                response.segments = response.segments.map { segment in
                    guard case .structure(var structure) = segment else { return segment }
                    structure.content = GeneratedContent(
                        structure.content.jsonValue.ordered(by: schema))
                    return .structure(structure)
                }
                entries[index] = .response(response)
            default: break
            }
        }
    }
}

/// A version, which is a number or a text: `1` and `"1.1"` both occur.
private struct Version: Decodable {
    let text: String

    var major: Int? { Int(text.prefix { $0 != "." }) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self.text = text
        } else if let number = try? container.decode(Int.self) {
            text = String(number)
        } else {
            text = String(try container.decode(Double.self))
        }
    }
}
