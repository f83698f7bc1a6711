import Inference
import JSON
import Tokenizers

/// A request to `/v1/embeddings`, read and checked.
struct EmbeddingRequest: Sendable {
    enum Input: Sendable, Hashable {
        case text(String)
        /// As they are: those that the model wants around a text are the client's to put there.
        case tokens([TokenID])
    }

    var model: String?
    var inputs: [Input]
    /// Whether `input` was a list, so that an error can say which of its elements is wrong.
    var isList: Bool
    /// Whether vectors are base64 of little-endian floats.
    var isBase64: Bool
    var dimensions: Int?

    /// As many as the interface that this one follows takes.
    private static let countLimit = 2048

    init(_ object: JSONObject) throws(APIError) {
        var fields = Fields(object)
        model = try fields.string("model")
        (inputs, isList) = try Self.inputs(&fields)
        switch try fields.string("encoding_format") {
        case nil, "float": isBase64 = false
        case "base64": isBase64 = true
        case let format?:
            throw .invalid(
                "encoding_format", code: "invalid_value",
                "encoding_format must be float or base64, not '\(format.prefix(40))'.")
        }
        dimensions = try fields.integer("dimensions", in: 1...Int.max)
        fields.ignore(["user"])
        try fields.finish()
    }

    func path(_ index: Int) -> String { isList ? "input[\(index)]" : "input" }

    private static func inputs(_ fields: inout Fields) throws(APIError) -> (inputs: [Input], isList: Bool) {
        let kinds = "a string, an array of strings, tokens or an array of tokens"
        guard let value = fields.value("input") else { throw fields.missing("input") }
        if let text = value.stringValue { return ([.text(try checked(text, "input"))], false) }
        guard let array = value.arrayValue else { throw wrongType(value, "input", kinds) }
        guard let first = array.first else {
            throw .invalid("input", code: "invalid_value", "input is empty; it must be \(kinds).")
        }
        if first.numberValue != nil { return ([.tokens(try CompletionRequest.tokens(array, "input"))], false) }
        guard array.count <= countLimit else {
            throw .invalid(
                "input", code: "invalid_value", "input may have \(countLimit) elements, not \(array.count).")
        }
        var inputs: [Input] = []
        for (index, element) in array.enumerated() {
            let path = "input[\(index)]"
            if let text = element.stringValue {
                inputs.append(.text(try checked(text, path)))
            } else if let list = element.arrayValue {
                guard !list.isEmpty else { throw .invalid(path, code: "invalid_value", "\(path) has no tokens.") }
                inputs.append(.tokens(try CompletionRequest.tokens(list, path)))
            } else {
                throw wrongType(element, path, "a string or an array of tokens")
            }
        }
        return (inputs, true)
    }

    private static func checked(_ text: String, _ path: String) throws(APIError) -> String {
        if text.isEmpty { throw .invalid(path, code: "invalid_value", "\(path) is an empty text.") }
        return text
    }
}
