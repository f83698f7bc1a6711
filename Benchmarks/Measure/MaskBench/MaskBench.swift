import Foundation
import GuidedGeneration
import Inference
import JSON
import Tokenizers

/// `measure maskbench MODEL FILE [FOLDER]`: judges every schema of a MaskBench file over the vocabulary of a model and prints one
/// line of JSON for each. With a folder it also writes the vocabulary, and the tokens of every instance, for others to walk.
func measureMaskBench(_ arguments: [String]) throws {
    guard arguments.count >= 2 else { throw MeasureError.usage("maskbench MODEL FILE [FOLDER]") }
    let (tokenizer, tokens, stops) = try vocabulary(of: arguments[0])
    let trie = TokenTrie(tokens: tokens, stopTokens: stops)
    let judge = SchemaJudge(trie: trie) { tokenizer.encode($0, parsesSpecial: false, addsBOS: false) }
    let text = try String(contentsOfFile: arguments[1], encoding: .utf8)
    var export = ""
    for line in text.split(separator: "\n") {
        let entry = try JSONValue(parsing: String(line), depthLimit: 2_000)
        guard let name = entry["name"]?.stringValue, let schema = entry["schema"] else {
            throw MeasureError.usage("a line of FILE has 'name', 'schema' and 'tests'")
        }
        let tests = cases(entry["tests"])
        print(judge.judge(name: name, schema: schema, tests: tests).json.text())
        if arguments.count > 2 {
            export +=
                JSONValue.object([
                    "name": .string(name), "schema": schema,
                    "tests": .array(
                        tests.map { test in
                            let text = judge.text(of: test.data, schema)
                            return .object([
                                "valid": .bool(test.isValid), "text": .string(text),
                                "tokens": .array(judge.tokenize(text).map { .number(JSONNumber(Int($0))) }),
                            ])
                        }),
                ]).text() + "\n"
        }
    }
    guard arguments.count > 2 else { return }
    let folder = URL(fileURLWithPath: arguments[2], isDirectory: true)
    try Data(export.utf8).write(to: folder.appendingPathComponent("instances.jsonl"))
    let bytes = tokens.map { JSONValue.string($0.map { String($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()) }
    let vocabulary: JSONValue = ["tokens": .array(bytes), "stop": .array(stops.map { .number(JSONNumber(Int($0))) })]
    try Data(vocabulary.text().utf8).write(to: folder.appendingPathComponent("vocabulary.json"))
}

/// `measure json-schema-suite FILE`: judges every group of a part of JSON-Schema-Test-Suite and prints one line of JSON for each.
///
/// The suite's formats are annotations, as the specification has them, so they are not enforced here.
func measureSchemaSuite(_ arguments: [String]) throws {
    guard let file = arguments.first else { throw MeasureError.usage("json-schema-suite FILE") }
    // No vocabulary is asked for: a token for each byte walks every text.
    let trie = TokenTrie(tokens: (0...255).map { [UInt8($0)] } + [[]], stopTokens: [256])
    var judge = SchemaJudge(trie: trie) { $0.utf8.map(Int32.init) }
    judge.options.enforcesFormats = false
    let suite = try JSONValue(parsing: String(contentsOfFile: file, encoding: .utf8), depthLimit: 2_000)
    for (keyword, groups) in suite.objectValue ?? JSONObject() {
        for group in groups.arrayValue ?? [] {
            let name = "\(keyword): \(group["description"]?.stringValue ?? "")"
            print(
                judge.judge(name: name, schema: group["schema"] ?? .bool(true), tests: cases(group["tests"])).json
                    .text())
        }
    }
}

private func cases(_ tests: JSONValue?) -> [(data: JSONValue, isValid: Bool)] {
    (tests?.arrayValue ?? []).compactMap { test in
        guard let data = test["data"], let isValid = test["valid"]?.boolValue else { return nil }
        return (data, isValid)
    }
}

private func vocabulary(of model: String) throws -> (Tokenizer, [[UInt8]], Set<Int32>) {
    let tokenizer = try Tokenizer(GGUFFile(URL(fileURLWithPath: model)).tokenizerDescription())
    return (tokenizer, (0..<Int32(tokenizer.count)).map(tokenizer.bytes), tokenizer.stopTokens)
}
