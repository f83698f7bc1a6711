import Foundation
import FoundationModels
import Inference
import JSON

/// `measure transcript-json COUNT [FILE ...]`: reads transcripts and writes them again: the files, and so many made at random from a
/// seed, with every kind of entry, segment and option. Prints how many came back identical, and every difference.
func measureTranscriptJSON(_ arguments: [String]) async throws {
    guard let count = arguments.first.flatMap({ Int($0) }) else {
        throw MeasureError.usage("transcript-json COUNT [FILE ...]")
    }
    var total = 0
    var identical = 0
    func judge(_ name: String, _ check: () throws -> String?) {
        total += 1
        do {
            if let difference = try check() { print("\(name): \(difference)") } else { identical += 1 }
        } catch {
            print("\(name): \(error)")
        }
    }
    for file in arguments.dropFirst() {
        let data = try Data(contentsOf: URL(fileURLWithPath: file))
        judge(file) {
            let written = try encoded(JSONDecoder().decode(Transcript.self, from: data))
            // The same members with the same values; the order of members has no meaning in JSON.
            guard try JSONValue(parsing: Array(data)) == JSONValue(parsing: Array(written)) else { return "other JSON" }
            let again = try encoded(JSONDecoder().decode(Transcript.self, from: written))
            return again == written ? nil : "other bytes at the second writing"
        }
    }
    for seed in 0..<count {
        judge("seed \(seed)") {
            var source = TranscriptSource(seed: UInt64(seed))
            let transcript = source.transcript()
            let written = try encoded(transcript)
            let back = try JSONDecoder().decode(Transcript.self, from: written)
            guard back == transcript else {
                let pair = zip(transcript, back).first { $0 != $1 }
                return "another transcript: \(pair.map { "\($0.0) became \($0.1)" } ?? "\(back.count) entries")"
            }
            return try encoded(back) == written ? nil : "other bytes: \(String(decoding: written, as: UTF8.self))"
        }
    }
    print("{\"identical\": \(identical), \"total\": \(total)}")
}

private func encoded(_ transcript: Transcript) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return try encoder.encode(transcript)
}

@Generable
private struct Sample {
    var name: String
    @Guide(description: "Some \"numbers\"", .count(1...3)) var numbers: [Int]
    var note: String?
}

/// Transcripts at random. Everything that can be absent sometimes is.
private struct TranscriptSource {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func transcript() -> Transcript {
        var entries: [Transcript.Entry] = []
        if flip() {
            entries.append(
                .instructions(
                    Transcript.Instructions(
                        id: text(), segments: list { $0.segment() }, toolDefinitions: list { $0.definition() })))
        }
        entries += list(upTo: 8) { $0.entry() }
        return Transcript(entries: entries)
    }

    private mutating func entry() -> Transcript.Entry {
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            return .prompt(
                Transcript.Prompt(
                    id: text(), metadata: metadata(), segments: list { $0.segment() }, options: options(),
                    responseFormat: flip() ? Transcript.ResponseFormat(schema: schema()) : nil,
                    contextOptions: ContextOptions(
                        includeSchemaInPrompt: pick([nil, true, false]),
                        reasoningLevel: pick([nil, .light, .moderate, .deep, .custom(text())]))))
        case 1:
            let calls = list { source in
                Transcript.ToolCall(
                    id: source.text(), metadata: source.metadata(), toolName: source.text(), arguments: source.content()
                )
            }
            return .toolCalls(Transcript.ToolCalls(id: text(), calls))
        case 2:
            return .toolOutput(Transcript.ToolOutput(id: text(), toolName: text(), segments: list { $0.segment() }))
        case 3:
            return .reasoning(
                Transcript.Reasoning(
                    id: text(), metadata: metadata(), segments: list { $0.segment() },
                    signature: flip() ? Data(text().utf8) : nil))
        default:
            return flip()
                ? .response(Transcript.Response(id: text(), metadata: metadata(), segments: list { $0.segment() }))
                : .response(
                    Transcript.Response(id: text(), assetIDs: list { $0.text() }, segments: list { $0.segment() }))
        }
    }

    private mutating func segment() -> Transcript.Segment {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return .structure(Transcript.StructuredSegment(id: text(), schemaName: text(), content: content()))
        case 1:
            let orientation: CGImagePropertyOrientation? = pick([nil, .up, .left, .downMirrored])
            let image: Transcript.ImageAttachment =
                flip()
                ? Transcript.ImageAttachment(
                    imageURL: URL(fileURLWithPath: "/tmp/\(UInt32.random(in: 0..<9, using: &random)) ä.png"),
                    orientation: orientation)
                : Transcript.ImageAttachment(imageData: Data(text().utf8), orientation: orientation)
            return .attachment(
                Transcript.AttachmentSegment(id: text(), content: .image(image), label: flip() ? text() : nil))
        default: return .text(Transcript.TextSegment(id: text(), content: text()))
        }
    }

    private mutating func definition() -> Transcript.ToolDefinition {
        var definition = Transcript.ToolDefinition(name: text(), description: text(), parameters: schema())
        definition.isIncludedInInstructions = flip()
        return definition
    }

    private mutating func options() -> GenerationOptions {
        GenerationOptions(
            samplingMode: pick([
                nil, .greedy, .random(top: 7), .random(top: 1, seed: .max), .random(probabilityThreshold: 0.3, seed: 1),
            ]), temperature: pick([nil, 0, 0.1, 2]), maximumResponseTokens: pick([nil, 1, Int.max]),
            toolCallingMode: pick([nil, .allowed, .required, .disallowed]))
    }

    private mutating func schema() -> GenerationSchema {
        pick([Sample.generationSchema, [Sample].generationSchema, String.generationSchema, Int.generationSchema])
    }

    private mutating func metadata() -> [String: GeneratedContent] {
        var metadata: [String: GeneratedContent] = [:]
        for key in list({ $0.text() }) { metadata[key] = content() }
        return metadata
    }

    private mutating func content(depth: Int = 0) -> GeneratedContent {
        switch Int.random(in: 0..<(depth < 3 ? 7 : 5), using: &random) {
        case 0: return GeneratedContent(kind: .null)
        case 1: return GeneratedContent(flip())
        case 2: return GeneratedContent(pick([0, -1, Int.max, Int.min, 42]))
        case 3: return GeneratedContent(pick([0.5, -1e300, .leastNonzeroMagnitude, 0.1]))
        case 4: return GeneratedContent(text())
        case 5: return GeneratedContent(elements: list { $0.content(depth: depth + 1) })
        default:
            var properties: [String: GeneratedContent] = [:]
            for key in list({ $0.text() }) { properties[key] = content(depth: depth + 1) }
            // A decoder does not tell the order of keys, so they are in the one order that needs no telling.
            return GeneratedContent(kind: .structure(properties: properties, orderedKeys: properties.keys.sorted()))
        }
    }

    private mutating func text() -> String {
        let pieces = [
            "a", "B", " ", "\"", "\\", "\n", "\u{0}", "\u{1f}", "ä", "日本", "🙂", "👩‍💻", "e\u{301}", "/", "</s>", "{", "}",
            "\u{2028}",
            "<|im_end|>", "id", "1",
        ]
        return list(upTo: 6) { $0.pick(pieces) }.joined()
    }

    private mutating func flip() -> Bool { Bool.random(using: &random) }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    private mutating func list<Value>(upTo limit: Int = 3, _ make: (inout Self) -> Value) -> [Value] {
        (0..<Int.random(in: 0...limit, using: &random)).map { _ in make(&self) }
    }
}
