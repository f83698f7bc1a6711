import Foundation
import FoundationModels
import JSON

/// `measure extraction MODEL DATA`: reads every text of a data file twice, once bound to its schema and once with the schema
/// only in the prompt, greedily. Prints a line of JSON with both answers for each.
func measureExtraction(_ arguments: [String]) async throws {
    guard arguments.count == 2 else { throw MeasureError.usage("extraction MODEL DATA") }
    let model = SystemLanguageModel(file: URL(fileURLWithPath: arguments[0]))
    let data = try String(contentsOfFile: arguments[1], encoding: .utf8)
    for line in data.split(separator: "\n") {
        let item = try JSONValue(parsing: String(line))
        guard let text = item["text"]?.stringValue, let document = item["schema"] else {
            throw MeasureError.usage("each line of the data has a text and a schema")
        }
        let schema = try JSONDecoder().decode(GenerationSchema.self, from: Data(document.text().utf8))
        // Both get the same instructions and read the same schema; what differs is whether the decoder obeys it.
        let instructions = "Read the fields out of the text. Copy names as the text spells them."
        let options = GenerationOptions(samplingMode: .greedy, maximumResponseTokens: 300)
        // An answer that the most tokens cut short is no value: nothing of it counts.
        var guided = "{}"
        do {
            guided = try await LanguageModelSession(model: model, instructions: instructions)
                .respond(to: text, schema: schema, options: options).rawContent.jsonString
        } catch let error as GeneratedContent.ParsingError {
            FileHandle.standardError.write(Data("\(error.debugDescription)\n".utf8))
        }
        let prompt = "\(text)\n\nAnswer with JSON that follows this schema:\n\(document.text(spaced: true))"
        let free = try await LanguageModelSession(model: model, instructions: instructions)
            .respond(to: prompt, options: options)
        let answer: JSONObject = [
            "guided": .string(guided), "free": .string(free.content),
        ]
        print(JSONValue.object(answer).text())
        fflush(nil)
    }
}
