import Foundation
import GuidedGeneration
import Inference
import JSON
import Synchronization

/// Answers Chat Completions requests with one model, and requests for embeddings with another.
///
/// It knows nothing of sockets: `HTTPServer` brings requests, and so can a test.
package final class ModelServer: HTTPHandler {
    package struct Configuration: Sendable {
        /// The name of the model for text in requests.
        package var modelName: String
        /// What changes the model for text.
        package var adapter: Adapter?
        package var access = AccessPolicy()
        package var allowance = ClientAccounts.Allowance()
        /// Requests that the engine computes at the same time, as its options say.
        package var concurrentRequests = 16
        /// Requests that may wait behind them.
        package var queuedRequests = 64
        /// From a request to the end of its answer.
        package var timeLimit: Duration = .seconds(600)

        package init(modelName: String) { self.modelName = modelName }
    }

    /// One request that is done, for a log.
    package struct LogEntry: Sendable {
        package var client: String
        package var method: String
        package var path: String
        package var status: Int
        /// Whether the answer was sent to its end.
        package var wasSent: Bool
    }

    /// A model for embeddings and its name in requests.
    package struct Embedder: Sendable {
        package var name: String
        package var model: EmbeddingModel

        package init(name: String, model: EmbeddingModel) {
            self.name = name
            self.model = model
        }
    }

    let engine: Engine?
    let embedder: Embedder?
    let configuration: Configuration
    let accounts: ClientAccounts
    let gate: AdmissionGate
    let metrics = ServerMetrics()
    /// With a space after ',' and ':', as models have seen most JSON written.
    let grammars = GrammarCache(options: SchemaOptions(isSpaced: true))
    let created = Int(Date().timeIntervalSince1970)
    private let log: (@Sendable (LogEntry) -> Void)?
    private enum Phase { case serving, draining, cutOff }
    private let phase = Mutex(Phase.serving)
    private let connectionCount = Mutex<(@Sendable () -> Int)?>(nil)

    package init(
        _ engine: Engine?, _ configuration: Configuration, embedder: Embedder? = nil,
        log: (@Sendable (LogEntry) -> Void)? = nil
    ) {
        self.engine = engine
        self.embedder = embedder
        self.configuration = configuration
        self.log = log
        accounts = ClientAccounts(configuration.allowance)
        gate = AdmissionGate(concurrent: configuration.concurrentRequests, queued: configuration.queuedRequests)
    }

    // MARK: The end

    /// Refuses new requests from now on.
    package func drain() { phase.withLock { $0 = .draining } }
    var isShuttingDown: Bool { phase.withLock { $0 != .serving } }
    /// Whether requests that have begun are to fail.
    var isCutOff: Bool { phase.withLock { $0 == .cutOff } }

    /// Takes no more requests, lets those that have begun end within a time, then tells the clients of the others and ends all
    /// connections.
    ///
    /// - Returns: The requests that were cut off.
    package func end(_ http: HTTPServer, within limit: Duration) async -> Int {
        drain()
        http.drain()
        await http.answersEnd(within: limit)
        let left = http.busyCount
        phase.withLock { $0 = .cutOff }
        await http.answersEnd(within: .seconds(2))
        http.stop()
        return left
    }

    /// Generations that are computed or wait.
    package var activeCount: Int { gate.admitted }

    /// For the metrics.
    package func setConnectionCount(_ count: @escaping @Sendable () -> Int) { connectionCount.withLock { $0 = count } }
    var connections: Int { connectionCount.withLock { $0 }?() ?? 0 }

    // MARK: Routes

    private struct Route {
        var method: String
        var path: String
        /// Whether it counts against a client's requests.
        var isCounted = false
        var answer: @Sendable (ModelServer, HTTPRequest, _ client: String) throws(APIError) -> HTTPResponse
    }

    private static let routes: [Route] = [
        Route(method: "GET", path: "/") { server, _, _ throws(APIError) in server.page() },
        Route(method: "GET", path: "/health") { server, _, _ throws(APIError) in server.health() },
        Route(method: "GET", path: "/metrics") { server, _, _ throws(APIError) in server.metricsText() },
        Route(method: "GET", path: "/v1/models") { server, _, _ throws(APIError) in server.models() },
        Route(method: "POST", path: "/tokenize") { server, request, _ throws(APIError) in
            try server.tokenize(request)
        },
        Route(method: "POST", path: "/v1/chat/completions", isCounted: true) {
            server, request, client throws(APIError) in
            try server.chatCompletions(request, client)
        },
        Route(method: "POST", path: "/v1/completions", isCounted: true) { server, request, client throws(APIError) in
            try server.completions(request, client)
        },
        Route(method: "POST", path: "/v1/embeddings", isCounted: true) { server, request, client throws(APIError) in
            try server.embeddings(request, client)
        },
    ]

    private static let modelsPrefix = "/v1/models/"

    private func route(_ head: HTTPRequestHead) throws(APIError) -> Route {
        let method = head.method == "HEAD" ? "GET" : head.method
        if head.path.hasPrefix(Self.modelsPrefix) {
            let name = String(head.path.dropFirst(Self.modelsPrefix.count))
            guard method == "GET" else { throw Self.wrongMethod("GET") }
            return Route(method: "GET", path: head.path) { server, _, _ throws(APIError) in try server.model(name) }
        }
        let matching = Self.routes.filter { $0.path == head.path }
        guard let first = matching.first else {
            throw APIError(
                status: 404, type: "invalid_request_error", code: "unknown_url",
                "There is nothing at \(head.path.prefix(200)). There are "
                    + "\(Self.routes.map(\.path).joined(separator: ", ")).")
        }
        guard let route = matching.first(where: { $0.method == method }) else { throw Self.wrongMethod(first.method) }
        return route
    }

    private static func wrongMethod(_ right: String) -> APIError {
        APIError(
            status: 405, type: "invalid_request_error", code: "method_not_allowed", "The method must be \(right).")
    }

    // MARK: HTTPHandler

    package func screen(_ head: HTTPRequestHead) -> HTTPResponse? {
        do throws(APIError) {
            // What asks whether a page may use the server has no token.
            if head.method == "OPTIONS" {
                var open = head
                open.path = "/"
                _ = try configuration.access.client(open)
                return finished(HTTPResponse(204), head)
            }
            _ = try configuration.access.client(head)
            let route = try route(head)
            if route.method == "POST", let type = head.header("content-type"),
                type.split(separator: ";").first?.trimmingCharacters(in: .whitespaces).lowercased()
                    != "application/json"
            {
                throw APIError(
                    status: 415, type: "invalid_request_error", code: "unsupported_media_type",
                    "The Content-Type must be application/json.")
            }
            if let values = head.headers["content-length"],
                values.count > 1 || values.contains(where: { UInt64($0) == nil })
            {
                throw .invalid(nil, "The Content-Length header is wrong.")
            }
            return nil
        } catch {
            return finished(error.response, head)
        }
    }

    package func refuseBody(of head: HTTPRequestHead, limit: Int) -> HTTPResponse {
        finished(
            APIError(
                status: 413, type: "invalid_request_error", code: "request_too_large",
                "The body is larger than the \(limit) bytes that this server takes."
            ).response, head)
    }

    package func refuse(_ head: HTTPRequestHead, status: Int) -> HTTPResponse {
        let (code, message) =
            switch status {
            case 408: ("request_timeout", "The request did not come to its end in time.")
            case 414: ("uri_too_long", "The first line of the request is too long.")
            case 431: ("headers_too_large", "The headers of the request are too large.")
            case 501: ("unsupported_transfer_encoding", "The only Transfer-Encoding that is known here is chunked.")
            case 505: ("unsupported_version", "The version must be HTTP/1.1 or HTTP/1.0.")
            case 500...: ("server_error", "The server cannot take the request.")
            default:
                (
                    "malformed_request",
                    "This is no whole HTTP/1.1 request: its first line, a header such as Host or Content-Length, or a chunk of its "
                        + "body is malformed or missing."
                )
            }
        let type = status < 500 || status == 501 || status == 505 ? "invalid_request_error" : "server_error"
        return finished(APIError(status: status, type: type, code: code, message).response, head)
    }

    package func answer(_ request: HTTPRequest) -> HTTPResponse {
        do throws(APIError) {
            let client = try configuration.access.client(request.head)
            let route = try route(request.head)
            if route.isCounted {
                if isShuttingDown {
                    throw APIError.shuttingDown
                }
                try accounts.begin(client)
            }
            var response = try route.answer(self, request, client)
            response.headers += accounts.headers(client)
            return finished(response, request.head)
        } catch {
            var response = error.response
            if error.status == 429, let client = try? configuration.access.client(request.head) {
                response.headers += accounts.headers(client)
            }
            return finished(response, request.head)
        }
    }

    private func finished(_ response: HTTPResponse, _ head: HTTPRequestHead) -> HTTPResponse {
        var response = response
        response.headers += configuration.access.corsHeaders(head)
        response.headers.append(("X-Content-Type-Options", "nosniff"))
        if response.status == 405, let route = Self.routes.first(where: { $0.path == head.path }) {
            response.headers.append(("Allow", route.method))
        }
        if isShuttingDown { response.headers.append(("Connection", "close")) }
        return response
    }

    package func completed(_ head: HTTPRequestHead, status: Int, wasSent: Bool) {
        let isKnown = Self.routes.contains { $0.path == head.path }
        metrics.note(
            path: isKnown ? head.path : head.path.hasPrefix(Self.modelsPrefix) ? "/v1/models" : "other", status: status)
        log?(
            LogEntry(
                client: head.connection.address, method: head.method, path: head.path, status: status,
                wasSent: wasSent))
    }

    // MARK: Bodies

    func object(_ request: HTTPRequest) throws(APIError) -> JSONObject {
        guard !request.body.isEmpty else { throw .invalid(nil, "The body is empty; it must be a JSON object.") }
        let value: JSONValue
        do { value = try JSONValue(parsing: request.body, depthLimit: 128) } catch {
            throw .invalid(nil, code: "invalid_json", "The body is no JSON text: \(error).")
        }
        guard let object = value.objectValue else { throw wrongType(value, "", "an object") }
        return object
    }

    // MARK: Models

    /// The model for text, if it is the one that a request names.
    func textEngine(_ name: String?) throws(APIError) -> Engine {
        if let engine, name == nil || name == configuration.modelName { return engine }
        if let embedder, name == nil || name == embedder.name {
            throw .invalid(
                "model", code: "unsupported_model",
                "'\(embedder.name)' makes embeddings and writes no text; "
                    + (engine == nil
                        ? "this server has no model that does." : "'\(configuration.modelName)' does."))
        }
        throw unknownModel(name ?? "")
    }

    /// The model for embeddings, if it is the one that a request names.
    func embeddingModel(_ name: String?) throws(APIError) -> Embedder {
        if let embedder, name == nil || name == embedder.name { return embedder }
        if engine != nil, name == nil || name == configuration.modelName {
            throw .invalid(
                "model", code: "unsupported_model",
                "'\(configuration.modelName)' writes text and makes no embeddings; "
                    + (embedder.map { "'\($0.name)' does." } ?? "this server has no model that does."))
        }
        throw unknownModel(name ?? "")
    }

    func unknownModel(_ name: String) -> APIError {
        let names = [engine.map { _ in configuration.modelName }, embedder?.name].compactMap(\.self)
        return APIError(
            status: 404, type: "invalid_request_error", code: "model_not_found", parameter: "model",
            "There is no model '\(name.prefix(200))' here; this server has "
                + "\(names.map { "'\($0)'" }.joined(separator: " and ")).")
    }

    static func json(_ value: JSONValue) -> HTTPResponse {
        HTTPResponse(200, contentType: "application/json", value.text())
    }
}
