import Foundation
import FoundationModels
import FoundationModelsUtilities
import JSON
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What goes wrong between two machines, and what a program sees of it.
@Suite struct ChatCompletionsFaultTests {
    private static func error(_ steps: [FaultServer.Step], timeout: TimeInterval? = nil) async -> any Error {
        let server = FaultServer { _ in steps }
        defer { server.stop() }
        let configuration = timeout.map { timeout in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = timeout
            return configuration
        }
        let model = ChatCompletionsLanguageModel(
            name: "m", url: URL(string: "http://127.0.0.1:\(server.port)/v1")!, urlSessionConfiguration: configuration)
        let session = LanguageModelSession(model: model)
        do {
            let response = try await session.respond(to: "Go")
            return Answered(text: response.content)
        } catch {
            #expect(!session.isResponding)
            #expect(!error.localizedDescription.isEmpty)
            return error
        }
    }

    private struct Answered: Error { var text: String }

    @Test(arguments: [
        ("401 Unauthorized", 401), ("403 Forbidden", 403), ("404 Not Found", 404), ("302 Found", 302),
        ("500 Internal Server Error", 500), ("503 Service Unavailable", 503), ("204 No Content", 204),
    ])
    func statusesAreErrors(line: String, status: Int) async {
        let body = #"{"error": {"message": "no", "type": "t"}}"#
        let fields = ["Location": "http://127.0.0.1:1/", "Content-Type": "application/json"]
        let error = await Self.error(ChatServer.status(line, status == 204 ? "" : body, fields))
        guard case ChatCompletionsLanguageModel.RequestError.httpError(status, let data) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(data == Data(status == 204 ? "".utf8 : body.utf8))
    }

    @Test(arguments: [("7", 7.0), ("Wed, 21 Oct 2015 07:28:00 GMT", nil), (nil, nil)])
    func rateLimitsSayWhenTheyEnd(retryAfter: String?, seconds: Double?) async {
        let fields = retryAfter.map { ["Retry-After": $0] } ?? [:]
        let error = await Self.error(ChatServer.status("429 Too Many Requests", "slow down", fields))
        guard case LanguageModelError.rateLimited(let limit) = error else {
            Issue.record("\(error)")
            return
        }
        if let seconds {
            let wait = limit.resetDate?.timeIntervalSinceNow ?? -1
            #expect(wait > seconds - 5 && wait <= seconds)
        } else if retryAfter != nil {
            #expect(limit.resetDate == Date(timeIntervalSince1970: 1_445_412_480))
        } else {
            #expect(limit.resetDate == nil)
        }
    }

    @Test(arguments: [
        #"{"error": {"message": "This model's maximum context length is 512 tokens. However, you requested 600 tokens.", "code": "context_length_exceeded"}}"#,
        #"{"error": {"message": "This model's maximum context length is 512 tokens, however you requested 600 tokens", "type": "invalid_request_error"}}"#,
        #"{"error": {"message": "the request (600 tokens) exceeds the available context", "type": "exceed_context_size_error"}}"#,
    ])
    func aConversationThatIsTooLongIsTold(body: String) async {
        let error = await Self.error(ChatServer.status("400 Bad Request", body))
        guard case LanguageModelError.contextSizeExceeded(let details) = error else {
            Issue.record("\(error)")
            return
        }
        if body.contains("maximum") {
            #expect(details.contextSize == 512)
            #expect(details.tokenCount == 600)
        }
    }

    @Test func errorsInTheStreamAreErrors() async {
        let error = await Self.error([
            ChatServer.head, ChatServer.text("Hal"),
            ChatServer.event(#"{"error": {"message": "out of memory", "type": "server_error", "code": 500}}"#),
        ])
        #expect(
            error as? ChatCompletionsLanguageModel.APIError
                == .init(message: "out of memory", type: "server_error", code: "500"))
    }

    @Test(arguments: [
        [ChatServer.head, ChatServer.text("Hal")], [ChatServer.head],
        [ChatServer.head, ChatServer.text("Hal"), .pause(0.1), .reset],
        [FaultServer.head("200 OK", ["Content-Length": "5000"]), ChatServer.text("Hal")],
    ])
    func anAnswerThatBreaksOffIsAnError(steps: [FaultServer.Step]) async {
        guard case ChatCompletionsLanguageModel.RequestError.streamInterrupted = await Self.error(steps) else {
            Issue.record("no interruption")
            return
        }
    }

