import Foundation
import FoundationModels
import FoundationModelsTesting
import JSON
import Testing

@Suite struct FeedbackTests {
    @Test func feedbackIsJSONWithTheTranscript() async throws {
        let session = LanguageModelSession(model: ScriptedLanguageModel(alwaysAnswering: "no"))
        try await session.respond(to: "Hi")
        let data = session.logFeedbackAttachment(
            sentiment: .negative,
            issues: LanguageModelFeedback.Issue.Category.allCases.map { .init(category: $0, explanation: "because") },
            desiredResponseText: "yes")
        let feedback = try JSONValue(parsing: Array(data))
        #expect(feedback["sentiment"]?.stringValue == "negative")
        #expect(feedback["issues"]?.arrayValue?.count == 8)
        #expect(feedback["issues"]?.arrayValue?.first?["category"]?.stringValue == "unhelpful")
        #expect(feedback["transcript"]?["type"]?.stringValue == "FoundationModels.Transcript")
        #expect(feedback["transcript"]?["transcript"]?["entries"]?.arrayValue?.count == 2)
        let desired = feedback["desiredOutput"]?["transcript"]?["entries"]?.arrayValue?.first
        #expect(desired?["contents"]?.arrayValue?.first?["text"]?.stringValue == "yes")
        #expect(!session.isResponding)
    }

    @Test func aDesiredValueIsAStructure() throws {
        let session = LanguageModelSession(model: ScriptedLanguageModel(alwaysAnswering: "no"))
        let data = session.logFeedbackAttachment(
            sentiment: nil, desiredResponseContent: Recipe(name: "a", steps: [], minutes: 1))
        let feedback = try JSONValue(parsing: Array(data))
        #expect(feedback["sentiment"] == nil)
        let segment = feedback["desiredOutput"]?["transcript"]?["entries"]?.arrayValue?.first?["contents"]?.arrayValue?
            .first
        #expect(segment?["structure"]?["source"]?.stringValue == "Recipe")
        #expect(segment?["structure"]?["content"]?["minutes"]?.numberValue?.intValue == 1)
    }
}
