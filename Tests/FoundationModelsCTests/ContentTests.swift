import CFoundationModels
import Testing

@Suite struct ContentTests {
    @Test func propertiesAreTextOrJSON() {
        let content = FMGeneratedContentCreateFromJSON("{\"name\": \"Ada\", \"age\": 36, \"tags\": [\"a\"]}", nil, nil)
        for (name, expected) in [("name", "Ada"), ("age", "36"), ("tags", "[\"a\"]")] {
            let found = reporting { FMGeneratedContentGetPropertyValue(content, name, $0, $1) }
            #expect(taken(found.value) == expected)
            #expect(found.status == 0 && found.text == nil)
        }
        for bad in [Array("height".utf8CString), notUTF8] {
            let found = reporting { FMGeneratedContentGetPropertyValue(content, bad, $0, $1) }
            #expect(found.value == nil && found.status != 0 && found.text?.isEmpty == false)
        }
        #expect(reporting { FMGeneratedContentGetPropertyValue(content, nil, $0, $1) }.status == 11)
        FMRelease(content)
    }

    @Test func textThatBreaksOffIsNotComplete() {
        let content = FMGeneratedContentCreateFromJSON("{\"name\": \"Ad", nil, nil)
        #expect(content != nil && !FMGeneratedContentIsComplete(content))
        FMRelease(content)
    }

    @Test func whatIsNoJSONIsRefused() {
        for bad in [Array("}{".utf8CString), Array("".utf8CString), notUTF8] {
            let found = reporting { FMGeneratedContentCreateFromJSON(bad, $0, $1) }
            #expect(found.value == nil && found.status != 0 && found.text?.isEmpty == false)
        }
        #expect(reporting { FMGeneratedContentCreateFromJSON(nil, $0, $1) }.status == 11)
        // Nobody has to ask for the error.
        #expect(FMGeneratedContentCreateFromJSON(nil, nil, nil) == nil)
    }

    @Test func transcripts() {
        let json = """
            {"version": 1, "type": "FoundationModels.Transcript", "transcript": {"entries": [
            {"role": "user", "id": "1", "contents": [{"type": "text", "text": "Hello", "id": "2"}]}]}}
            """
        let made = reporting { FMTranscriptCreateFromJSONString(json, $0, $1) }
        #expect(made.status == 0)
        let session = FMLanguageModelSessionCreateFromTranscript(made.value, nil, nil, 0)
        let found = reporting { FMLanguageModelSessionGetTranscriptJSONString(session, $0, $1) }
        #expect(taken(found.value)?.contains("Hello") == true)
        FMRelease(session)
        FMRelease(made.value)
        for bad in ["{}", "not JSON", "{\"version\": 1, \"type\": \"FoundationModels.Transcript\"}"] {
            let found = reporting { FMTranscriptCreateFromJSONString(bad, $0, $1) }
            #expect(found.value == nil && found.status == 6)
            #expect(found.text?.contains("transcript") == true)
        }
        #expect(reporting { FMTranscriptCreateFromJSONString(notUTF8, $0, $1) }.status == 11)
    }
}
