import Foundation
import Synchronization

/// An HTTP server on the loopback that does what a test tells it, byte by byte: each connection carries one request.
package final class FaultServer: Sendable {
    package struct Request: Sendable {
        package var path: String
        /// Names in lower case.
        package var headers: [String: String]
        /// How many requests came before.
        package var number: Int
        /// As many bytes as `Content-Length` says.
        package var body: [UInt8] = []

        /// The offset of `Range: bytes=OFFSET-`.
        package var rangeStart: Int? {
            headers["range"].flatMap { $0.hasPrefix("bytes=") ? Int($0.dropFirst(6).dropLast()) : nil }
        }
    }

    /// What is sent, in order. The connection is closed at the end.
    package enum Step: Sendable {
        case send([UInt8])
        case pause(Double)
        /// Goes on when the flag is set, or after ten seconds.
        case wait(Flag)
        /// Sets the flag when the other side closes the connection, or after ten seconds goes on without.
        case noteClosing(Flag)
        /// Ends the connection with a reset instead of in an orderly way.
        case reset
    }

    private let listener: Int32
    package let port: UInt16
    private let answer: @Sendable (Request) -> [Step]
    private let log = Mutex<[Request]>([])

    package init(_ answer: @escaping @Sendable (Request) -> [Step]) {
        self.answer = answer
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        precondition(bound, "the loopback has no free port")
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    // Closed here and nowhere else: a number that is free again could be another server's at once.
                    close(listener)
                    return
                }
                Thread.detachNewThread { [self] in
                    serve(connection)
                }
            }
        }
    }

    package func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    package func url(_ path: String = "/model.gguf") -> String { "http://127.0.0.1:\(port)\(path)" }

    package var requests: [Request] { log.withLock { $0 } }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        guard let request = read(connection) else { return }
        for step in answer(request) {
            switch step {
            case .send(let bytes):
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes {
                        send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard count > 0 else { return }
                    rest = rest.dropFirst(count)
                }
            case .pause(let seconds): usleep(UInt32(seconds * 1e6))
            case .wait(let flag):
                // Ends by itself, but only long after anything that a busy machine delays.
                for _ in 0..<6000 where !flag.isSet { usleep(10_000) }
            case .noteClosing(let flag):
                var patience = timeval(tv_sec: 10, tv_usec: 0)
                setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
                var byte: UInt8 = 0
                if recv(connection, &byte, 1, 0) == 0 || errno == ECONNRESET { flag.set() }
            case .reset:
                var value = linger(l_onoff: 1, l_linger: 0)
                setsockopt(connection, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
                return
            }
        }
        // An orderly end: the reader gets everything before the connection is gone.
        shutdown(connection, Int32(SHUT_WR))
        var byte: UInt8 = 0
        while recv(connection, &byte, 1, 0) > 0 {}
    }

    private func read(_ connection: Int32) -> Request? {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual(Array("\r\n\r\n".utf8)) {
            guard head.count < 16_384, recv(connection, &byte, 1, 0) == 1 else { return nil }
            head.append(byte)
        }
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        var body: [UInt8] = []
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while body.count < min(length, 64 << 20) {
            let count = recv(connection, &buffer, min(buffer.count, length - body.count), 0)
            guard count > 0 else { return nil }
            body += buffer[..<count]
        }
        return log.withLock { log in
            let request = Request(path: String(words[1]), headers: headers, number: log.count, body: body)
            log.append(request)
            return request
        }
    }

    package static func head(_ status: String, _ fields: [String: String]) -> Step {
        let lines = fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
        return .send(Array("HTTP/1.1 \(status)\r\n\(lines)Connection: close\r\n\r\n".utf8))
    }

    /// A well-behaved answer: the whole file, or the rest of it when a range is asked for and the tag still holds.
    package static func whole(_ body: [UInt8], _ request: Request, tag: String = "\"v1\"") -> [Step] {
        if let start = request.rangeStart, request.headers["if-range"].map({ $0 == tag }) ?? true {
            guard start < body.count else {
                return [
                    head(
                        "416 Range Not Satisfiable", ["Content-Range": "bytes */\(body.count)", "Content-Length": "0"])
                ]
            }
            let rest = Array(body[start...])
            return [
                head(
                    "206 Partial Content",
                    [
                        "Content-Range": "bytes \(start)-\(body.count - 1)/\(body.count)",
                        "Content-Length": "\(rest.count)", "ETag": tag,
                    ]), .send(rest),
            ]
        }
        return [head("200 OK", ["Content-Length": "\(body.count)", "ETag": tag]), .send(body)]
    }

    /// `whole`, cut off after `count` bytes of the body.
    package static func cut(
        _ body: [UInt8], _ request: Request, after count: Int, tag: String = "\"v1\"", reset: Bool = false
    )
        -> [Step]
    {
        whole(body, request, tag: tag).map { step in
            // The head of an answer is the step that begins with the protocol's name.
            if case .send(let bytes) = step, !bytes.starts(with: Array("HTTP/".utf8)) {
                return .send(Array(bytes.prefix(count)))
            }
            return step
        } + (reset ? [.pause(0.05), .reset] : [])
    }
}
