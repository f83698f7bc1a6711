import Foundation
import FoundationModels
import FoundationModelsUtilities
import JSON
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Generable
private struct City: Equatable {
    var name: String
    @Guide(.range(1...100)) var districts: Int
}

private struct WeatherTool: Tool {
    @Generable struct Arguments {
        var city: String
        @Guide(.range(1...7)) var days: Int
    }

    let name = "getWeather"
    let description = "Gets the weather of a city."

    func call(arguments: Arguments) async throws -> String { "\(arguments.city): \(arguments.days) warm days" }
}

private struct NoParameters: Tool {
    @Generable struct Arguments {}
    let name = "now"
    let description = "Tells the time."
    func call(arguments: Arguments) async throws -> String { "noon" }
}

@Suite struct ChatCompletionsTests {
    // MARK: Text

    @Test func answers() async throws {
        let server = FaultServer { _ in ChatServer.answer("Hel", "lo.") }
        defer { server.stop() }
        let session = LanguageModelSession(model: server.model(headers: ["Authorization": "Bearer key"])) {
            "Be brief."
        }
        let response = try await session.respond(
            to: "Say hello.", options: GenerationOptions(samplingMode: .greedy, maximumResponseTokens: 9))
        #expect(response.content == "Hello.")
        #expect(response.usage.input.totalTokenCount == 20)
        #expect(response.usage.input.cachedTokenCount == 5)
        #expect(response.usage.output.totalTokenCount == 7)
        #expect(response.usage.output.reasoningTokenCount == 3)

        let request = try #require(server.requests.first)
        #expect(request.path == "/v1/chat/completions")
        #expect(request.headers["authorization"] == "Bearer key")
        let expected: JSONValue = [
            "model": "m",
            "messages": [
                ["role": "system", "content": "Be brief."], ["role": "user", "content": "Say hello."],
            ],
            "temperature": 0, "max_completion_tokens": 9, "max_tokens": 9, "stream": true,
            "stream_options": ["include_usage": true],
        ]
        #expect(request.json == expected)
    }

    @Test func R6_givesASnapshotForEachEventBeforeTheServerIsDone() async throws {
        let arrived = Flag()
        let server = FaultServer { _ in
            [ChatServer.head, ChatServer.text("a"), .pause(0.1), ChatServer.text("b"), .wait(arrived)]
                + [ChatServer.text("c"), ChatServer.finish(), ChatServer.done]
        }
        defer { server.stop() }
        let session = LanguageModelSession(model: server.model())
        var snapshots: [String] = []
        for try await snapshot in session.streamResponse(to: "Go") {
            snapshots.append(snapshot.content)
            // The rest is sent only when this has come: an answer that is collected first would wait for ever.
            if snapshot.content == "ab" { arrived.set() }
        }
        #expect(arrived.isSet)
        #expect(snapshots == ["a", "ab", "abc"])
    }

    @Test func R7_partialValuesComeBeforeTheServerIsDone() async throws {
        let arrived = Flag()
        let server = FaultServer { _ in
            [ChatServer.head, ChatServer.text("{\"name\": \"Os"), .pause(0.1), ChatServer.text("lo\", \"dist")]
                + [
                    .wait(arrived), ChatServer.text("ricts\": 1"), ChatServer.text("7}"), ChatServer.finish(),
                    ChatServer.done,
                ]
        }
        defer { server.stop() }
        let session = LanguageModelSession(model: server.model())
        var names: [String?] = []
        var last: City.PartiallyGenerated?
        for try await snapshot in session.streamResponse(to: "A city", generating: City.self) {
            names.append(snapshot.content.name)
            // The rest is sent only when the name is there and the number is not.
            if snapshot.content.name == "Oslo", snapshot.content.districts == nil { arrived.set() }
            last = snapshot.content
        }
        #expect(arrived.isSet)
        #expect(names.first == "Os")
        #expect(last?.name == "Oslo" && last?.districts == 17)
    }

