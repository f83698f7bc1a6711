import Inference
import Tokenizers

/// How a model is brought to call tools.
package enum ToolCallingStrategy: String, Sendable {
    /// In the form that its chat template shows, of its own accord.
    case dialect
    /// By asking it to choose among the tools and none, and then for the arguments. The way for models whose template shows no form
    /// that can be read, too.
    case choice
}

/// What is known of a model and its weights do not say.
struct ModelFacts: Sendable {
    /// Codes of the languages that the model was made for.
    var languages: [String]
    var toolCalling: ToolCallingStrategy
    /// Whether its chat template makes it think in tags.
    var reasons: Bool

    private struct Family {
        /// What the name of a model of the family begins with.
        var name: String
        var languages: [String]
        var toolCalling = ToolCallingStrategy.dialect
    }

    /// Languages are those that the publishers name in the model cards. A model keeps to the dialect of its template unless the figure
    /// `function-calling` shows that choosing does better: Qwen2.5 Coder writes bare or fenced JSON, and tools that it was not given.
    private static let families = [
        Family(
            name: "granite-3", languages: ["en", "de", "es", "fr", "ja", "pt", "ar", "cs", "it", "ko", "nl", "zh"]),
        Family(name: "lfm2", languages: ["en", "ar", "zh", "fr", "de", "ja", "ko", "es"]),
        Family(name: "llama-3", languages: ["en", "de", "fr", "it", "pt", "hi", "es", "th"]),
        Family(name: "meta-llama-3", languages: ["en", "de", "fr", "it", "pt", "hi", "es", "th"]),
        Family(name: "ministral", languages: ["en", "fr", "de", "es", "it", "pt", "zh", "ja", "ru", "ko"]),
        Family(name: "mistral-nemo", languages: ["en", "fr", "de", "es", "it", "pt", "ru", "zh", "ja"]),
        Family(name: "qwen2.5-coder", languages: qwen2, toolCalling: .choice),
        Family(name: "qwen2", languages: qwen2),
        Family(name: "qwen3", languages: qwen2 + ["id", "tr", "pl", "nl", "hi"]),
        Family(name: "smollm3", languages: ["en", "fr", "es", "de", "it", "pt"]),
    ]
    private static let qwen2 = ["en", "zh", "fr", "es", "pt", "de", "it", "ru", "ja", "ko", "vi", "th", "ar"]

    /// - Parameter metadata: That of the model's file. The languages that it lists are believed; of a model of an unknown family whose
    ///   file lists none, only English is assumed, the one language that every published model reads.
    init(_ metadata: [String: GGUFValue]) {
        let names = ["general.basename", "general.name", "general.architecture"].compactMap { key in
            metadata[key]?.stringValue?.lowercased().replacing(" ", with: "-")
        }
        let family = Self.families.first { family in names.contains { $0.hasPrefix(family.name) } }
        var listed: [String] = []
        if let codes = metadata["general.languages"]?.stringsValue {
            listed = (0..<codes.count).map { codes.text(at: $0) }.filter { !$0.isEmpty }
        }
        languages = listed.isEmpty ? family?.languages ?? ["en"] : listed
        toolCalling = family?.toolCalling ?? .dialect
        reasons = metadata["tokenizer.chat_template"]?.stringValue.flatMap(ChatThinking.init(template:)) != nil
    }
}
