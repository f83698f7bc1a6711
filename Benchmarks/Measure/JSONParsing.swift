import Foundation
import FoundationModels
import JSON

/// `measure json-parsing FILE`: reads every text of a suite, one JSON object a line with `name`, `expect` ("accept", "reject"
/// or "either") and `base64`. Prints one line for each text that fares otherwise than it should, and last the counts.
///
/// The strict reader has to accept or reject a text as the suite says. Every text that it is to accept is then cut off after each
/// of its bytes, and each of these beginnings has to be partial content or be refused with a typed error. So are all the others,
/// as content.
func measureJSONParsing(_ arguments: [String]) async throws {
    guard let path = arguments.first else { throw MeasureError.usage("json-parsing FILE") }
    var count = 0
    var right = 0
    var prefixes = 0
    var refusedPrefixes = 0
    for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
        let item = try JSONValue(parsing: String(line))
        guard let name = item["name"]?.stringValue, let expected = item["expect"]?.stringValue,
            let data = item["base64"]?.stringValue.flatMap({ Data(base64Encoded: $0) })
        else { throw MeasureError.usage("json-parsing FILE of objects with 'name', 'expect' and 'base64'") }
        let bytes = Array(data)
        count += 1
        var faults: [String] = []
        do {
            let value = try JSONValue(parsing: bytes)
            if expected == "reject" { faults.append("accepted") }
            // What is written of it is the same value.
            if try JSONValue(parsing: value.text()) != value { faults.append("changed by writing it") }
        } catch {
            if expected == "accept" { faults.append("rejected: \(error)") }
        }
        for length in expected == "accept" ? Array(0...bytes.count) : [bytes.count] {
            prefixes += 1
            do throws(JSONError) {
                let partial = try JSONValue.parsePartial(Array(bytes[..<length]))
                if length == bytes.count, expected == "accept", !partial.isComplete {
                    faults.append("taken for a beginning")
                }
            } catch {
                refusedPrefixes += 1
            }
            guard let text = String(validating: bytes[..<length], as: UTF8.self) else { continue }
            do {
                let content = try GeneratedContent(json: text)
                // Content that has been closed where it broke off is JSON.
                _ = try JSONValue(parsing: content.jsonString)
            } catch is GeneratedContent.ParsingError {
                if length == bytes.count, expected == "accept" { faults.append("refused as content") }
            } catch {
                faults.append("prefix of \(length) bytes: \(error)")
            }
        }
        if faults.isEmpty { right += 1 } else { print("\(name) (\(expected)): \(faults.joined(separator: "; "))") }
    }
    let summary: JSONValue = [
        "texts": .number(JSONNumber(count)), "right": .number(JSONNumber(right)),
        "prefixes": .number(JSONNumber(prefixes)), "refusedPrefixes": .number(JSONNumber(refusedPrefixes)),
    ]
    print(summary.text())
}
