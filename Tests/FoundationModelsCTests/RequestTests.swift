import CFoundationModels
import Foundation
import Testing

/// Requests of the model that the tests have.
@Suite(.serialized) struct RequestTests {
    private let session = FMLanguageModelSessionCreateFromSystemLanguageModel(nil, "Answer briefly.", nil, 0)

    private static let short =
        "{\"temperature\": 0, \"maximum_response_tokens\": 8, \"sampling\": {\"mode\": \"greedy\"}}"

    @Test func anAnswerComesOnce() async throws {
        let waiter = Waiter()
        let prompt = prompt("What is the capital of France?")
        let task = FMLanguageModelSessionRespond(session, prompt, Self.short, waiter.pointer, noteText)
        #expect(FMLanguageModelSessionIsResponding(session))
        // Nothing that the caller made is needed any more.
        FMRelease(prompt)
        FMRelease(task)
        let outcome = try #require(await waiter.wait())
        #expect(outcome.status == 0 && outcome.text?.isEmpty == false)
        #expect(!FMLanguageModelSessionIsResponding(session))
        let transcript = reporting { FMLanguageModelSessionGetTranscriptJSONString(session, $0, $1) }
        #expect(taken(transcript.value)?.contains("capital of France") == true)
        #expect(waiter.all.count == 1)
        FMRelease(session)
    }

    @Test func typedAnswersFollowTheirSchema() async throws {
        let waiter = Waiter()
        let prompt = prompt("A cat.")
        let schema = FMGenerationSchemaCreate("Cat", nil)
        let property = FMGenerationSchemaPropertyCreate("age", nil, "integer", false)
        FMGenerationSchemaPropertyAddRangeGuide(property, 3, 9, false)
        FMGenerationSchemaAddProperty(schema, property)
        let task = FMLanguageModelSessionRespondWithSchema(session, prompt, schema, nil, waiter.pointer, noteContent)
        let outcome = try #require(await waiter.wait())
        #expect(outcome.status == 0)
        let age = try JSONDecoder().decode([String: Int].self, from: Data((outcome.text ?? "").utf8))["age"]
        #expect(age.map((3...9).contains) == true)

        let json = reporting { FMGenerationSchemaGetJSONString(schema, $0, $1) }
        let again = Waiter()
        let second = FMLanguageModelSessionRespondWithSchemaFromJSON(
            session, prompt, json.value, nil, again.pointer, noteContent)
        FMFreeString(json.value)
        #expect(try #require(await again.wait()).status == 0)
        for handle in [task, second, property, schema, prompt, session] { FMRelease(handle) }
    }

