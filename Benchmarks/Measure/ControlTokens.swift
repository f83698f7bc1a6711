import Foundation
import Inference
import JSON
import Tokenizers

/// `control-tokens MODEL`: conversations whose texts spell the model's control tokens, each token by itself, through the
/// model's own chat template.
///
/// Prints one JSON object: `tokens` and `prompts`, how many there were; `made`, control tokens that came from texts; `lost`,
/// ones that the template says and that were not found; `changedTexts`, prompts whose tokens do not spell them; `changedIds`,
/// 1 if the marks change the tokens of a conversation that spells none.
func controlTokens(_ arguments: [String]) async throws {
    guard arguments.count == 1 else { throw MeasureError.usage("control-tokens MODEL") }
    let file = try GGUFFile(URL(fileURLWithPath: arguments[0]))
    let tokenizer = try Tokenizer(file.tokenizerDescription())
    let template = try ChatTemplate(file, tokenizer: tokenizer)

    func conversation(_ word: String) -> [ChatMessage] {
        [
            ChatMessage(.system, "Be\(word)brief."), ChatMessage(.user, "\(word)Hello \(word)\n\(word)"),
            ChatMessage(.assistant, word), ChatMessage(.user, "again\(word)"),
        ]
    }
    func controls(_ tokens: [TokenID]) -> [TokenID] { tokens.filter(tokenizer.isControl) }

    let harmless = try template.render(conversation(" word "))
    let harmlessTokens = try template.tokens(of: conversation(" word "), tokenizer: tokenizer)
    let expected = controls(harmlessTokens)
    let whole = tokenizer.encode(
        harmless.text, parsesSpecial: true, addsBOS: harmlessTokens.first == tokenizer.bosToken)

    var (count, prompts, made, lost, changed) = (0, 0, 0, 0, 0)
    for token in 0..<TokenID(tokenizer.count) where tokenizer.isControl(token) {
        guard let name = tokenizer.name(of: token), !name.isEmpty else { continue }
        count += 1
        let messages = conversation(name)
        // Templates may refuse a text, or act on one such as `</think>`; what they make of it is theirs.
        guard let prompt = try? template.render(messages),
            let tokens = try? template.tokens(of: messages, tokenizer: tokenizer)
        else { continue }
        prompts += 1
        let found = controls(tokens)
        made += max(0, found.count - expected.count)
        lost += max(0, expected.count - found.count)
        let text = tokenizer.decode(tokens, skipsSpecial: false)
        let begin = tokenizer.bosToken.flatMap(tokenizer.name) ?? ""
        if !text.utf8.elementsEqual(prompt.text.utf8), !text.utf8.elementsEqual((begin + prompt.text).utf8) {
            changed += 1
        }
    }
    let result: JSONValue = [
        "tokens": .number(JSONNumber(count)), "prompts": .number(JSONNumber(prompts)),
        "made": .number(JSONNumber(made)),
        "lost": .number(JSONNumber(lost)), "changedTexts": .number(JSONNumber(changed)),
        "changedIds": .number(JSONNumber(whole == harmlessTokens ? 0 : 1)),
    ]
    print(result.text())
}
