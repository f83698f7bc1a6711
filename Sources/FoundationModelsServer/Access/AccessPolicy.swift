import CLibcrypto
import Inference

/// Who may use the server: browsers' pages are held off by the `Host` and `Origin` headers, everyone by tokens.
package struct AccessPolicy: Sendable {
    /// Values of `Host` without the port. Others are refused, so that a name that a stranger points at this machine (DNS
    /// rebinding) leads nowhere.
    package var hosts: Set<String>
    /// Origins whose pages may use the server, beside the server's own; `*` for all.
    package var origins: Set<String>
    /// Any of these is needed, unless there is none.
    package var tokens: [String]

    package init(hosts: Set<String> = [], origins: Set<String> = [], tokens: [String] = []) {
        self.hosts = hosts.union(["localhost", "127.0.0.1", "[::1]"])
        self.origins = origins
        self.tokens = tokens
    }

    /// The client's name for its quota: which token it has, or its address.
    package func client(_ head: HTTPRequestHead) throws(APIError) -> String {
        try checkHost(head)
        try checkOrigin(head)
        guard !tokens.isEmpty, !Self.isOpen(head) else { return head.connection.address }
        let values = head.headers["authorization"] ?? []
        guard values.count == 1, let value = values.first else {
            throw Self.unauthorized(
                values.isEmpty
                    ? "This server needs a token: send 'Authorization: Bearer TOKEN'."
                    : "There is more than one Authorization header.")
        }
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else {
            throw Self.unauthorized("The Authorization header must be 'Bearer TOKEN'.")
        }
        let given = String(words[1])
        // Every token is compared, so that the time does not tell which one was nearest.
        var found: Int?
        for (index, token) in tokens.enumerated() where Self.isEqual(given, token) { found = index }
        guard let found else { throw Self.unauthorized("The token is not right.") }
        return "token \(found + 1)"
    }

    /// What is open to everyone: the state of the server, and the page, which has nothing in it.
    private static func isOpen(_ head: HTTPRequestHead) -> Bool { head.path == "/health" || head.path == "/" }

    private static func unauthorized(_ message: String) -> APIError {
        APIError(status: 401, type: "invalid_request_error", code: "invalid_api_key", message)
    }

    private func checkHost(_ head: HTTPRequestHead) throws(APIError) {
        let values = head.headers["host"] ?? []
        guard values.count == 1, let value = values.first else {
            throw APIError(
                status: 400, type: "invalid_request_error", code: "invalid_host",
                values.isEmpty ? "The Host header is missing." : "There is more than one Host header.")
        }
        guard hosts.contains(Self.withoutPort(value).lowercased()) else {
            throw APIError(
                status: 403, type: "invalid_request_error", code: "invalid_host",
                "The host '\(value.prefix(200))' is not one of this server's; --allow-host adds one.")
        }
    }

    static func withoutPort(_ host: String) -> String {
        guard let colon = host.lastIndex(of: ":"), host[host.index(after: colon)...].allSatisfy(\.isNumber) else {
            return host
        }
        // A colon inside of brackets belongs to an IPv6 address.
        return host.hasPrefix("[") && !host[..<colon].hasSuffix("]") ? host : String(host[..<colon])
    }

    private func checkOrigin(_ head: HTTPRequestHead) throws(APIError) {
        guard let values = head.headers["origin"] else { return }
        guard values.count == 1, let origin = values.first, isAllowed(origin, host: head.header("host") ?? "") else {
            throw APIError(
                status: 403, type: "invalid_request_error", code: "invalid_origin",
                "Pages of '\(values.first?.prefix(200) ?? "")' may not use this server; --allow-origin lets them.")
        }
    }

    private func isAllowed(_ origin: String, host: String) -> Bool {
        if origins.contains("*") || origins.contains(origin) { return true }
        return origin == "http://\(host)" || origin == "https://\(host)"
    }

    /// What lets the page of an origin read an answer.
    package func corsHeaders(_ head: HTTPRequestHead) -> [(name: String, value: String)] {
        guard let origin = head.header("origin"), isAllowed(origin, host: head.header("host") ?? "") else { return [] }
        return [
            ("Access-Control-Allow-Origin", origin), ("Vary", "Origin"),
            ("Access-Control-Allow-Methods", "GET, POST"),
            ("Access-Control-Allow-Headers", "Authorization, Content-Type"),
            ("Access-Control-Max-Age", "600"),
        ]
    }

    /// Compares in a time that depends on the length of what was given alone.
    static func isEqual(_ given: String, _ token: String) -> Bool {
        // Digests have one length, so that neither content nor length of the token shows in the time.
        let left = digest(given), right = digest(token)
        return CRYPTO_memcmp(left, right, left.count) == 0
    }

    private static func digest(_ text: String) -> [UInt8] {
        let hash = Inference.SHA256()
        var text = text
        text.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
        return Array(hash.digest().utf8)
    }
}
