import FoundationModels
import Testing

@Generable
struct Recipe {
    @Guide(description: "What it is called")
    var name: String
    @Guide(.count(1...3))
    var steps: [Step]
    var course: Course?

    @Generable
    struct Step {
        var text: String
    }

    @Generable
    enum Course: String {
        case starter, main = "main course"
    }
}

@Generable
enum Reply {
    case recipe(Recipe)
    case refusal(reason: String)
}

/// Reads values away from the main actor, as the framework does.
nonisolated func read<Value: Generable & Sendable>(_ type: Value.Type, _ json: String) async throws -> Value {
    try await Task.detached { try Value(GeneratedContent(json: json)) }.value
}

@Suite("Types of a program on the main actor")
struct GenerableOnMainActorTests {
    @Test("are read and described away from it")
    func readAway() async throws {
        let recipe = try await read(
            Recipe.self, #"{"name": "Soup", "steps": [{"text": "Boil."}], "course": "main course"}"#)
        #expect(recipe.name == "Soup")
        #expect(recipe.steps.map(\.text) == ["Boil."])
        #expect(recipe.course == .main)
        let reply = try await read(Reply.self, #"{"type": "refusal", "reason": "Salt."}"#)
        guard case .refusal("Salt.") = reply else {
            Issue.record("\(reply)")
            return
        }
        let schema = await Task.detached { Recipe.generationSchema.debugDescription }.value
        #expect(schema.contains("main course"))
    }
}
