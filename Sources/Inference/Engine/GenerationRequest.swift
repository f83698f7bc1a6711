import GuidedGeneration
import Tokenizers

/// One text to generate.
package struct GenerationRequest: Sendable {
    /// The whole prompt, as the chat template and the tokenizer give it. What of it is cached is not computed again.
    package var prompt: [TokenID]
    package var sampling: Sampling
    /// The most tokens to generate; nil: until the model ends or the context is full.
    package var maximumTokens: Int?
    /// Whether the prompt is only to be computed and kept, also on the disk where the engine has a folder for that. No
    /// token is generated, and the request ends with `promptProcessed`.
    package var isPrewarm = false
    /// Whether tokens are guessed from the text so far and verified several at a time. The text is the same whatever this is.
    package var drafts = Drafts.automatic
    /// The constraint that the text must satisfy, at its beginning.
    package var matcher: Matcher?
    /// What changes the model for this text; requests with different adapters and with none run side by side.
    package var adapter: Adapter?
    /// Whether the model's own end-of-generation tokens end the text. A comparison of speeds wants a fixed length.
    package var endsAtStopTokens = true
    /// Tokens that end the text, beside the model's own. They are not part of it.
    package var stopTokens: Set<TokenID>
    /// Texts that end the text where they first stand in it. They are not part of it.
    package var stopStrings: [String]
    /// How many of the likeliest tokens are told of with each generated token; nil: no probabilities at all. Every token is
    /// then computed by itself, those that a constraint forces too.
    package var logprobCount: Int?

    package init(
        prompt: [TokenID], sampling: Sampling = .greedy, maximumTokens: Int? = nil, matcher: Matcher? = nil,
        stopTokens: Set<TokenID> = [], stopStrings: [String] = []
    ) {
        self.prompt = prompt
        self.sampling = sampling
        self.maximumTokens = maximumTokens
        self.matcher = matcher
        self.stopTokens = stopTokens
        self.stopStrings = stopStrings
    }
}

extension GenerationRequest {
    /// When guessed tokens are verified.
    package enum Drafts: Sendable {
        case never
        /// Where it saves time, as far as that can be told.
        case automatic
        /// Whenever there is a guess, for tests and measurements.
        case always
    }
}

/// What happens while a text is generated, in this order: the prompt once, texts, the end once. A request that fails
/// ends with an error instead; one that only prewarms ends after the prompt.
package enum GenerationEvent: Sendable, Equatable {
    /// The prompt's tokens, and how many of them were in the cache.
    case promptProcessed(total: Int, cached: Int)
    /// The next piece of the text, whole characters, and how many tokens have been generated since the piece before.
    case text(String, tokenCount: Int)
    /// The probabilities of the tokens of the next piece, for a request that asks for them.
    case logprobs([TokenLogprobs])
    case finished(FinishReason, usage: GenerationUsage)
}

package enum FinishReason: Sendable, Equatable {
    /// The model ended its turn.
    case endOfText
    /// One of the request's stop strings came.
    case stopString(String)
    /// The constraint is satisfied and nothing can follow.
    case constraintSatisfied
    /// The request's maximum of tokens was reached.
    case maximumTokens
}

/// The counts of a request.
package struct GenerationUsage: Sendable, Equatable {
    package var promptTokens: Int
    /// The tokens of the prompt that were in the cache.
    package var cachedTokens: Int
    /// All tokens of the text, those that a constraint forced included; not the token that ends it.
    package var generatedTokens: Int
    /// Of these, the ones that a constraint left no choice about.
    package var forcedTokens: Int

    package init(promptTokens: Int, cachedTokens: Int, generatedTokens: Int, forcedTokens: Int) {
        self.promptTokens = promptTokens
        self.cachedTokens = cachedTokens
        self.generatedTokens = generatedTokens
        self.forcedTokens = forcedTokens
    }
}