    @Test(arguments: [
        "{", "3", "null", "<html>", #"{"choices": 3}"#, #"{"id": "1"}"#, "\u{0}",
        #"{"choices": [{"delta": {"tool_calls": [3]}}]}"#,
        #"{"choices": [{"delta": {"tool_calls": [{"index": -1, "function": {"name": "a", "arguments": "{}"}}]}}]}"#,
    ])
    func malformedEventsAreErrors(data: String) async {
        let error = await Self.error([ChatServer.head, ChatServer.event(data), ChatServer.done])
        guard case ChatCompletionsLanguageModel.RequestError.invalidStreamData = error else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func silenceIsATimeOut() async {
        // When the server goes on and closes, a client that still waited would tell of a stream that broke off.
        let error = await Self.error([ChatServer.head, ChatServer.text("Hal"), .pause(30)], timeout: 1)
        guard case LanguageModelError.timeout = error else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func slowServersAreNot() async {
        let texts = (0..<8).flatMap { _ in [ChatServer.text("."), FaultServer.Step.pause(0.4)] }
        let error = await Self.error(
            [ChatServer.head, .pause(0.5)] + texts + [ChatServer.finish(), ChatServer.done], timeout: 2)
        #expect((error as? Answered)?.text == "........")
    }

    @Test func aServerThatIsNotThereIsAnError() async {
        let server = FaultServer { _ in [] }
        let model = server.model()
        server.stop()
        let session = LanguageModelSession(model: model)
        await #expect {
            try await session.respond(to: "Go")
        } throws: {
            if case ChatCompletionsLanguageModel.RequestError.connectionFailed = $0 { true } else { false }
        }
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/x"])
    func otherProtocolsAreRefused(address: String) async {
        let session = LanguageModelSession(model: ChatCompletionsLanguageModel(name: "m", url: URL(string: address)!))
        await #expect {
            try await session.respond(to: "Go")
        } throws: {
            if case ChatCompletionsLanguageModel.RequestError.invalidRequest = $0 { true } else { false }
        }
    }

    @Test func headersCannotBeSmuggled() async {
        let session = LanguageModelSession(
            model: ChatCompletionsLanguageModel(
                name: "m", url: URL(string: "http://127.0.0.1:1")!, additionalHeaders: ["X": "a\r\nY: b"]))
        await #expect {
            try await session.respond(to: "Go")
        } throws: {
            if case ChatCompletionsLanguageModel.RequestError.invalidRequest = $0 { true } else { false }
        }
    }

    @Test func filtersAndRefusalsAreTold() async {
        let filtered = await Self.error([ChatServer.head, ChatServer.finish("content_filter"), ChatServer.done])
        guard case LanguageModelError.guardrailViolation = filtered else {
            Issue.record("\(filtered)")
            return
        }
        let refused = await Self.error([
            ChatServer.head, ChatServer.chunk(["refusal": "I will "]), ChatServer.chunk(["refusal": "not."]),
            ChatServer.finish(), ChatServer.done,
        ])
        guard case LanguageModelError.refusal(let refusal) = refused else {
            Issue.record("\(refused)")
            return
        }
        #expect(try! await refusal.explanation.content == "I will not.")
    }

    @Test func cancellationClosesTheConnection() async throws {
        let closed = Flag()
        let server = FaultServer { _ in [ChatServer.head, ChatServer.text("a"), .noteClosing(closed)] }
        defer { server.stop() }
        let session = LanguageModelSession(model: server.model())
        let task = Task {
            for try await _ in session.streamResponse(to: "Go") {}
        }
        while session.transcript.count < 2 { try await Task.sleep(for: .milliseconds(10)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        for _ in 0..<200 where !closed.isSet { try await Task.sleep(for: .milliseconds(10)) }
        #expect(closed.isSet)
        #expect(!session.isResponding)
    }

    @Test func droppingAStreamClosesTheConnection() async throws {
        let closed = Flag()
        let server = FaultServer { _ in [ChatServer.head, ChatServer.text("a"), .noteClosing(closed)] }
        defer { server.stop() }
        let session = LanguageModelSession(model: server.model())
        for try await _ in session.streamResponse(to: "Go") { break }
        for _ in 0..<200 where !closed.isSet { try await Task.sleep(for: .milliseconds(10)) }
        #expect(closed.isSet)
    }
}
