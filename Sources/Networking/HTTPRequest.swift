/// One request over HTTP.
package struct HTTPRequest: Sendable {
    package var url: String
    package var method: String
    /// Names as they are sent; a name must not come twice.
    package var headers: [String: String]
    package var body: [UInt8]
    package var limits: HTTPLimits

    package init(
        url: String, method: String = "GET", headers: [String: String] = [:], body: [UInt8] = [],
        limits: HTTPLimits = HTTPLimits()
    ) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
        self.limits = limits
    }
}

/// How long and how much a request may take.
package struct HTTPLimits: Hashable, Sendable {
    /// Seconds until a connection must stand.
    package var connectSeconds: Int
    /// Seconds in which not one byte comes, before the first or between two: a server that reads a long prompt is silent for long.
    package var silenceSeconds: Int
    /// Seconds for the whole request; 0 for as long as it takes.
    package var totalSeconds: Int
    /// Bytes of a body.
    package var bodySize: Int

    package init(
        connectSeconds: Int = 15, silenceSeconds: Int = 300, totalSeconds: Int = 0, bodySize: Int = 64 << 20
    ) {
        self.connectSeconds = connectSeconds
        self.silenceSeconds = silenceSeconds
        self.totalSeconds = totalSeconds
        self.bodySize = bodySize
    }
}

/// What comes of a response: its head once, then its body in pieces as they arrive.
package enum HTTPEvent: Sendable {
    case head(HTTPHead)
    case body([UInt8])
}

/// The head of a response.
package struct HTTPHead: Sendable, Hashable {
    package var status: Int
    /// By names in lower case. Of a name that comes again the last value counts.
    package var headers: [String: String]

    package init(status: Int, headers: [String: String]) {
        self.status = status
        self.headers = headers
    }
}

/// Why there is no response, or only a part of one.
package enum HTTPError: Error, Hashable, Sendable, CustomStringConvertible {
    case invalidRequest(String)
    /// No connection came to stand, or it could not be trusted.
    case connection(String)
    case timeout(String)
    /// The connection broke before the response was whole.
    case interrupted(String)
    /// The body is larger than the limit, in bytes.
    case tooLarge(limit: Int)

    package var description: String {
        switch self {
        case .invalidRequest(let reason), .connection(let reason), .timeout(let reason), .interrupted(let reason):
            reason
        case .tooLarge(let limit): "the response is larger than \(limit) bytes"
        }
    }
}
