import FoundationModels

extension Command.Option {
    static let reasoning = Command.Option(
        "--reasoning", value: "LEVEL",
        help: "How long a model that thinks should think first: none, light, moderate or deep.")
    static let image = Command.Option(
        "--image", value: "PATH", isRepeatable: true, help: "Put an image into the prompt of a model that sees.")
}

/// How long the model thinks.
enum ReasoningOption {
    static func read(_ arguments: Arguments) throws(UsageError) -> ContextOptions {
        switch arguments["--reasoning"] {
        case nil: ContextOptions()
        case "none": ContextOptions(reasoningLevel: .custom("none"))
        case "light": ContextOptions(reasoningLevel: .light)
        case "moderate": ContextOptions(reasoningLevel: .moderate)
        case "deep": ContextOptions(reasoningLevel: .deep)
        case let level?: throw UsageError("--reasoning takes none, light, moderate or deep, not '\(level)'")
        }
    }
}

/// The options that say how the next token is chosen, and how many there may be.
package enum SamplingOptions {
    static let options: [Command.Option] = [
        .init("--temperature", value: "NUMBER", help: "How freely the model chooses: 0 for the likeliest, up to 2."),
        .init(
            "--top-p", value: "NUMBER", help: "Choose among the likeliest tokens that together have this probability."),
        .init("--top-k", value: "COUNT", help: "Choose among this many of the likeliest tokens."),
        .init("--greedy", help: "Always take the likeliest token."),
        .init("--seed", value: "NUMBER", help: "Choose the same way every time; goes with --top-p or --top-k."),
        .init("--max-tokens", value: "COUNT", help: "End the answer after this many tokens."),
    ]

    package static func read(_ arguments: Arguments) throws(UsageError) -> GenerationOptions {
        try arguments.requireAtMostOne(of: "--top-p", "--top-k")
        var seed: UInt64?
        if let text = arguments["--seed"] {
            guard let value = UInt64(text) else {
                throw UsageError("--seed takes a whole number from 0 to \(UInt64.max), not '\(text)'")
            }
            seed = value
        }
        var options = GenerationOptions()
        options.temperature = try arguments.number("--temperature", in: 0...2)
        if arguments.has("--greedy"), let temperature = options.temperature, temperature > 0 {
            throw UsageError("--greedy always takes the likeliest token; it goes with no --temperature but 0")
        }
        let likeliest = arguments.has("--greedy") ? "--greedy" : options.temperature == 0 ? "--temperature 0" : nil
        if let likeliest, let other = ["--top-p", "--top-k", "--seed"].first(where: arguments.has) {
            throw UsageError("\(likeliest) always takes the likeliest token; it goes with no \(other)")
        }
        options.maximumResponseTokens = try arguments.integer("--max-tokens", in: 1...Int.max)
        if arguments.has("--greedy") {
            options.samplingMode = .greedy
        } else if let k = try arguments.integer("--top-k", in: 1...Int.max) {
            options.samplingMode = .random(top: k, seed: seed)
        } else if let p = try arguments.number("--top-p", in: 0...1) {
            options.samplingMode = .random(probabilityThreshold: p, seed: seed)
        } else if let seed {
            // All of the distribution, as without a mode, but from the seed.
            options.samplingMode = .random(probabilityThreshold: 1, seed: seed)
        }
        return options
    }
}
