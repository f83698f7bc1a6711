import CLibmicrohttpd
import Foundation

/// The requests of one connection, which libmicrohttpd reads and answers on the connection's own thread.
///
/// Each connection has a daemon of its own that runs when it is told to, for three reasons. What libmicrohttpd says of a
/// request that it refuses belongs to this connection, so that the refusal can be put in the handler's words: libmicrohttpd writes
/// its own in HTML, and some of them twice. A request that it drops without a word is answered. And the thread may wait in `poll`
/// for its events and its client at once, so that a client that goes away is noticed whatever the server is doing for it.
///
/// It gets to read a request when the whole head is there and keeps to the grammar (`HTTPHeadCheck`). What follows a request at
/// once, before it is answered, it may have read by then, unchecked; so the connection ends after that answer, as it does after a
/// body in chunks, whose end only libmicrohttpd knows. A client sends again what had no answer.
/// Used by one thread.
final class HTTPConnection {
    private let client: ClientConnection
    private let handler: any HTTPHandler
    private let limits: HTTPLimits
    /// The request that is read or answered, from the end of its head on.
    private var exchange: HTTPExchange?
    /// What has come of the next head.
    private var headCheck = HTTPHeadCheck()
    /// Whether the head that libmicrohttpd is to read has been checked.
    private var isChecked = false
    /// Whether bytes may follow the request that are not checked.
    private var mayBeFollowed = false
    /// Whether a part of a request has come whose head is not complete yet.
    private var hasPart = false
    /// Whether a refusal was sent, after which nothing is.
    private var isRefused = false

    init(_ client: ClientConnection, handler: any HTTPHandler, limits: HTTPLimits) {
        self.client = client
        self.handler = handler
        self.limits = limits
    }

    /// Serves the connection to its end. Its descriptor stays open.
    func serve() {
        var context = clibmicrohttpd_context(
            owner: Unmanaged.passUnretained(self).toOpaque(),
            refused: { owner, status in
                guard let owner else { return }
                HTTPConnection.from(owner).refuse(Int(status))
            })
        withUnsafeMutablePointer(to: &context, run)
        client.linger()
    }

    /// For the head, its parameters and a part of the body.
    private static let memory = 4 * HTTPHeadCheck.limit

    private func run(_ context: UnsafeMutablePointer<clibmicrohttpd_context>) {
        // libmicrohttpd closes its descriptor.
        let own = fcntl(client.descriptor, F_DUPFD_CLOEXEC, 0)
        guard own >= 0 else { return refuse(503) }
        guard let daemon = clibmicrohttpd_start(Self.memory, httpAccess, httpCompleted, context) else {
            close(own)
            return refuse(503)
        }
        var address = sockaddr()
        // The address is not asked for.
        address.sa_family = sa_family_t(AF_UNSPEC)
        if MHD_add_connection(daemon, own, &address, socklen_t(MemoryLayout<sockaddr>.size)) == clibmicrohttpd_yes {
            serve(daemon)
        }
        if let exchange, exchange.bodySize > limits.bodySize {
            refuse(413)
        } else if exchange != nil || hasPart {
            refuse(client.isLate ? 408 : 400)
        }
        // Ends its connection in both directions if that is still open.
        MHD_stop_daemon(daemon)
    }

    private func serve(_ daemon: OpaquePointer) {
        var vainRounds = 0
        var read = 0
        while clibmicrohttpd_is_open(daemon) != 0, !client.isLate {
            guard client.phase == .receiving else {
                MHD_run_wait(daemon, 1000)
                vainRounds = 0
                continue
            }
            let isReady = client.awaitInput()
            if exchange == nil, !isChecked {
                guard readHead() else { return }
                guard isChecked else { continue }
            }
            let unread = client.unreadCount
            // Once to read, and once to write what that asks for by itself: "100 Continue".
            MHD_run_wait(daemon, 0)
            if exchange != nil || isChecked { MHD_run_wait(daemon, 0) }
            if !isReady || client.unreadCount < unread || exchange?.bodySize != read {
                vainRounds = 0
                read = exchange?.bodySize ?? 0
            } else {
                // Its memory is full with something that it cannot make out, such as an endless line before a chunk.
                vainRounds += 1
                if vainRounds > 50 { return }
                usleep(5000)
            }
        }
    }

