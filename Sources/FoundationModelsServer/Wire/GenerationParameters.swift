import Inference
import JSON

/// The parameters that both kinds of completions have.
struct GenerationParameters: Sendable {
    var sampling: Sampling
    /// Whether the request itself said how to sample.
    var choosesSampling: Bool
    var maximumTokens: Int?
    var stops: [String]
    /// How many answers are wanted.
    var count: Int
    var isStream: Bool
    /// Whether a stream ends with the usage.
    var includesUsage: Bool

    /// Answers to one request.
    static let countLimit = 16
    static let stopLimit = 16

    /// Members that change nothing in what is answered here: labels of the client's own, and wishes about where and how
    /// fast something is computed.
    static let ignored = [
        "user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention",
        "prediction",
    ]

    init(_ fields: inout Fields) throws(APIError) {
        fields.ignore(Self.ignored)
        let temperature = try fields.number("temperature", in: 0...2)
        let topP = try fields.number("top_p", in: 0...1)
        // Not of OpenAI's, but known to many clients of local servers.
        let topK = try fields.integer("top_k", in: 0...Int.max).flatMap { $0 == 0 ? nil : $0 }
        if let topK, let topP, topP < 1 {
            throw .invalid(
                fields.path("top_k"), code: "unsupported_value",
                "top_k (\(topK)) and top_p (\(topP)) exclude each other: send one of them.")
        }
        var seed: UInt64?
        if let value = try fields.integer("seed", in: Int.min...Int.max) { seed = UInt64(bitPattern: Int64(value)) }
        choosesSampling = temperature != nil || topP != nil || topK != nil
        if temperature == 0 || topP == 0 {
            sampling = .greedy
        } else if let topK {
            sampling = Sampling(mode: .topK(topK), temperature: temperature ?? 1, seed: seed)
        } else if let topP {
            sampling = Sampling(
                mode: topP < 1 ? .topP(topP) : .random, temperature: temperature ?? 1, seed: seed)
        } else if let temperature {
            sampling = Sampling(mode: .random, temperature: temperature, seed: seed)
        } else {
            // Where the request is silent, what suits a small model: close to its likeliest words.
            sampling = Sampling(mode: .topP(0.9), temperature: 0.7, seed: seed)
        }

        let maximum = try fields.integer("max_tokens", in: 1...Int.max)
        let completionMaximum = try fields.integer("max_completion_tokens", in: 1...Int.max)
        if let maximum, let completionMaximum, maximum != completionMaximum {
            throw .invalid(
                fields.path("max_tokens"), code: "invalid_value",
                "max_tokens and max_completion_tokens say different things: send one of them.")
        }
        maximumTokens = completionMaximum ?? maximum

        stops = try Self.stops(&fields)
        count = try fields.integer("n", in: 1...Self.countLimit) ?? 1
        isStream = try fields.bool("stream") ?? false
        includesUsage = false
        if var options = try fields.object("stream_options") {
            guard isStream else {
                throw .invalid(
                    fields.path("stream_options"), code: "invalid_value", "stream_options need \"stream\": true.")
            }
            includesUsage = try options.bool("include_usage") ?? false
            options.ignore(["include_obfuscation"])
            try options.finish()
        }

        func isZero(_ value: JSONValue) -> Bool { value.numberValue?.doubleValue == 0 }
        try fields.refuse("frequency_penalty", unless: isZero)
        try fields.refuse("presence_penalty", unless: isZero)
        try fields.refuse("repetition_penalty", unless: { $0.numberValue?.doubleValue == 1 })
        try fields.refuse("min_p", unless: isZero)
        try fields.refuse("logit_bias", unless: { $0.objectValue?.isEmpty == true })
    }

    private static func stops(_ fields: inout Fields) throws(APIError) -> [String] {
        guard let value = fields.value("stop") else { return [] }
        let path = fields.path("stop")
        if let string = value.stringValue { return string.isEmpty ? [] : [string] }
        guard let array = value.arrayValue else { throw wrongType(value, path, "a string or an array of strings") }
        guard array.count <= stopLimit else {
            throw .invalid(path, code: "invalid_value", "\(path) may have \(stopLimit) texts, not \(array.count).")
        }
        var stops: [String] = []
        for (index, element) in array.enumerated() {
            guard let string = element.stringValue else { throw wrongType(element, "\(path)[\(index)]", "a string") }
            guard !string.isEmpty else {
                throw .invalid(
                    "\(path)[\(index)]", code: "invalid_value",
                    "\(path)[\(index)] is empty, and would end every answer before it begins. Leave it out.")
            }
            stops.append(string)
        }
        return stops
    }

    /// The sampling of one of several answers: each has its own numbers.
    func sampling(of choice: Int) -> Sampling {
        var sampling = sampling
        sampling.seed = sampling.seed.map { $0 &+ UInt64(choice) }
        return sampling
    }
}