    @Test func aStreamShowsMoreAndMoreAndEnds() async throws {
        let waiter = Waiter()
        let prompt = prompt("Count to five.")
        let stream = FMLanguageModelSessionStreamResponse(session, prompt, Self.short)
        FMLanguageModelSessionResponseStreamIterate(stream, waiter.pointer, noteText)
        let last = try #require(await waiter.wait { $0.text == nil })
        #expect(last.status == 0)
        let snapshots = waiter.all.dropLast().compactMap(\.text)
        #expect(!snapshots.isEmpty)
        for (earlier, later) in zip(snapshots, snapshots.dropFirst()) { #expect(later.hasPrefix(earlier)) }
        for handle in [stream, prompt, session] { FMRelease(handle) }
    }

    @Test func cancellingEndsARequest() async throws {
        let waiter = Waiter()
        let prompt = prompt("Write a very long story.")
        let task = FMLanguageModelSessionRespond(session, prompt, nil, waiter.pointer, noteText)
        FMTaskCancel(task)
        FMTaskCancel(task)
        let outcome = try #require(await waiter.wait())
        #expect(outcome.status == 255)
        FMLanguageModelSessionReset(session)
        #expect(!FMLanguageModelSessionIsResponding(session))
        for handle in [task, prompt, session] { FMRelease(handle) }
    }

    @Test func releasingAStreamCancelsIt() async throws {
        let waiter = Waiter()
        let prompt = prompt("Write a very long story.")
        let stream = FMLanguageModelSessionStreamResponse(session, prompt, nil)
        FMLanguageModelSessionResponseStreamIterate(stream, waiter.pointer, noteText)
        FMRelease(stream)
        #expect(try #require(await waiter.wait { $0.status != 0 }).status == 255)
        FMRelease(prompt)
        FMRelease(session)
    }

    @Test func twoAtOnceAreOneTooMany() async throws {
        let (first, second) = (Waiter(), Waiter())
        let prompt = prompt("Write a very long story.")
        let task = FMLanguageModelSessionRespond(session, prompt, nil, first.pointer, noteText)
        let other = FMLanguageModelSessionRespond(session, prompt, nil, second.pointer, noteText)
        #expect(try #require(await second.wait()).status == 8)
        FMTaskCancel(task)
        #expect(await first.wait() != nil)
        for handle in [task, other, prompt, session] { FMRelease(handle) }
    }

    /// What is wrong with the arguments is told by the callback, like any error.
    @Test(
        arguments: [
            ("[]", 11), ("{", 11), ("{\"temprature\": 1}", 11), ("{\"temperature\": \"hot\"}", 11),
            ("{\"temperature\": true}", 11), ("{\"temperature\": -1}", 11), ("{\"maximum_response_tokens\": 0}", 11),
            ("{\"maximum_response_tokens\": 99999999999999999999}", 11), ("{\"sampling\": \"greedy\"}", 11),
            ("{\"sampling\": {\"mode\": \"best\"}}", 11), ("{\"sampling\": {\"mode\": \"greedy\", \"top_k\": 3}}", 11),
            ("{\"sampling\": {\"mode\": \"random\", \"top_k\": 3, \"top_p\": 0.5}}", 11),
            ("{\"sampling\": {\"mode\": \"random\", \"top_k\": 0}}", 11),
        ] as [(String, Int32)]) func badOptions(_ json: String, _ status: Int32) async throws
    {
        let waiter = Waiter()
        let prompt = prompt("Hello")
        let task = FMLanguageModelSessionRespond(session, prompt, json, waiter.pointer, noteText)
        let outcome = try #require(await waiter.wait())
        #expect(outcome.status == status && outcome.text?.isEmpty == false, "\(json): \(outcome)")
        let stream = FMLanguageModelSessionStreamResponse(session, prompt, json)
        let streamed = Waiter()
        FMLanguageModelSessionResponseStreamIterate(stream, streamed.pointer, noteText)
        #expect(try #require(await streamed.wait()).status == status)
        for handle in [task, stream, prompt, session] { FMRelease(handle) }
    }

    @Test func numbersOfOptionsMayBeText() async throws {
        let waiter = Waiter()
        let prompt = prompt("Hello")
        let json =
            "{\"maximum_response_tokens\": 4, \"sampling\": {\"mode\": \"random\", \"top_k\": \"5\", \"seed\": \"42\"}}"
        let task = FMLanguageModelSessionRespond(session, prompt, json, waiter.pointer, noteText)
        #expect(try #require(await waiter.wait()).status == 0)
        for handle in [task, prompt, session] { FMRelease(handle) }
    }

    @Test func badArgumentsAreTold() async throws {
        let good = prompt("Hello")
        let bad = FMComposedPromptInitialize()
        FMComposedPromptAddText(bad, notUTF8)
        FMComposedPromptAddText(bad, "and more")
        let empty = FMComposedPromptInitialize()
        FMComposedPromptAddText(empty, nil)
        for (session, prompt) in [
            (nil, good), (stranger, good), (session, nil), (session, bad), (session, empty), (good, good),
        ] {
            let waiter = Waiter()
            let task = FMLanguageModelSessionRespond(session, prompt, nil, waiter.pointer, noteText)
            #expect(try #require(await waiter.wait()).status == 11)
            let counted = Waiter()
            let count = FMSystemLanguageModelTokenCountForPrompt(session, prompt, counted.pointer, noteCount)
            #expect(try #require(await counted.wait()).status == 11)
            FMRelease(task)
            FMRelease(count)
        }
        for schema in [nil, notUTF8, Array("text".utf8CString), Array("\"text\"".utf8CString)] as [[CChar]?] {
            let waiter = Waiter()
            let task = FMLanguageModelSessionRespondWithSchemaFromJSON(
                session, good, schema, nil, waiter.pointer, noteContent)
            #expect(try #require(await waiter.wait()).status == 11)
            FMRelease(task)
        }
        #expect(FMLanguageModelSessionRespond(session, good, nil, nil, nil) == nil)
        for handle in [good, bad, empty, session] { FMRelease(handle) }
    }

    @Test func tokensAreCounted() async throws {
        let model = FMSystemLanguageModelGetDefault()
        let prompt = prompt("Hello, world")
        let schema = FMGenerationSchemaCreate("Thing", nil)
        let waiters = (0..<5).map { _ in Waiter() }
        let tasks = [
            FMSystemLanguageModelTokenCountForPrompt(model, prompt, waiters[0].pointer, noteCount),
            FMSystemLanguageModelTokenCountForInstructions(model, "Hello, world", waiters[1].pointer, noteCount),
            FMSystemLanguageModelTokenCountForSchema(model, schema, waiters[2].pointer, noteCount),
            FMSystemLanguageModelTokenCountForTranscript(model, session, waiters[3].pointer, noteCount),
            FMSystemLanguageModelTokenCountForTools(model, nil, 0, waiters[4].pointer, noteCount),
        ]
        for (number, waiter) in waiters.enumerated() {
            let outcome = try #require(await waiter.wait())
            #expect(outcome.status == 0 && (number == 4) == (outcome.count == 0), "\(number): \(outcome)")
        }
        for handle in tasks + [model, prompt, schema, session] { FMRelease(handle) }
    }

    @Test func imagesNeedAModelThatReadsThem() {
        let prompt = FMComposedPromptInitialize()
        var error = FMComposedPromptAddImageErrorNone
        #expect(!FMComposedPromptAddImage(prompt, "/no/such/image.png", &error))
        #expect(error == FMComposedPromptAddImageErrorUnknown)
        #expect(!FMComposedPromptAddAttachment(prompt, #filePath, "label", &error))
        #expect(error == FMComposedPromptAddImageErrorUnsupportedOS)
        #expect(!FMComposedPromptAddIdentifiedImage(prompt, #filePath, nil, &error))
        #expect(error == FMComposedPromptAddImageErrorUnknown)
        FMRelease(prompt)
        FMRelease(session)
    }
}
