import Inference
import Tokenizers

/// The languages that a model was made for.
///
/// A file that lists them (`general.languages`) is believed. For the families whose files do not, the table has what their
/// publishers say in the model cards. Of all others only English is assumed, the one language that every published model reads.
enum ModelLanguages {
    private static let families: [(name: String, languages: [String])] = [
        ("granite-3", ["en", "de", "es", "fr", "ja", "pt", "ar", "cs", "it", "ko", "nl", "zh"]),
        ("lfm2", ["en", "ar", "zh", "fr", "de", "ja", "ko", "es"]),
        ("llama-3", ["en", "de", "fr", "it", "pt", "hi", "es", "th"]),
        ("meta-llama-3", ["en", "de", "fr", "it", "pt", "hi", "es", "th"]),
        ("ministral", ["en", "fr", "de", "es", "it", "pt", "zh", "ja", "ru", "ko"]),
        ("mistral-nemo", ["en", "fr", "de", "es", "it", "pt", "ru", "zh", "ja"]),
        ("qwen2", ["en", "zh", "fr", "es", "pt", "de", "it", "ru", "ja", "ko", "vi", "th", "ar"]),
        (
            "qwen3",
            [
                "en", "zh", "fr", "es", "pt", "de", "it", "ru", "ja", "ko", "vi", "th", "ar", "id", "tr", "pl", "nl",
                "hi",
            ]
        ),
        ("smollm3", ["en", "fr", "es", "de", "it", "pt"]),
    ]

    /// - Parameter metadata: That of the model's file.
    static func codes(_ metadata: [String: GGUFValue]) -> [String] {
        if let listed = metadata["general.languages"]?.stringsValue {
            let codes = (0..<listed.count).map { listed.text(at: $0) }.filter { !$0.isEmpty }
            if !codes.isEmpty { return codes }
        }
        let names = ["general.basename", "general.name", "general.architecture"].compactMap { key in
            metadata[key]?.stringValue?.lowercased().replacing(" ", with: "-")
        }
        let family = families.first { family in names.contains { $0.hasPrefix(family.name) } }
        return family?.languages ?? ["en"]
    }
}
