import Foundation
import FoundationModelsServer
import Inference
import JSON
import Synchronization
import Testing

extension ServedModelTests {
    /// The server over real connections: what a client that goes away leaves behind, limits, the end.
    @Suite(.serialized) struct HTTPServerTests {
        let server: ModelServer
        let http: HTTPServer
        let port: Int

        init() throws {
            server = try ServedModel.server { $0.queuedRequests = 2 }
            var limits = HTTPLimits()
            limits.bodySize = 64 << 10
            limits.receiveTime = .seconds(1)
            let socket = try ListeningSocket(host: "127.0.0.1", port: 0)
            port = socket.port
            http = HTTPServer(socket, handler: server, limits: limits)
        }

        /// A connection that a test writes to and reads from byte by byte.
        private final class Client: Sendable {
            let descriptor: Int32

            init(_ port: Int) {
                descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = UInt16(port).bigEndian
                address.sin_addr.s_addr = inet_addr("127.0.0.1")
                withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                        _ = connect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
            }

            deinit { end() }

            private let isOpen = Mutex(true)
            func end() {
                isOpen.withLock {
                    if $0 { close(descriptor) }
                    $0 = false
                }
            }

            func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

            func send(_ text: String) {
                var bytes = Array(text.utf8)[...]
                while !bytes.isEmpty {
                    let count = bytes.withUnsafeBytes {
                        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard count > 0 else { return }
                    bytes = bytes.dropFirst(count)
                }
            }

            /// Reads until a text has come, or to the end of the connection.
            func read(until text: String? = nil) async throws -> String {
                try await onThread { self.blockingRead(until: text) }
            }

            private func blockingRead(until text: String?) -> String {
                var bytes: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4096)
                while true {
                    let count = recv(descriptor, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    bytes += buffer[..<count]
                    if let text, String(decoding: bytes, as: UTF8.self).contains(text) { break }
                }
                return String(decoding: bytes, as: UTF8.self)
            }
        }

