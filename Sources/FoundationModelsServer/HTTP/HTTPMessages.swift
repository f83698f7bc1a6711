/// What stands before a request's body.
package struct HTTPRequestHead: Sendable {
    package var method: String
    /// Without the query.
    package var path: String
    /// Names in lower case; a name that comes more than once has several values.
    package var headers: [String: [String]]
    package var connection: ClientConnection

    package init(
        method: String, path: String, headers: [String: [String]] = [:],
        connection: ClientConnection = ClientConnection()
    ) {
        self.method = method
        self.path = path
        self.headers = headers
        self.connection = connection
    }

    /// Takes a target of the form `http://host/path`, which every server must understand (RFC 9112, section 3.2.2), apart; its
    /// host counts, not that of the header.
    mutating func resolveAbsoluteForm() {
        guard let scheme = ["http://", "https://"].first(where: { path.lowercased().hasPrefix($0) }) else { return }
        let rest = path.dropFirst(scheme.count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        headers["host"] = [String(rest[..<slash])]
        path = slash == rest.endIndex ? "/" : String(rest[slash...])
    }

    /// The value of a header that may come once only; the first where it came more often.
    package func header(_ name: String) -> String? { headers[name]?.first }
}

package struct HTTPRequest: Sendable {
    package var head: HTTPRequestHead
    package var body: [UInt8]

    package init(head: HTTPRequestHead, body: [UInt8] = []) {
        self.head = head
        self.body = body
    }
}

package struct HTTPResponse: Sendable {
    package enum Body: Sendable {
        case bytes([UInt8])
        case stream(any HTTPBodyStream)
    }

    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: Body

    package init(_ status: Int, headers: [(name: String, value: String)] = [], body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    package init(_ status: Int, contentType: String, _ text: String) {
        self.init(status, headers: [("Content-Type", contentType)], body: .bytes(Array(text.utf8)))
    }
}

/// A body that comes piece by piece. Used by one thread.
package protocol HTTPBodyStream: AnyObject, Sendable {
    /// Waits for the next piece; nil at the end.
    func next() throws(HTTPClientGone) -> [UInt8]?
    /// No more pieces will be asked for. Called once, whether or not the end had come.
    func end()
}

/// The client has ended the connection.
package struct HTTPClientGone: Error {}

/// What answers requests. Called on the thread of the connection, which may wait.
package protocol HTTPHandler: Sendable {
    /// Sees a request before its body comes; an answer refuses it.
    func screen(_ head: HTTPRequestHead) -> HTTPResponse?
    func answer(_ request: HTTPRequest) -> HTTPResponse
    /// The answer to a request whose body is larger than it may be.
    func refuseBody(of head: HTTPRequestHead, limit: Int) -> HTTPResponse
    /// The answer, in bytes, to what is no whole and proper request. Method and path are `-` where they are not known.
    func refuse(_ head: HTTPRequestHead, status: Int) -> HTTPResponse
    /// An answer has been sent, or the client has gone before its end.
    func completed(_ head: HTTPRequestHead, status: Int, wasSent: Bool)
}