    /// Looks at what has come of a head. False when the connection ends: with a head that is malformed, or without a whole one.
    private func readHead() -> Bool {
        let bytes = client.peek(HTTPHeadCheck.limit)
        hasPart = !bytes.isEmpty
        switch headCheck.check(bytes) {
        case .incomplete:
            client.awaitMore(than: bytes.count)
            return !client.isGone
        case .malformed(let status):
            refuse(status)
            return false
        case .whole(let length, let bodyLength):
            client.awaitMore(than: 0)
            headCheck = HTTPHeadCheck()
            isChecked = true
            mayBeFollowed = bodyLength.map { bytes.count - length > $0 } ?? true
            return true
        }
    }

    /// Answers what is no proper request, in place of libmicrohttpd.
    private func refuse(_ status: Int) {
        // What has an answer gets no second one.
        guard !isRefused, exchange?.status ?? 0 == 0 else { return }
        isRefused = true
        let head = exchange?.head ?? HTTPRequestHead(method: "-", path: "-", connection: client)
        let response =
            status == 413 ? handler.refuseBody(of: head, limit: limits.bodySize) : handler.refuse(head, status: status)
        guard case .bytes(let body) = response.body else { return }
        let reason = MHD_get_reason_phrase_for(UInt32(response.status)).map { String(cString: $0) } ?? ""
        var text = "HTTP/1.1 \(response.status) \(reason)\r\n"
        for (name, value) in response.headers where name != "Connection" { text += "\(name): \(value)\r\n" }
        text += "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        let isSent = client.send(Array(text.utf8) + body)
        // libmicrohttpd's own words find no way any more.
        shutdown(client.descriptor, Int32(SHUT_WR))
        handler.completed(head, status: isSent ? response.status : 0, wasSent: isSent)
        exchange = nil
        hasPart = false
    }

    // MARK: From libmicrohttpd

    fileprivate static func from(_ owner: UnsafeMutableRawPointer) -> HTTPConnection {
        Unmanaged<HTTPConnection>.fromOpaque(owner).takeUnretainedValue()
    }

    /// The next call for a request: its head, a part of its body, its end. False when the connection is to be ended.
    fileprivate func access(
        _ connection: OpaquePointer, isFirst: Bool, method: String, path: String, body: UnsafeRawBufferPointer
    ) -> Bool {
        if isFirst { return begin(connection, method: method, path: path) }
        guard let exchange else { return false }
        if body.count > 0 { return receive(body, exchange) }
        return queue(finish(exchange), exchange, connection)
    }

    /// The head is there.
    private func begin(_ connection: OpaquePointer, method: String, path: String) -> Bool {
        guard isChecked else { return false }
        isChecked = false
        let headers = HeaderList()
        clibmicrohttpd_headers(
            connection,
            { context, _, key, keySize, value, valueSize in
                guard let context, let key else { return clibmicrohttpd_yes }
                let headers = Unmanaged<HeaderList>.fromOpaque(context).takeUnretainedValue()
                func text(_ pointer: UnsafePointer<CChar>?, _ count: Int) -> String {
                    pointer.map { String(decoding: UnsafeRawBufferPointer(start: $0, count: count), as: UTF8.self) }
                        ?? ""
                }
                headers.values[text(key, keySize).lowercased(), default: []].append(text(value, valueSize))
                return clibmicrohttpd_yes
            }, Unmanaged.passUnretained(headers).toOpaque())
        var head = HTTPRequestHead(method: method, path: path, headers: headers.values, connection: client)
        head.resolveAbsoluteForm()
        let exchange = HTTPExchange(head)
        self.exchange = exchange
        hasPart = false
        if let refusal = handler.screen(head) { return queue(refusal, exchange, connection) }
        if let length = head.header("content-length").flatMap({ UInt64($0) }), length > UInt64(limits.bodySize) {
            return queue(handler.refuseBody(of: head, limit: limits.bodySize), exchange, connection)
        }
        return true
    }

    /// A part of the body.
    private func receive(_ bytes: UnsafeRawBufferPointer, _ exchange: HTTPExchange) -> Bool {
        exchange.bodySize += bytes.count
        if exchange.bodySize <= limits.bodySize {
            exchange.body.append(contentsOf: bytes)
        } else {
            // A body without a length: the answer can only be given at its end, which must not be far.
            exchange.body = []
        }
        return exchange.bodySize <= 2 * limits.bodySize
    }

