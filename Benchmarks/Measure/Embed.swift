import Foundation
import Inference
import JSON
import Tokenizers

/// `embed MODEL INPUTS [DIMENSIONS]`: the vectors of the inputs in the JSON array of the file INPUTS, each a text or an array
/// of tokens, as a JSON array of arrays.
func measureEmbed(_ arguments: [String]) async throws {
    guard (2...3).contains(arguments.count) else { throw MeasureError.usage("embed MODEL INPUTS [DIMENSIONS]") }
    var dimensions: Int?
    if arguments.count == 3 {
        guard let number = Int(arguments[2]) else { throw MeasureError.usage("embed MODEL INPUTS [DIMENSIONS]") }
        dimensions = number
    }
    let model = try EmbeddingModel.load(URL(fileURLWithPath: arguments[0]))
    let inputs = try JSONValue(parsing: Array(Data(contentsOf: URL(fileURLWithPath: arguments[1])))).arrayValue ?? []
    let texts = inputs.map { input in
        input.stringValue.map { model.tokens(of: $0) }
            ?? (input.arrayValue ?? []).compactMap { $0.numberValue?.intValue.map { TokenID($0) } }
    }
    let vectors = try model.vectors(of: texts, dimensions: dimensions) ?? []
    print("[\(vectors.map { "[\($0.map { "\($0)" }.joined(separator: ","))]" }.joined(separator: ",\n"))]")
}