    @Test func X6_requestsRunAtTheSameTime() async throws {
        let count = 4
        let begun = (0..<count).map { _ in Flag() }
        let (all, oneHasEnded, oneCameAfterwards) = (Flag(), Flag(), Flag())
        // Each answer ends only when all requests have come, so one after the other they would wait in vain.
        let server = FaultServer { request in
            if oneHasEnded.isSet { oneCameAfterwards.set() }
            begun[request.number % count].set()
            if begun.allSatisfy(\.isSet) { all.set() }
            return [ChatServer.head, ChatServer.text("a"), .wait(all), ChatServer.finish(), ChatServer.done]
        }
        defer { server.stop() }
        let model = server.model()
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<count {
                group.addTask {
                    let answer = try await LanguageModelSession(model: model).respond(to: "Go").content
                    oneHasEnded.set()
                    return answer
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: "a", count: count))
        #expect(all.isSet && !oneCameAfterwards.isSet)
    }

    @Test(arguments: [
        ("http://h", "/v1/chat/completions"), ("http://h/", "/v1/chat/completions"),
        ("http://h/v1", "/v1/chat/completions"), ("http://h/v1/", "/v1/chat/completions"),
        ("http://h/openai/v4", "/openai/v4/chat/completions"), ("http://h/api", "/api/v1/chat/completions"),
        ("http://h/v1beta/openai", "/v1beta/openai/chat/completions"),
        ("http://h/v1/chat/completions", "/v1/chat/completions"), ("http://h/vienna", "/vienna/v1/chat/completions"),
    ])
    func findsTheEndpoint(base: String, path: String) {
        let endpoint = ChatCompletionsEndpoint(modelName: "m", baseURL: URL(string: base)!)
        #expect(endpoint.url(of: "chat/completions") == "http://h\(path)")
    }

    @Test(arguments: [
        ("text/event-stream", ": ping\n\ndata:  [DONE]\n\n", ""),
        (
            "text/event-stream",
            "data: {\"choices\":[{\"delta\":{\"content\":\"A\"}}]}\ndata: {\"choices\":[{\"delta\":{\"content\":\"B\"}}]}\ndata: [DONE]",
            "AB"
        ),
        (
            "text/event-stream",
            "data: {\"choices\":[{\"delta\":{\"content\":\"A\"},\"finish_reason\":\"stop\"}]}\r\n\r\n", "A"
        ),
        (
            "application/json", "{\"choices\":[{\"message\":{\"content\":\"whole\"},\"finish_reason\":\"stop\"}]}",
            "whole"
        ),
        (
            "text/event-stream",
            "data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"part\"}]}}]}\n\ndata: [DONE]\n\n",
            "part"
        ),
    ])
    func readsWhatServersSend(type: String, body: String, text: String) async throws {
        let server = FaultServer { _ in ChatServer.status("200 OK", body, ["Content-Type": type]) }
        defer { server.stop() }
        let session = LanguageModelSession(model: server.model())
        var last = ""
        for try await snapshot in session.streamResponse(to: "Go") { last = snapshot.content }
        #expect(last == text)
    }

    // MARK: The conversation

