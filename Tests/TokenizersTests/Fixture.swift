import Foundation
import JSON
import Tokenizers

/// The toy vocabularies of `Fixtures/tokenizers.json`, and what reference implementations make of its texts.
enum Fixture {
    static let file: JSONValue = {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixtures/tokenizers.json")
        do { return try JSONValue(parsing: Array(Data(contentsOf: url))) } catch { fatalError("\(url.path): \(error)") }
    }()

    static let texts = strings(file["texts"])

    static func strings(_ value: JSONValue?) -> [String] { value?.arrayValue?.compactMap(\.stringValue) ?? [] }

    static func numbers(_ value: JSONValue?) -> [Int] {
        value?.arrayValue?.compactMap { $0.numberValue?.intValue } ?? []
    }

    static func ids(_ name: String) -> [[TokenID]] {
        file[name]?["ids"]?.arrayValue?.map { numbers($0).map { TokenID($0) } } ?? []
    }

    /// The byte-level toy, with `controls` and `userDefined` tokens after those of the file.
    static func byteLevel(
        preTokenizer: String = "qwen2", controls: [String] = [], userDefined: [String] = []
    ) -> TokenizerDescription {
        let tokens = strings(file["byteLevel"]?["tokens"])
        return TokenizerDescription(
            model: .byteLevelBPE(preTokenizer: preTokenizer), tokens: StringTable(tokens + controls + userDefined),
            types: tokens.map { _ in TokenType.normal.rawValue } + controls.map { _ in TokenType.control.rawValue }
                + userDefined.map { _ in TokenType.userDefined.rawValue },
            merges: StringTable(strings(file["byteLevel"]?["merges"])))
    }

    /// - Parameter name: `wordPiece` or `casedWordPiece`.
    static func wordPiece(_ name: String) -> TokenizerDescription {
        let toy = file[name]
        return TokenizerDescription(
            model: .wordPiece(lowercases: name == "wordPiece", stripsAccents: name == "wordPiece"),
            tokens: StringTable(strings(toy?["tokens"])), types: numbers(toy?["types"]).map { Int32($0) },
            bosToken: 2, eosToken: 3, unknownToken: 1)
    }

    static func sentencePiece() -> TokenizerDescription {
        let toy = file["sentencePiece"]
        return TokenizerDescription(
            model: .sentencePiece, tokens: StringTable(strings(toy?["tokens"])),
            scores: toy?["scores"]?.arrayValue?.compactMap { $0.numberValue.map { Float($0.doubleValue) } } ?? [],
            types: numbers(toy?["types"]).map { Int32($0) })
    }
}
