import JSON

/// An error as Chat Completions clients know it: a status and an object that says what is wrong, where, and what would do.
package struct APIError: Error, Sendable, Hashable {
    package var status: Int
    package var type: String
    package var code: String?
    /// The field that is wrong, as a path such as `messages[0].role`.
    package var parameter: String?
    package var message: String
    /// Seconds after which the request may be tried again.
    package var retryAfter: Int?

    package init(
        status: Int, type: String, code: String? = nil, parameter: String? = nil, retryAfter: Int? = nil,
        _ message: String
    ) {
        self.status = status
        self.type = type
        self.code = code
        self.parameter = parameter
        self.message = message
        self.retryAfter = retryAfter
    }

    /// The request is wrong.
    static func invalid(_ parameter: String?, code: String? = nil, _ message: String) -> APIError {
        APIError(status: 400, type: "invalid_request_error", code: code, parameter: parameter, message)
    }

    /// A client that has closed only its own side reads why nothing comes.
    static let clientGone = APIError.invalid(nil, "The client has closed its side of the connection.")

    static let shuttingDown = APIError(
        status: 503, type: "server_error", code: "shutting_down", retryAfter: 10, "The server is shutting down.")

    /// The server failed.
    static func failure(_ message: String) -> APIError {
        APIError(status: 500, type: "server_error", message)
    }

    package var json: JSONValue {
        [
            "error": [
                "message": .string(message), "type": .string(type),
                "param": parameter.map(JSONValue.string) ?? .null, "code": code.map(JSONValue.string) ?? .null,
            ]
        ]
    }

    package var response: HTTPResponse {
        var response = HTTPResponse(status, contentType: "application/json", json.text())
        if let retryAfter { response.headers.append(("Retry-After", "\(max(1, retryAfter))")) }
        if status == 401 { response.headers.append(("WWW-Authenticate", "Bearer")) }
        return response
    }
}
