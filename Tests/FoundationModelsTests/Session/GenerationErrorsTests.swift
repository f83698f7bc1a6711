import Foundation
import FoundationModels
import FoundationModelsTesting
import Testing

/// Which errors a session throws: those of the second generation, or with the trait `GenerationErrors` those of the first. The same tests
/// hold in both builds.
@Suite struct GenerationErrorsTests {
    /// Whether the package was built with the trait.
    private static var isFirstGeneration: Bool {
        #if GenerationErrors
        true
        #else
        false
        #endif
    }

    private static let errors: [(name: String, error: any Error)] = [
        (
            "exceededContextWindowSize",
            LanguageModelError.contextSizeExceeded(.init(contextSize: 1, tokenCount: 2, debugDescription: "x"))
        ),
        (
            "assetsUnavailable", SystemLanguageModel.Error.assetsUnavailable(.init(debugDescription: "x"))
        ),
        ("guardrailViolation", LanguageModelError.guardrailViolation(.init(debugDescription: "x"))),
        (
            "unsupportedGuide",
            LanguageModelError.unsupportedGenerationGuide(.init(schemaName: "S", debugDescription: "x"))
        ),
        (
            "unsupportedLanguageOrLocale",
            LanguageModelError.unsupportedLanguageOrLocale(
                .init(languageCode: Locale.LanguageCode("am"), debugDescription: "x"))
        ),
        (
            "decodingFailure",
            GeneratedContent.ParsingError(rawContent: "{", debugDescription: "x")
        ),
        ("rateLimited", LanguageModelError.rateLimited(.init(resetDate: nil, debugDescription: "x"))),
        ("refusal", LanguageModelError.refusal(.init(explanation: "no", debugDescription: "x"))),
    ]

    /// The case of a first generation's error.
    private static func name(of error: LanguageModelSession.GenerationError) -> String {
        switch error {
        case .exceededContextWindowSize: "exceededContextWindowSize"
        case .assetsUnavailable: "assetsUnavailable"
        case .guardrailViolation: "guardrailViolation"
        case .unsupportedGuide: "unsupportedGuide"
        case .unsupportedLanguageOrLocale: "unsupportedLanguageOrLocale"
        case .decodingFailure: "decodingFailure"
        case .rateLimited: "rateLimited"
        case .concurrentRequests: "concurrentRequests"
        case .refusal: "refusal"
        }
    }

    @Test(arguments: errors.indices) func everyFailureIsOfTheGenerationOfTheBuild(_ index: Int) async throws {
        let (name, error) = Self.errors[index]
        let model = ScriptedLanguageModel { _, _ in [.text("a"), .fail(error)] }
        for streams in [false, true] {
            let session = LanguageModelSession(model: model)
            do {
                if streams {
                    for try await _ in session.streamResponse(to: "Hi") {}
                } else {
                    try await session.respond(to: "Hi")
                }
                Issue.record("no error")
            } catch let error as LanguageModelSession.GenerationError {
                #expect(Self.isFirstGeneration && Self.name(of: error) == name)
                #expect(error.failureReason == "x" && error.errorDescription != nil && error.recoverySuggestion != nil)
            } catch let thrown {
                #expect(!Self.isFirstGeneration && type(of: thrown) == type(of: error), "\(thrown)")
            }
            #expect(session.transcript.isEmpty)
        }
        let translated = try #require(LanguageModelSession.GenerationError(translating: error))
        #expect(Self.name(of: translated) == name)
    }

    @Test func aSecondRequestIsOfTheGenerationOfTheBuild() async throws {
        let session = LanguageModelSession(model: ScriptedLanguageModel { _, _ in [.waitForCancellation] })
        let first = Task { try await session.respond(to: "Hi").content }
        #expect(await eventually { session.isResponding })
        do {
            try await session.respond(to: "Ho")
            Issue.record("no error")
        } catch LanguageModelSession.GenerationError.concurrentRequests {
            #expect(Self.isFirstGeneration)
        } catch LanguageModelSession.Error.concurrentRequests {
            #expect(!Self.isFirstGeneration)
        }
        first.cancel()
        _ = await first.result
    }

    @Test func otherErrorsAreOfNoGeneration() async throws {
        let session = LanguageModelSession(
            model: ScriptedLanguageModel { _, _ in [.toolCall("echo", arguments: #"{"text": "a"}"#)] },
            tools: [EchoTool { _ in throw Fault() }])
        await #expect(throws: LanguageModelSession.ToolCallError.self) { try await session.respond(to: "Hi") }
        let broken = LanguageModelSession(model: ScriptedLanguageModel { _, _ in [.fail(Fault())] })
        await #expect(throws: Fault()) { try await broken.respond(to: "Hi") }
    }
}
