import Foundation
import Inference
import JSON
import Tokenizers

/// `tokenizer-ids MODEL.gguf TEXTS.json`: the token ids of each text of a JSON array, by the tokenizer of a model file.
///
/// Prints one JSON object: `ids`, one array for each text; `wrongRoundTrips`, the numbers of the texts that decoding does
/// not give back; `wrongStreams`, of those whose streamed parts together are not the decoded text or of which a part ends
/// within a character; `buildSeconds` and `megabytesPerSecond`, how fast the tokenizer is made and encodes.
func measureTokenizerIds(_ arguments: [String]) async throws {
    guard arguments.count == 2 else {
        throw MeasureError.usage("tokenizer-ids MODEL.gguf TEXTS.json")
    }
    let texts =
        try JSONValue(parsing: Array(Data(contentsOf: URL(fileURLWithPath: arguments[1]))))
        .arrayValue?.compactMap(\.stringValue) ?? []
    let description = try GGUFFile(URL(fileURLWithPath: arguments[0])).tokenizerDescription()

    let clock = ContinuousClock()
    var start = clock.now
    let tokenizer = try Tokenizer(description)
    let build = (clock.now - start) / .seconds(1)

    start = clock.now
    let ids = texts.map { tokenizer.encode($0, parsesSpecial: false, addsBOS: false) }
    let encoding = (clock.now - start) / .seconds(1)

    var wrongRoundTrips: [JSONValue] = []
    var wrongStreams: [JSONValue] = []
    for (number, text) in texts.enumerated() {
        let decoded = tokenizer.decode(ids[number], skipsSpecial: false)
        // Byte by byte: strings that are canonically equivalent are equal in Swift.
        if !decoded.utf8.elementsEqual(text.utf8) { wrongRoundTrips.append(.number(JSONNumber(number))) }
        var stream = StreamingDetokenizer(tokenizer, skipsSpecial: false)
        var parts = ids[number].map { stream.append($0) }
        let holdsBackOnly = !parts.contains { $0.unicodeScalars.contains("\u{fffd}") } || text.contains("\u{fffd}")
        parts.append(stream.finish())
        if !holdsBackOnly || !parts.joined().utf8.elementsEqual(decoded.utf8) {
            wrongStreams.append(.number(JSONNumber(number)))
        }
    }

    let byteCount = texts.reduce(0) { $0 + $1.utf8.count }
    let result: JSONValue = [
        "ids": .array(ids.map { .array($0.map { .number(JSONNumber(Int($0))) }) }),
        "wrongRoundTrips": .array(wrongRoundTrips),
        "wrongStreams": .array(wrongStreams),
        "buildSeconds": JSONNumber(build).map(JSONValue.number) ?? .null,
        "megabytesPerSecond": JSONNumber(Double(byteCount) / encoding / 1e6).map(JSONValue.number) ?? .null,
    ]
    print(result.text())
}
