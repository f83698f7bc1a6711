import Inference
import JSON
import Tokenizers

/// A request to `/v1/completions`, read and checked: texts that are gone on with, without a chat template.
struct CompletionRequest: Sendable {
    enum Prompt: Sendable, Hashable {
        case text(String)
        case tokens([TokenID])
    }

    var model: String?
    var prompts: [Prompt]
    /// Whether the answer begins with its prompt.
    var echoes: Bool
    var logprobCount: Int?
    var parameters: GenerationParameters

    init(_ object: JSONObject) throws(APIError) {
        var fields = Fields(object)
        model = try fields.string("model")
        prompts = try Self.prompts(&fields)
        echoes = try fields.bool("echo") ?? false
        logprobCount = try fields.integer("logprobs", in: 0...20)
        if echoes, logprobCount != nil {
            throw .invalid(
                "echo", code: "unsupported_value", "echo together with logprobs is not supported by this server.")
        }
        parameters = try GenerationParameters(&fields)
        if parameters.maximumTokens == nil { parameters.maximumTokens = 16 }
        let count = parameters.count
        try fields.refuse(
            "best_of", unless: { $0.numberValue?.intValue == count }, hint: "it gives every answer that it makes")
        // Texts are gone on with as they stand; nobody thinks first.
        fields.ignore(["reasoning_effort"])
        try fields.refuse("suffix", unless: { $0 == "" })
        try fields.finish()
        guard prompts.count * count <= GenerationParameters.countLimit else {
            throw .invalid(
                "prompt", code: "invalid_value",
                "A request may ask for \(GenerationParameters.countLimit) answers, not \(prompts.count) × \(count).")
        }
    }

    private static func prompts(_ fields: inout Fields) throws(APIError) -> [Prompt] {
        guard let value = fields.value("prompt") else { throw fields.missing("prompt") }
        if let text = value.stringValue { return [.text(text)] }
        guard let array = value.arrayValue, let first = array.first else {
            throw wrongType(value, "prompt", "a string, an array of strings, tokens or an array of tokens")
        }
        if first.numberValue != nil { return [.tokens(try tokens(array, "prompt"))] }
        var prompts: [Prompt] = []
        for (index, element) in array.enumerated() {
            let path = "prompt[\(index)]"
            if let text = element.stringValue {
                prompts.append(.text(text))
            } else if let list = element.arrayValue {
                prompts.append(.tokens(try tokens(list, path)))
            } else {
                throw wrongType(element, path, "a string or an array of tokens")
            }
        }
        return prompts
    }

    static func tokens(_ array: [JSONValue], _ path: String) throws(APIError) -> [TokenID] {
        var tokens: [TokenID] = []
        for (index, element) in array.enumerated() {
            guard let value = element.numberValue?.intValue, let token = TokenID(exactly: value) else {
                throw wrongType(element, "\(path)[\(index)]", "a token's number")
            }
            tokens.append(token)
        }
        return tokens
    }
}
