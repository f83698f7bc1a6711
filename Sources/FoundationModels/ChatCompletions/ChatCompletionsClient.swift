import Foundation
import JSON
import Networking

/// Talks to one server. Requests of one client share connections.
package final class ChatCompletionsClient: Sendable {
    package let endpoint: ChatCompletionsEndpoint
    private let http = HTTPClient()

    package init(endpoint: ChatCompletionsEndpoint) { self.endpoint = endpoint }

    /// Bytes of an error page that are kept.
    private static let errorBodyLimit = 1 << 20

    /// Makes a request and hands on each part of the answer when it comes. The head of the response comes first, whatever its status.
    ///
    /// - Throws: `ChatCompletionsFailure`, or `CancellationError`.
    package nonisolated(nonsending) func stream(
        _ body: JSONValue, onHead: (HTTPHead) -> Void = { _ in },
        _ onChunk: nonisolated(nonsending) (ChatCompletionsChunk) async throws -> Void
    ) async throws {
        var headers = [
            "Content-Type": "application/json", "Accept": "text/event-stream", "User-Agent": "foundationmodels",
        ]
        // Names of headers are the same in any case.
        for (name, value) in endpoint.headers {
            for known in headers.keys where known.lowercased() == name.lowercased() { headers[known] = nil }
            headers[name] = value
        }
        let request = HTTPRequest(
            url: endpoint.url(of: "chat/completions"), method: "POST", headers: headers,
            body: Array(body.text().utf8), limits: endpoint.limits)
        var reader = ChatCompletionsReader()
        do {
            for try await event in http.events(of: request) {
                switch event {
                case .head(let head):
                    onHead(head)
                    reader.begin(head)
                case .body(let bytes):
                    for chunk in try reader.append(bytes) { try await onChunk(chunk) }
                    if reader.isDone { break }
                }
                if reader.isDone { break }
            }
        } catch let error as HTTPError {
            // An error page that breaks off is an error page all the same.
            if let failure = reader.statusFailure { throw failure }
            throw ChatCompletionsFailure(error)
        }
        // A cancelled wait ends like a finished response.
        try Task.checkCancellation()
        for chunk in try reader.finish() { try await onChunk(chunk) }
    }

    /// Reads a small document of the server, such as its list of models.
    package nonisolated(nonsending) func document(_ method: String) async throws -> (HTTPHead, JSONValue) {
        var headers = endpoint.headers
        headers["Accept"] = "application/json"
        var limits = endpoint.limits
        limits.silenceSeconds = min(limits.silenceSeconds, 15)
        limits.bodySize = 8 << 20
        let request = HTTPRequest(url: endpoint.url(of: method), headers: headers, limits: limits)
        var head = HTTPHead(status: 0, headers: [:])
        var body: [UInt8] = []
        do {
            for try await event in http.events(of: request) {
                switch event {
                case .head(let value): head = value
                case .body(let bytes): body += bytes
                }
            }
        } catch let error as HTTPError {
            throw ChatCompletionsFailure(error)
        }
        try Task.checkCancellation()
        guard head.status == 200 else {
            throw ChatCompletionsFailure.status(head.status, headers: head.headers, body: Data(body))
        }
        do {
            return (head, try JSONValue(parsing: body))
        } catch {
            throw ChatCompletionsFailure.malformed("\(method) is no JSON, \(error)")
        }
    }
}

/// Makes chunks of the bytes of one response.
struct ChatCompletionsReader {
    private enum Form {
        case events, document, errorPage(HTTPHead)
    }

    private static let errorPageLimit = 1 << 20

    private var form = Form.events
    private var parser = ServerSentEventParser()
    private var body: [UInt8] = []
    /// `[DONE]` has come: nothing that follows counts.
    private(set) var isDone = false
    /// Some chunk said why the answer ends.
    private var hasFinishReason = false
    private var hasChunks = false

    mutating func begin(_ head: HTTPHead) {
        guard head.status == 200 else { return form = .errorPage(head) }
        // A server that does not stream answers with the whole completion.
        let type = head.headers["content-type"]?.lowercased() ?? ""
        form = type.hasPrefix("application/json") ? .document : .events
    }

    /// The failure that a status other than 200 is.
    var statusFailure: ChatCompletionsFailure? {
        guard case .errorPage(let head) = form else { return nil }
        return .status(head.status, headers: head.headers, body: Data(body))
    }

    mutating func append(_ bytes: [UInt8]) throws(ChatCompletionsFailure) -> [ChatCompletionsChunk] {
        switch form {
        case .errorPage:
            body += bytes.prefix(max(0, Self.errorPageLimit - body.count))
            return []
        case .document:
            body += bytes
            return []
        case .events:
            let events: [ServerSentEvent]
            do throws(ServerSentEventParser.TooLarge) {
                events = try parser.append(bytes)
            } catch {
                throw .tooLarge(limit: error.limit)
            }
            return try chunks(of: events)
        }
    }

    /// - Throws: When the response is not whole.
    mutating func finish() throws(ChatCompletionsFailure) -> [ChatCompletionsChunk] {
        if let statusFailure { throw statusFailure }
        if case .document = form { return [try chunk(body)] }
        let chunks = isDone ? [] : try chunks(of: parser.finish())
        // Servers that forget [DONE] still say why they stop.
        guard isDone || hasFinishReason else {
            throw .interrupted(hasChunks ? "the stream has no end" : "the stream is empty")
        }
        return chunks
    }

    private mutating func chunks(of events: [ServerSentEvent]) throws(ChatCompletionsFailure) -> [ChatCompletionsChunk]
    {
        var chunks: [ChatCompletionsChunk] = []
        for event in events where !isDone {
            let whole = Array(event.data.joined(separator: [UInt8(ascii: "\n")]))
            // Lines of one event are one text. Servers that leave the empty line out mean one event each.
            let isOne = event.data.count < 2 || (try? JSONValue(parsing: whole)) != nil
            for data in isOne ? [whole] : event.data where !isDone {
                let text = data.drop { $0 == 0x20 }
                if text.isEmpty { continue }
                if text.starts(with: "[DONE]".utf8) {
                    isDone = true
                } else {
                    chunks.append(try chunk(data))
                }
            }
        }
        return chunks
    }

    private mutating func chunk(_ bytes: [UInt8]) throws(ChatCompletionsFailure) -> ChatCompletionsChunk {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: bytes)
        } catch {
            let text = String(decoding: bytes.prefix(80), as: UTF8.self)
            throw .malformed("\"\(text)\" is no JSON (\(error))")
        }
        let chunk = try ChatCompletionsChunk(value)
        hasChunks = true
        if chunk.finishReason != nil { hasFinishReason = true }
        return chunk
    }
}