    @Test func sendsTheWholeConversation() async throws {
        let server = FaultServer { request in
            request.number == 0
                ? [ChatServer.head, ChatServer.chunk(["reasoning_content": "Look it up."])]
                    + ChatServer.call("getWeather", ["{\"city\": \"Os", "lo\", \"days\": 3}"])
                    + [ChatServer.finish("tool_calls"), ChatServer.usage, ChatServer.done]
                : ChatServer.answer("Warm.")
        }
        defer { server.stop() }
        let session = LanguageModelSession(model: server.model(), tools: [WeatherTool()])
        let response = try await session.respond(
            to: "How warm is Oslo?", contextOptions: ContextOptions(reasoningLevel: .moderate))
        #expect(response.content == "Warm.")
        try await session.respond(to: "Sure?")
        // What is said here does not matter: the server calls no tool, and that is the model's business.
        try await session.respond(to: "Really?", options: GenerationOptions(toolCallingMode: .required))

        #expect(
            server.requests.last?.json["tool_choice"] == ["type": "function", "function": ["name": "getWeather"]])
        #expect(server.requests[0].json["reasoning_effort"] == "medium")
        #expect(server.requests[0].json["tool_choice"] == "auto")
        #expect(server.requests[0].json["tools"]?.arrayValue?.first?["function"]?["name"] == "getWeather")
        let expected: JSONValue = [
            ["role": "user", "content": "How warm is Oslo?"],
            [
                "role": "assistant", "content": "",
                "tool_calls": [
                    [
                        "id": "call-1", "type": "function",
                        "function": ["name": "getWeather", "arguments": "{\"city\": \"Oslo\", \"days\": 3}"],
                    ]
                ], "reasoning_content": "Look it up.",
            ],
            ["role": "tool", "content": "Oslo: 3 warm days", "tool_call_id": "call-1"],
            ["role": "assistant", "content": "Warm."],
            ["role": "user", "content": "Sure?"],
        ]
        #expect(server.requests[2].json["messages"] == expected)
        let kinds = session.transcript.map { entry in
            switch entry {
            case .instructions: "instructions"
            case .prompt: "prompt"
            case .reasoning: "reasoning"
            case .toolCalls: "calls"
            case .toolOutput: "output"
            case .response: "response"
            }
        }
        #expect(
            kinds == [
                "instructions", "prompt", "reasoning", "calls", "output", "response", "prompt", "response", "prompt",
                "response",
            ])
    }

    @Test func keepsInterleavedKindsInOneEntryEach() async throws {
        let server = FaultServer { _ in
            [
                ChatServer.head, ChatServer.chunk(["reasoning": "First "]), ChatServer.text("Hello"),
                ChatServer.chunk(["reasoning_content": "thought"]), ChatServer.text(" world"), ChatServer.finish(),
                ChatServer.done,
            ]
        }
        defer { server.stop() }
        let session = LanguageModelSession(model: server.model())
        let response = try await session.respond(to: "Go")
        #expect(response.content == "Hello world")
        #expect(response.transcriptEntries.count == 3)
        let thoughts = response.transcriptEntries.compactMap { entry in
            if case .reasoning(let reasoning) = entry { reasoning.segments.map(\.description).joined() } else { nil }
        }
        #expect(thoughts == ["First thought"])
    }

    @Test(arguments: [
        // Identifier and name with every piece, no identifier at all, calls at once, no arguments.
        (
            [
                #"[{"index":0,"id":"a","function":{"name":"getWeather","arguments":"{\"city\":\"A\","}}]"#,
                #"[{"index":0,"id":"a","function":{"name":"getWeather","arguments":"\"days\":1}"}}]"#,
            ], ["A: 1 warm days"]
        ),
        (
            [#"[{"index":0,"function":{"name":"getWeather","arguments":"{\"city\":\"A\",\"days\":1}"}}]"#],
            ["A: 1 warm days"]
        ),
        (
            [
                #"[{"index":0,"id":"a","function":{"name":"getWeather","arguments":""}},{"index":1,"id":"b","function":{"name":"getWeather","arguments":""}}]"#,
                #"[{"index":1,"function":{"arguments":"{\"city\":\"B\",\"days\":2}"}}]"#,
                #"[{"index":0,"function":{"arguments":"{\"city\":\"A\",\"days\":1}"}}]"#,
            ], ["A: 1 warm days", "B: 2 warm days"]
        ),
        ([#"[{"index":0,"id":"a","function":{"name":"now"}}]"#], ["noon"]),
        ([#"[{"id":"a","function":{"name":"getWeather","arguments":{"city":"A","days":1}}}]"#], ["A: 1 warm days"]),
    ])
    func readsToolCallsAsServersWriteThem(pieces: [String], outputs: [String]) async throws {
        let server = FaultServer { request in
            guard request.number == 0 else { return ChatServer.answer("Done.") }
            let chunks = pieces.map { ChatServer.event("{\"choices\":[{\"delta\":{\"tool_calls\":\($0)}}]}") }
            return [ChatServer.head] + chunks + [ChatServer.finish("tool_calls"), ChatServer.done]
        }
        defer { server.stop() }
        let session = LanguageModelSession(model: server.model(), tools: [WeatherTool(), NoParameters()])
        #expect(try await session.respond(to: "Go").content == "Done.")
        let found = session.transcript.compactMap { entry in
            if case .toolOutput(let output) = entry { output.segments.map(\.description).joined() } else { nil }
        }
        #expect(found.sorted() == outputs)
    }

    @Test func sendsImages() async throws {
        let server = FaultServer { _ in ChatServer.answer("A dot.") }
        defer { server.stop() }
        let png = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3])
        let session = LanguageModelSession(model: server.model())
        try await session.respond {
            "What is this?"
            Attachment(imageData: png).label("dot")
        }
        let expected: JSONValue = [
            ["type": "text", "text": "What is this?"],
            ["type": "text", "text": "The next image is called dot."],
            [
                "type": "image_url",
                "image_url": ["url": .string("data:image/png;base64,\(png.base64EncodedString())")],
            ],
        ]
        #expect(server.requests.first?.json["messages"]?.arrayValue?.last?["content"] == expected)

        for broken in [Attachment(imageData: Data("no image".utf8)), Attachment(imageURL: URL(filePath: "/none.png"))] {
            await #expect(throws: LanguageModelError.self) { try await session.respond { broken } }
        }
        #expect(server.requests.count == 1)
    }

    // MARK: Structured output

    @Test func asksForTheSchemaAndReadsTheValue() async throws {
        let server = FaultServer { _ in
            ChatServer.answer("{ \"districts\": 17.0,", "\n \"name\": \"Oslo\" }")
        }
        defer { server.stop() }
        let session = LanguageModelSession(model: server.model())
        let response = try await session.respond(to: "A city", generating: City.self)
        #expect(response.content == City(name: "Oslo", districts: 17))
        let format = server.requests.first?.json["response_format"]
        #expect(format?["type"] == "json_schema")
        #expect(format?["json_schema"]?["name"] == "City")
        #expect(format?["json_schema"]?["strict"] == true)
        #expect(format?["json_schema"]?["schema"]?["properties"]?["districts"]?["maximum"] == 100)
    }

    @Test func thoughtsInTheTextAreReasoningAndTheSchemaBindsTheAnswer() async throws {
        let server = FaultServer { _ in
            ChatServer.answer("<thi", "nk>\nOslo?", " Yes.</think>\n\n{\"name\": \"Oslo\",", " \"districts\": 17}")
        }
        defer { server.stop() }
        let session = LanguageModelSession(model: server.model())
        let response = try await session.respond(to: "A city", generating: City.self)
        #expect(response.content == City(name: "Oslo", districts: 17))
        #expect(session.transcript.history.short.prefix(2) == ["p:A city", "t:Oslo? Yes."])
    }

    @Test(arguments: [
        #"{"name": "Oslo", "districts": 0}"#, #"{"name": "Oslo"}"#, #"{"name": 3, "districts": 1}"#,
        #"{"name": "Oslo", "districts": 1, "more": 2}"#, #"{"name": "Oslo", "districts": 1.5}"#, "Oslo", "",
        #"{"name": "Oslo", "districts": 1"#, #"```json\n{"name": "Oslo", "districts": 1}\n```"#,
    ])
    func refusesWhatDoesNotFollowTheSchema(text: String) async throws {
        let server = FaultServer { _ in ChatServer.answer(text) }
        defer { server.stop() }
        let session = LanguageModelSession(model: server.model())
        // As raw content too, which no type would check.
        await #expect(throws: GeneratedContent.ParsingError.self) {
            try await session.respond(to: "A city", schema: City.generationSchema)
        }
        await #expect(throws: GeneratedContent.ParsingError.self) {
            for try await _ in session.streamResponse(to: "A city", generating: City.self) {}
        }
    }

    @Test func refusesArgumentsThatDoNotFollowTheirSchema() async throws {
        let server = FaultServer { _ in
            [ChatServer.head] + ChatServer.call("getWeather", ["{\"city\": \"Oslo\", \"days\": 9}"])
                + [ChatServer.finish("tool_calls"), ChatServer.done]
        }
        defer { server.stop() }
        let session = LanguageModelSession(model: server.model(), tools: [WeatherTool()])
        await #expect(throws: GeneratedContent.ParsingError.self) { try await session.respond(to: "Go") }
    }

    @Test func needsGuidedGenerationForASchema() async throws {
        let server = FaultServer { _ in ChatServer.answer("never asked") }
        defer { server.stop() }
        let session = LanguageModelSession(model: server.model(supportsGuidedGeneration: false))
        await #expect(throws: LanguageModelError.self) {
            try await session.respond(to: "A city", generating: City.self)
        }
        #expect(server.requests.isEmpty)
    }
}
