import CLibmicrohttpd
import Foundation
import Synchronization

/// HTTP/1.1 on libmicrohttpd with a thread for each connection.
///
/// Threads wait in `poll` for their events and their client at once, so that a client that goes away is noticed whatever the
/// server is doing for it: libmicrohttpd by itself notices only when it reads or writes.
package final class HTTPServer: Sendable {
    private let handler: any HTTPHandler
    private let limits: HTTPLimits
    private let connections = Mutex<[ObjectIdentifier: ClientConnection]>([:])
    private struct State {
        // Written once, at the start, and used under the lock.
        nonisolated(unsafe) var daemon: OpaquePointer?
        var listener: Int32?
        var isStopped = false
    }
    private let state = Mutex(State())

    package struct Failure: Error, CustomStringConvertible {
        package var description: String { "the HTTP server cannot be started: \(String(cString: strerror(errno)))" }
    }

    /// Begins to accept connections. The listening socket is the server's from now on.
    package init(_ socket: ListeningSocket, handler: some HTTPHandler, limits: HTTPLimits = HTTPLimits())
        throws(Failure)
    {
        self.handler = handler
        self.limits = limits
        // The server outlives its daemon: `stop()` waits for all its threads.
        let daemon = clibmicrohttpd_start(
            socket.descriptor, UInt32(limits.connections), 32 << 10, 2 << 20, httpAccess, httpCompleted, httpConnection,
            Unmanaged.passUnretained(self).toOpaque())
        guard let daemon else { throw Failure() }
        state.withLock { state in
            state.daemon = daemon
            state.listener = socket.descriptor
        }
        Thread.detachNewThread { [weak self] in
            while true {
                Thread.sleep(forTimeInterval: 0.5)
                guard let self, !self.state.withLock({ $0.isStopped }) else { return }
                self.enforceLimits()
            }
        }
    }

    deinit { stop() }

    private func enforceLimits() {
        let now = ContinuousClock.now
        // Under the lock: a connection leaves the table before its descriptor is closed.
        connections.withLock { connections in
            for connection in connections.values { connection.enforce(limits, now: now) }
        }
    }

    /// The connections that are open.
    package var connectionCount: Int { connections.withLock { $0.count } }

    /// Accepts no more connections; those that are open go on.
    package func drain() {
        state.withLock { state in
            guard let daemon = state.daemon, let listener = state.listener else { return }
            MHD_quiesce_daemon(daemon)
            Foundation.close(listener)
            state.listener = nil
        }
    }

    /// Ends all connections and waits for their threads.
    package func stop() {
        drain()
        let daemon = state.withLock { state in
            defer { state.daemon = nil }
            state.isStopped = true
            return state.daemon.map { SendablePointer($0) }
        }
        guard let daemon else { return }
        connections.withLock { connections in
            for connection in connections.values { connection.end() }
        }
        MHD_stop_daemon(daemon.pointer)
    }

    private struct SendablePointer: @unchecked Sendable {
        let pointer: OpaquePointer
        init(_ pointer: OpaquePointer) { self.pointer = pointer }
    }

    // MARK: From libmicrohttpd

    fileprivate func open(_ connection: OpaquePointer) -> ClientConnection {
        let address = clibmicrohttpd_address(connection).map { SocketAddress($0).host } ?? "unknown"
        let descriptor = clibmicrohttpd_descriptor(connection)
        // Pieces of a stream are small and must not wait for each other.
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        let client = ClientConnection(descriptor: descriptor, address: address)
        connections.withLock { $0[ObjectIdentifier(client)] = client }
        return client
    }

    fileprivate func close(_ client: ClientConnection) {
        _ = connections.withLock { $0.removeValue(forKey: ObjectIdentifier(client)) }
    }

    /// The first call for a request: its head is there.
    fileprivate func begin(_ connection: OpaquePointer, method: String, path: String) -> (HTTPExchange, HTTPResponse?) {
        let context = clibmicrohttpd_socket_context(connection)
        let client =
            context.map { Unmanaged<ClientConnection>.fromOpaque($0).takeUnretainedValue() } ?? ClientConnection()
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
        let head = HTTPRequestHead(method: method, path: path, headers: headers.values, connection: client)
        let exchange = HTTPExchange(head)
        if let refusal = handler.screen(head) { return (exchange, refusal) }
        if let length = head.header("content-length").flatMap({ UInt64($0) }), length > UInt64(limits.bodySize) {
            return (exchange, handler.refuseBody(of: head, limit: limits.bodySize))
        }
        return (exchange, nil)
    }

    /// A part of the body. False when the connection is to be ended.
    fileprivate func receive(_ bytes: UnsafeRawBufferPointer, _ exchange: HTTPExchange) -> Bool {
        exchange.bodySize += bytes.count
        if exchange.bodySize <= limits.bodySize {
            exchange.body.append(contentsOf: bytes)
        } else {
            // A body without a length: the answer can only be given at its end, which must not be far.
            exchange.body = []
        }
        return exchange.bodySize <= 2 * limits.bodySize
    }

    fileprivate func finish(_ exchange: HTTPExchange) -> HTTPResponse {
        exchange.head.connection.enter(.working)
        guard exchange.bodySize <= limits.bodySize else {
            return handler.refuseBody(of: exchange.head, limit: limits.bodySize)
        }
        let request = HTTPRequest(head: exchange.head, body: exchange.body)
        exchange.body = []
        return handler.answer(request)
    }

    fileprivate func queue(
        _ response: HTTPResponse, _ exchange: HTTPExchange, _ connection: OpaquePointer
    ) -> MHD_Result {
        exchange.status = response.status
        exchange.head.connection.enter(.sending)
        let made: OpaquePointer?
        switch response.body {
        case .bytes(let bytes):
            made = bytes.withUnsafeBytes { clibmicrohttpd_response($0.baseAddress, $0.count) }
        case .stream(let stream):
            let reader = StreamReader(stream, exchange.head.connection)
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
        guard let made else { return clibmicrohttpd_no }
        defer { MHD_destroy_response(made) }
        for (name, value) in response.headers { MHD_add_response_header(made, name, value) }
        return MHD_queue_response(connection, UInt32(response.status), made)
    }

    fileprivate func complete(_ exchange: HTTPExchange, wasSent: Bool) {
        handler.completed(exchange.head, status: exchange.status, wasSent: wasSent)
        exchange.head.connection.enter(.receiving)
    }
}

/// A request while it comes and its answer while it goes. Used by the thread of the connection alone.
private final class HTTPExchange {
    let head: HTTPRequestHead
    var body: [UInt8] = []
    var bodySize = 0
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
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ upload: UnsafePointer<CChar>?,
    _ uploadSize: UnsafeMutablePointer<Int>?, _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let url, let method, let uploadSize, let state else { return clibmicrohttpd_no }
    let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
    guard let known = state.pointee else {
        let (exchange, refusal) = server.begin(
            connection, method: String(cString: method), path: String(cString: url))
        state.pointee = Unmanaged.passRetained(exchange).toOpaque()
        return refusal.map { server.queue($0, exchange, connection) } ?? clibmicrohttpd_yes
    }
    let exchange = Unmanaged<HTTPExchange>.fromOpaque(known).takeUnretainedValue()
    if uploadSize.pointee > 0 {
        let bytes = UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee)
        uploadSize.pointee = 0
        return server.receive(bytes, exchange) ? clibmicrohttpd_yes : clibmicrohttpd_no
    }
    return server.queue(server.finish(exchange), exchange, connection)
}

private func httpCompleted(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
    guard let context, let state, let known = state.pointee else { return }
    state.pointee = nil
    Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue().complete(
        Unmanaged<HTTPExchange>.fromOpaque(known).takeRetainedValue(),
        wasSent: clibmicrohttpd_is_complete(reason) != 0)
}

private func httpConnection(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ event: MHD_ConnectionNotificationCode
) {
    guard let context, let connection, let state else { return }
    let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
    if clibmicrohttpd_is_start(event) != 0 {
        state.pointee = Unmanaged.passRetained(server.open(connection)).toOpaque()
    } else if let known = state.pointee {
        state.pointee = nil
        server.close(Unmanaged<ClientConnection>.fromOpaque(known).takeRetainedValue())
    }
}
