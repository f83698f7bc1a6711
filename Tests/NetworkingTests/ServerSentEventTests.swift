import Networking
import Testing

@Suite struct ServerSentEventTests {
    private static func texts(_ events: [ServerSentEvent]) -> [String] {
        events.map { event in
            (event.name == "message" ? "" : "\(event.name)|")
                + event.data.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
        }
    }

    @Test(arguments: [
        ("data: a\n\ndata: b\n\n", ["a", "b"]),
        ("data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        ("data: a\r\rdata: b\r\r", ["a", "b"]),
        ("\u{feff}data: a\n\n", ["a"]),
        (": nothing\n\ndata:a\n: still nothing\n\n", ["a"]),
        ("data: a\ndata:  b\n\n", ["a\n b"]),
        ("event: error\ndata: x\nid: 4\nretry: 10\n\n", ["error|x"]),
        ("event: lonely\n\n\n\ndata\n\n", [""]),
        ("data: {\"é\": \"🐙\"}\n\n", ["{\"é\": \"🐙\"}"]),
        ("data: a\n\ndata: no empty line", ["a", "no empty line"]),
        ("data: a: b\n\n", ["a: b"]),
    ])
    func readsStreamsWhereverTheyAreCut(stream: String, expected: [String]) throws {
        let bytes = Array(stream.utf8)
        for size in 1...max(1, bytes.count) {
            var parser = ServerSentEventParser()
            var events: [ServerSentEvent] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                events += try parser.append(bytes[start..<min(start + size, bytes.count)])
            }
            events += parser.finish()
            #expect(Self.texts(events) == expected, "in pieces of \(size)")
        }
    }

    @Test func givesAnEventTheMomentItIsWhole() throws {
        var parser = ServerSentEventParser()
        #expect(try parser.append("data: a\n".utf8).isEmpty)
        #expect(try Self.texts(parser.append("\n".utf8)) == ["a"])
    }

    @Test func refusesAnEventThatDoesNotEnd() throws {
        var parser = ServerSentEventParser(limit: 100)
        for _ in 0..<50 { _ = try parser.append("data: 90 bytes and not more\n\n".utf8) }
        for _ in 0..<50 { _ = try parser.append(": comments do not add up\n".utf8) }
        #expect(throws: ServerSentEventParser.TooLarge(limit: 100)) {
            _ = try parser.append("data: \(String(repeating: "x", count: 100))".utf8)
        }
    }
}