        private func post(_ path: String, _ body: String) -> String {
            "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }

        /// An answer that takes as long as there is room in the context, if nobody stops it: counting does not end by itself.
        private func long(stream: Bool, prompt: String = "1, 2, 3, 4, 5, 6, 7, 8,") -> String {
            post(
                "/v1/completions",
                #"{"prompt": "\#(prompt)", "max_tokens": 900, "temperature": 0, "stream": \#(stream)}"#)
        }

        private func isIdle(within limit: Duration) async throws -> Bool {
            let end = ContinuousClock.now + limit
            while ContinuousClock.now < end {
                if server.activeCount == 0 { return true }
                try await Task.sleep(for: .milliseconds(5))
            }
            return false
        }

        private func wait(_ limit: Duration = .seconds(20), for condition: () -> Bool) async throws -> Bool {
            let end = ContinuousClock.now + limit
            while ContinuousClock.now < end {
                if condition() { return true }
                try await Task.sleep(for: .milliseconds(5))
            }
            return false
        }

        // MARK: Clients that go away

        @Test func inTheMiddleOfAStream() async throws {
            let client = Client(port)
            client.send(long(stream: true))
            #expect(try await client.read(until: "data: {").contains("200 OK"))
            #expect(server.activeCount == 1)
            client.end()
            #expect(try await isIdle(within: .seconds(5)))
            http.stop()
        }

        @Test func whileAWholeAnswerIsMade() async throws {
            let client = Client(port)
            client.send(long(stream: false))
            #expect(try await wait { server.activeCount == 1 })
            client.end()
            #expect(try await isIdle(within: .seconds(5)))
            http.stop()
        }

        @Test func inTheQueue() async throws {
            let running = (0..<2).map { _ in Client(port) }
            for client in running {
                client.send(long(stream: true))
                _ = try await client.read(until: "data: {")
            }
            let waiting = Client(port)
            waiting.send(long(stream: true))
            #expect(try await wait { server.activeCount == 3 })
            waiting.end()
            #expect(try await wait(.seconds(5)) { server.activeCount == 2 })
            for client in running { client.end() }
            #expect(try await isIdle(within: .seconds(5)))
            http.stop()
        }

        @Test func tooManyAreToldToComeAgain() async throws {
            let clients = (0..<4).map { _ in Client(port) }
            for client in clients { client.send(long(stream: true)) }
            #expect(try await wait { server.activeCount == 4 })
            let late = Client(port)
            late.send(long(stream: false))
            let answer = try await late.read(until: "}}")
            #expect(answer.hasPrefix("HTTP/1.1 429"))
            #expect(answer.contains("Retry-After: ") && answer.contains("server_overloaded"))
            for client in clients { client.end() }
            #expect(try await isIdle(within: .seconds(5)))
            http.stop()
        }

        // MARK: Limits

        @Test func aLargeBodyIsRefusedBeforeItComes() async throws {
            let client = Client(port)
            client.send(
                "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n"
            )
            #expect(try await client.read().hasPrefix("HTTP/1.1 413"))
            http.stop()
        }

        @Test func aLargeBodyOfUnknownLengthIsRefused() async throws {
            let client = Client(port)
            client.send(
                "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
            )
            for _ in 0..<5 { client.send("4000\r\n\(String(repeating: " ", count: 0x4000))\r\n") }
            client.send("0\r\n\r\n")
            #expect(try await client.read(until: "}}").hasPrefix("HTTP/1.1 413"))
            http.stop()
        }

        @Test(arguments: [
            "", "GET /health HT", "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
        ])
        func aRequestThatDoesNotComeIsNotWaitedFor(start: String) async throws {
            let client = Client(port)
            client.send(start)
            let begin = ContinuousClock.now
            let answer = try await client.read()
            #expect(ContinuousClock.now - begin < .seconds(15))
            if start.isEmpty { #expect(answer.isEmpty) } else { expectRefusal(answer, 408) }
            #expect(try await wait(.seconds(5)) { http.connectionCount == 0 })
            http.stop()
        }

        @Test func severalRequestsOfOneConnection() async throws {
            let client = Client(port)
            for _ in 0..<3 {
                client.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(try await client.read(until: "}").hasPrefix("HTTP/1.1 200"))
            }
            http.stop()
        }

        @Test func strangersAreRefused() async throws {
            for headers in ["Host: evil.example", "Host: localhost\r\nOrigin: http://evil.example"] {
                let client = Client(port)
                client.send("GET /v1/models HTTP/1.1\r\n\(headers)\r\n\r\n")
                #expect(try await client.read(until: "}}").hasPrefix("HTTP/1.1 403"))
            }
            http.stop()
        }

        // MARK: What is no request

        /// An answer of the server's own: one head, an error in JSON.
        private func expectRefusal(_ answer: String, _ status: Int) {
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
            #expect(answer.components(separatedBy: "Content-Length: ").count == 2)
            #expect(answer.contains("Content-Type: application/json\r\n"))
            let body = answer.components(separatedBy: "\r\n\r\n").dropFirst().joined()
            let error = try? JSONValue(parsing: body)["error"]?["message"]?.stringValue
            #expect(error?.isEmpty == false, "\(answer)")
        }

        private struct Refusal: Sendable, CustomTestStringConvertible {
            var testDescription: String
            var text: String
            var status: Int

            init(_ name: String, _ text: String, _ status: Int) {
                (testDescription, self.text, self.status) = (name, text, status)
            }
        }

        private static let chunked =
            "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"

        private static func head(_ line: String) -> String {
            "GET /health HTTP/1.1\r\nHost: localhost\r\n\(line)\r\n\r\n"
        }

        private static func tokenize(length: String) -> String {
            "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: \(length)\r\n\r\n{}"
        }

        @Test(arguments: [
            Refusal("one word", "GARBAGE\r\n\r\n", 400),
            Refusal("no version", "GET /health\r\nHost: localhost\r\n\r\n", 400),
            Refusal("a space in the address", "GET /hea lth HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
            Refusal("a coming version", "GET /health HTTP/2.0\r\nHost: localhost\r\n\r\n", 505),
            Refusal("no host", "GET /health HTTP/1.1\r\n\r\n", 400),
            Refusal("no colon", "GET /health HTTP/1.1\r\nHost localhost\r\n\r\n", 400),
            Refusal("a negative length", tokenize(length: "-1"), 400),
            Refusal("a length that is a word", tokenize(length: "two"), 400),
            Refusal("a length without end", tokenize(length: "99999999999999999999999"), 413),
            Refusal(
                "a long address", "GET /\(String(repeating: "a", count: 40_000)) HTTP/1.1\r\nHost: localhost\r\n\r\n",
                414),
            Refusal(
                "a long header",
                "GET /health HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "a", count: 40_000))\r\n\r\n", 431),
            Refusal("a chunk of no size", chunked + "zz\r\nabc\r\n", 400),
            Refusal("a chunk of endless size", chunked + "ffffffffffffffffff\r\n", 413),
            Refusal("a chunk with a long line", chunked + "5;x=\(String(repeating: "y", count: 60_000))", 400),
            Refusal("a header without a name", head(": x") + head("X: y"), 400),
            Refusal("a space before the colon", head("X : y"), 400),
            Refusal("a folded line", head("X: y\r\n z"), 400),
            Refusal("a bare carriage return", head("X: y\rz"), 400),
            Refusal("a bare line feed", head("X: y\nZ: z"), 400),
            Refusal("a zero byte in a host", "GET /health HTTP/1.1\r\nHost: localhost\0.example\r\n\r\n", 400),
            Refusal("a zero byte in an address", "GET /v1/models/a%00b HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
            Refusal("a method that is no word", "G\u{1b}T /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
            Refusal("two hosts", head("Host: localhost"), 400),
            Refusal("a length and chunks", head("Content-Length: 5\r\nTransfer-Encoding: chunked"), 400),
            Refusal("an unknown coding", head("Transfer-Encoding: gzip, chunked"), 501),
            Refusal("a cut head", "GET /health HTTP/1.1\r\nHost: lo", 400),
            Refusal("a cut body", tokenize(length: "20"), 400),
        ])
        private func whatIsNoRequestIsAnsweredInJSON(_ refusal: Refusal) async throws {
            let client = Client(port)
            client.send(refusal.text)
            client.endSending()
            expectRefusal(try await client.read(), refusal.status)
            #expect(try await wait(.seconds(5)) { http.connectionCount == 0 })
            let metrics = Client(port)
            metrics.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let text = try await metrics.read()
            #expect(text.contains("status=\"\(refusal.status)\"} 1\n"))
            http.stop()
        }

        /// It is refused at once, although the client keeps its side open.
        @Test func anUnknownCodingIsNotWaitedFor() async throws {
            let client = Client(port)
            let begin = ContinuousClock.now
            client.send(Self.head("Transfer-Encoding: gzip"))
            expectRefusal(try await client.read(), 501)
            #expect(ContinuousClock.now - begin < .milliseconds(900))
            http.stop()
        }

        @Test func aHeadThatComesByteByByte() async throws {
            let client = Client(port)
            for byte in Self.head("X: y") { client.send(String(byte)) }
            #expect(try await client.read(until: "}").hasPrefix("HTTP/1.1 200"))
            http.stop()
        }

        /// What comes behind a request at once is not answered, and the client is told so.
        @Test func whatFollowsARequestAtOnce() async throws {
            for next in [Self.head("X: y"), Self.head(": x")] {
                let client = Client(port)
                client.send(Self.head("X: y") + next)
                let answer = try await client.read()
                #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2)
                #expect(answer.contains("Connection: close\r\n"))
            }
            http.stop()
        }

        @Test func theHostOfAnAbsoluteAddressCounts() async throws {
            for (address, status) in [
                ("http://localhost/health", 200), ("HTTP://localhost/health", 200), ("http://evil.example/health", 403),
                ("http://localhost", 200),
            ] {
                let client = Client(port)
                client.send("GET \(address) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                #expect(try await client.read().hasPrefix("HTTP/1.1 \(status) "))
            }
            http.stop()
        }

        /// A client that waits for "100 Continue" gets it at once.
        @Test func bodiesThatWaitToBeAskedFor() async throws {
            let client = Client(port)
            let begin = ContinuousClock.now
            client.send(
                "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 15\r\n"
                    + "Expect: 100-continue\r\n\r\n")
            #expect(try await client.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 100 "))
            #expect(ContinuousClock.now - begin < .milliseconds(500))
            client.send(#"{"content":"a"}"#)
            #expect(try await client.read(until: "}").contains("HTTP/1.1 200"))
            http.stop()
        }

        @Test func aRefusalBehindAnAnswer() async throws {
            let client = Client(port)
            client.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(try await client.read(until: "}").hasPrefix("HTTP/1.1 200"))
            client.send("GET /health HTTP/1.1\r\n\r\n")
            expectRefusal(try await client.read(), 400)
            http.stop()
        }

        /// The answer comes although the server does not read what it refuses.
        @Test func aLargeBodyThatIsSentAllTheSame() async throws {
            let client = Client(port)
            client.send(
                "POST /tokenize HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9999999\r\n\r\n"
            )
            client.send(String(repeating: " ", count: 9_999_999))
            expectRefusal(try await client.read(), 413)
            http.stop()
        }

        // MARK: The end

        @Test func drainingLetsAnAnswerEndAndTakesNoNewOnes() async throws {
            let client = Client(port)
            client.send(
                post("/v1/completions", #"{"prompt": "One two", "max_tokens": 60, "temperature": 0, "stream": true}"#))
            _ = try await client.read(until: "data: {")
            let late = Client(port)
            late.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(try await late.read(until: "}").contains("200 OK"))
            server.drain()
            http.drain()
            late.send(long(stream: false))
            #expect(try await late.read(until: "}}").contains("503"))
            #expect(try await client.read(until: "[DONE]").contains("data: [DONE]"))
            #expect(try await isIdle(within: .seconds(5)))
            http.stop()
            #expect(try await Client(port).read().isEmpty)
        }

        /// The engine computes two at a time, so that the third waits.
        @Test func clientsAreToldWhatTheEndCutsOff() async throws {
            let streams = [Client(port), Client(port)]
            for client in streams {
                client.send(long(stream: true))
                _ = try await client.read(until: "data: {")
            }
            let whole = Client(port)
            whole.send(long(stream: false))
            #expect(try await wait { server.activeCount == 3 })
            let left = await server.end(http, within: .milliseconds(100))
            #expect(left == 3)
            for client in streams {
                let rest = try await client.read()
                #expect(rest.contains(#"data: {"error":{"message":"The server is shutting down.""#), "\(rest)")
                #expect(!rest.contains("[DONE]"))
            }
            let answer = try await whole.read()
            #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.contains("shutting_down"), "\(answer)")
        }

        @Test func stoppingEndsWhatIsGoingOn() async throws {
            let client = Client(port)
            client.send(long(stream: true))
            _ = try await client.read(until: "data: {")
            http.stop()
            #expect(server.activeCount == 0)
            #expect(try await client.read().contains("[DONE]") == false)
        }
    }
}
