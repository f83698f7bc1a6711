import CFoundationModels
import Testing

@Suite struct HandleTests {
    @Test func aHandleLivesAsLongAsItsReferences() {
        let content = FMGeneratedContentCreateFromJSON("{\"a\": 1}", nil, nil)
        FMRetain(content)
        FMRelease(content)
        #expect(taken(FMGeneratedContentGetJSONString(content)) == "{\"a\": 1}")
        FMRelease(content)
        #expect(FMGeneratedContentGetJSONString(content) == nil)
    }

    @Test func aHandleThatIsReleasedTooOftenHarmsNoOther() {
        let first = FMComposedPromptInitialize()
        FMRelease(first)
        let second = FMGeneratedContentCreateFromJSON("[]", nil, nil)
        FMRelease(first)
        FMRelease(first)
        #expect(first != second)
        #expect(FMGeneratedContentIsComplete(second))
        FMRelease(second)
    }

    @Test func whatIsNoHandleIsRefused() {
        for bad in [nil, stranger] {
            FMRetain(bad)
            FMRelease(bad)
            FMTaskCancel(bad)
            FMLanguageModelSessionReset(bad)
            FMComposedPromptAddText(bad, "text")
            FMBridgedToolFinishCall(bad, 1, "output")
            FMGenerationSchemaAddProperty(bad, bad)
            FMGenerationSchemaAddReferenceSchema(bad, bad)
            FMGenerationSchemaPropertyAddRegex(bad, "a", false)
            var reason = FMSystemLanguageModelUnavailableReasonModelNotReady
            #expect(!FMSystemLanguageModelIsAvailable(bad, &reason))
            #expect(reason == FMSystemLanguageModelUnavailableReasonUnknown)
            #expect(FMSystemLanguageModelGetContextSize(bad) == 0)
            #expect(!FMLanguageModelSessionIsResponding(bad))
            #expect(!FMGeneratedContentIsComplete(bad))
            #expect(FMLanguageModelSessionCreateFromTranscript(bad, nil, nil, 0) == nil)
            let transcript = reporting { FMLanguageModelSessionGetTranscriptJSONString(bad, $0, $1) }
            #expect(transcript.value == nil && transcript.status == 11)
            #expect(transcript.text?.contains("session") == true)
        }
    }

    @Test func handlesOfAnotherKindAreRefused() {
        let prompt = FMComposedPromptInitialize()
        let found = reporting { FMGenerationSchemaGetJSONString(prompt, $0, $1) }
        #expect(found.value == nil && found.status == 11)
        #expect(found.text == "A schema is needed; the handle is of a prompt.")
        #expect(FMLanguageModelSessionCreateFromSystemLanguageModel(prompt, nil, nil, 0) == nil)
        FMRelease(prompt)
    }

    @Test func badArgumentsOfSessionsMakeNone() {
        #expect(FMLanguageModelSessionCreateFromSystemLanguageModel(nil, notUTF8, nil, 0) == nil)
        #expect(FMLanguageModelSessionCreateFromSystemLanguageModel(nil, nil, nil, 2) == nil)
        #expect(FMLanguageModelSessionCreateFromSystemLanguageModel(nil, nil, nil, -1) == nil)
        var tools: [UnsafeRawPointer?] = [stranger]
        #expect(FMLanguageModelSessionCreateFromSystemLanguageModel(nil, nil, &tools, 1) == nil)
    }

    @Test func modelsTakeUnknownChoicesForTheFirst() {
        let model = FMSystemLanguageModelCreate(.init(rawValue: 999), .init(rawValue: 7))
        #expect(FMSystemLanguageModelGetContextSize(model) > 0)
        FMRelease(model)
    }
}
