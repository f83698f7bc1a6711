import Foundation
import Inference
import Tokenizers

/// `logits MODEL TOKENS OUTPUT [--chunk N] [--cache-type f16|q8_0] [--adapter FILE]`: the logits after each token of
/// the JSON array of ids in the file TOKENS, written to OUTPUT as little-endian floats, [tokens, vocabulary]. FILE is an
/// adapter's weights, GGUF or safetensors.
func logits(_ arguments: [String]) async throws {
    guard arguments.count >= 3 else {
        throw MeasureError.usage("logits MODEL TOKENS OUTPUT [--chunk N] [--cache-type f16|q8_0] [--adapter FILE]")
    }
    let tokens = try JSONDecoder().decode([TokenID].self, from: Data(contentsOf: URL(fileURLWithPath: arguments[1])))
    var chunk = 64
    if let flag = arguments.firstIndex(of: "--chunk"), flag + 1 < arguments.count {
        chunk = Int(arguments[flag + 1]) ?? chunk
    }
    let transformer = try Transformer.load(
        URL(fileURLWithPath: arguments[0]), threadCount: ProcessInfo.processInfo.activeProcessorCount)
    if let invalid = tokens.first(where: { $0 < 0 || Int($0) >= transformer.configuration.vocabularySize }) {
        throw InferenceError.invalidToken(invalid, vocabularySize: transformer.configuration.vocabularySize)
    }
    var adapter: Adapter?
    if let flag = arguments.firstIndex(of: "--adapter"), flag + 1 < arguments.count {
        adapter = try Adapter(
            AdapterFile(URL(fileURLWithPath: arguments[flag + 1])), for: transformer.configuration)
    }
    guard FileManager.default.createFile(atPath: arguments[2], contents: nil),
        let output = FileHandle(forWritingAtPath: arguments[2])
    else { throw CocoaError(.fileWriteUnknown) }
    let cacheType = try cacheTypeOption(in: arguments)
    try transformer.evaluate(tokens, chunk: chunk, cacheType: cacheType, adapter: adapter) { _, logits in
        try output.write(contentsOf: Data(buffer: logits))
    }
    try output.close()
}

/// `tokenize MODEL FILE`: the ids of a text file as a JSON array, with the begin-of-text token where the model wants one.
func tokenize(_ arguments: [String]) async throws {
    guard arguments.count == 2 else { throw MeasureError.usage("tokenize MODEL FILE") }
    let tokenizer = try Tokenizer(GGUFFile(URL(fileURLWithPath: arguments[0])).tokenizerDescription())
    let text = try String(contentsOfFile: arguments[1], encoding: .utf8)
    print(tokenizer.encode(text, parsesSpecial: false, addsBOS: true))
}
