import Foundation
import FoundationModels
import FoundationModelsUtilities

/// `measure stream-arrivals URL MODEL`: reads a streamed response of a Chat Completions server. Prints, as JSON, when each
/// snapshot came (seconds since 1970) and how many characters it had.
func measureStreamArrivals(_ arguments: [String]) async throws {
    guard arguments.count == 2, let url = URL(string: arguments[0]) else {
        throw MeasureError.usage("stream-arrivals URL MODEL")
    }
    let model = ChatCompletionsLanguageModel(name: arguments[1], url: url)
    var arrivals: [[String: Double]] = []
    for try await snapshot in LanguageModelSession(model: model).streamResponse(to: "Go") {
        arrivals.append([
            "time": Date().timeIntervalSince1970, "characters": Double(snapshot.content.count),
        ])
    }
    print(String(decoding: try JSONEncoder().encode(arrivals), as: UTF8.self))
}