    private func finish(_ exchange: HTTPExchange) -> HTTPResponse {
        client.enter(.working)
        guard exchange.bodySize <= limits.bodySize else {
            return handler.refuseBody(of: exchange.head, limit: limits.bodySize)
        }
        let request = HTTPRequest(head: exchange.head, body: exchange.body)
        exchange.body = []
        return handler.answer(request)
    }

    private func queue(_ response: HTTPResponse, _ exchange: HTTPExchange, _ connection: OpaquePointer) -> Bool {
        exchange.status = response.status
        client.enter(.sending)
        let made: OpaquePointer?
        switch response.body {
        case .bytes(let bytes):
            made = bytes.withUnsafeBytes { clibmicrohttpd_response($0.baseAddress, $0.count) }
        case .stream(let stream):
            let reader = StreamReader(stream, client)
            made = MHD_create_response_from_callback(
                UInt64.max, 16 << 10,
                { context, _, buffer, limit in
                    guard let context, let buffer else { return -2 }
                    return Unmanaged<StreamReader>.fromOpaque(context).takeUnretainedValue().read(buffer, limit)
                }, Unmanaged.passRetained(reader).toOpaque(),
                { context in
                    guard let context else { return }
                    Unmanaged<StreamReader>.fromOpaque(context).takeRetainedValue().end()
                })
        }
        guard let made else { return false }
        defer { MHD_destroy_response(made) }
        for (name, value) in response.headers { MHD_add_response_header(made, name, value) }
        if mayBeFollowed { MHD_add_response_header(made, "Connection", "close") }
        return MHD_queue_response(connection, UInt32(response.status), made) == clibmicrohttpd_yes
    }

    fileprivate func complete(wasSent: Bool) {
        // A request without an answer is answered when the connection has ended.
        guard let exchange, exchange.status != 0 else { return }
        self.exchange = nil
        handler.completed(exchange.head, status: exchange.status, wasSent: wasSent)
        client.enter(.receiving)
    }
}

/// A request while it comes and its answer while it goes.
private final class HTTPExchange {
    let head: HTTPRequestHead
    var body: [UInt8] = []
    var bodySize = 0
    /// 0 before there is an answer.
    var status = 0

    init(_ head: HTTPRequestHead) { self.head = head }
}

private final class HeaderList {
    var values: [String: [String]] = [:]
}

/// Gives the pieces of a stream in the portions that the buffer takes.
private final class StreamReader {
    private let stream: any HTTPBodyStream
    private let connection: ClientConnection
    private var rest: ArraySlice<UInt8> = []

    init(_ stream: any HTTPBodyStream, _ connection: ClientConnection) {
        self.stream = stream
        self.connection = connection
    }

    /// The number of bytes written; −1 at the end (`MHD_CONTENT_READER_END_OF_STREAM`), −2 when the connection is to be
    /// ended (`MHD_CONTENT_READER_END_WITH_ERROR`).
    func read(_ buffer: UnsafeMutablePointer<CChar>, _ limit: Int) -> Int {
        connection.enter(.working)
        defer { connection.enter(.sending) }
        while rest.isEmpty {
            do throws(HTTPClientGone) {
                guard let piece = try stream.next() else { return -1 }
                rest = piece[...]
            } catch {
                return -2
            }
        }
        let count = min(limit, rest.count)
        rest.prefix(count).withUnsafeBytes { bytes in
            UnsafeMutableRawPointer(buffer).copyMemory(from: bytes.baseAddress!, byteCount: count)
        }
        rest = rest.dropFirst(count)
        return count
    }

    func end() { stream.end() }
}

private func httpAccess(
    _ owner: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
    _ uploadSize: UnsafeMutablePointer<Int>?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let owner, let connection, let url, let method, let uploadSize, let state else { return clibmicrohttpd_no }
    let isFirst = state.pointee == nil
    state.pointee = owner
    let body = UnsafeRawBufferPointer(start: upload, count: isFirst ? 0 : uploadSize.pointee)
    if !isFirst { uploadSize.pointee = 0 }
    let goesOn = HTTPConnection.from(owner).access(
        connection, isFirst: isFirst, method: String(cString: method), path: String(cString: url), body: body)
    return goesOn ? clibmicrohttpd_yes : clibmicrohttpd_no
}

private func httpCompleted(
    _ owner: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
    guard let owner, let state, state.pointee != nil else { return }
    state.pointee = nil
    HTTPConnection.from(owner).complete(wasSent: clibmicrohttpd_is_complete(reason) != 0)
}
