import Foundation
import GuidedGeneration
import JSON
import Testing

private let formatCases: [(name: String, valid: [String], invalid: [String])] = [
    (
        "date", ["2024-02-29", "2000-02-29", "1999-12-31"],
        ["2023-02-29", "1900-02-29", "2024-13-01", "2024-04-31", "24-01-01", "2024-1-1"]
    ),
    (
        "time", ["08:30:06Z", "08:30:06.28+00:20", "23:59:60Z"],
        ["24:00:00Z", "08:30:06", "08:30Z", "12:00:60Z", "08:30:06+24:00"]
    ),
    (
        "date-time", ["1963-06-19T08:30:06.283185Z", "1990-12-31T15:59:50-08:00"],
        ["1963-06-19", "1998-13-01T00:00:00Z", "2024-01-01 00:00:00Z"]
    ),
    ("duration", ["P4DT12H30M5S", "P1Y", "PT0S", "P2W", "P1Y2M3DT4H5M6S"], ["P", "PT", "4D", "P1YT", "P1S", "P1Y2W"]),
    (
        "email", ["joe.bloggs@example.com", "~x@a.b", "\"a b\"@x.y", "u@[127.0.0.1]"],
        ["2962", ".a@b.c", "a..b@c.d", "a@b c", "@x"]
    ),
    (
        "uuid", ["2EB8AA08-aa98-11ea-b4aa-73b441d16380"],
        ["2eb8aa08aa9811eab4aa73b441d16380", "2eb8aa08-aa98-11ea-b4aa-73b441d1638", "g"]
    ),
    (
        "uri", ["http://foo.bar/?baz=qux#quux", "urn:a:b", "mailto:a@b.c", "http://[::1]:80/%20"],
        ["//foo", "/abc", "a b:c", "http://x/%2", "\\\\x"]
    ),
    ("uri-reference", ["", "/abc", "#f", "//x/y", "a/b?c"], ["\\\\x", "a b", ":"]),
    (
        "hostname", ["www.example.com", "a-b", "x1"],
        ["-a", "a-", "a..b", "", "a_b", String(repeating: "a", count: 64)]
    ),
    ("ipv4", ["192.168.0.1", "0.0.0.0", "255.255.255.255"], ["256.0.0.1", "1.2.3", "01.2.3.4", "1.2.3.4.5"]),
    (
        "ipv6", ["::1", "::", "1::", "2001:db8::1:2", "1:2:3:4:5:6:7:8", "::ffff:192.168.0.1", "1:2:3:4:5:6:1.2.3.4"],
        ["1", ":1", "1::2::3", "12345::", "1:2:3:4:5:6:7:8:9", "::ffff:256.0.0.1", "1:2:3:4:5:6:7"]
    ),
    ("json-pointer", ["", "/a/~0~1", "/"], ["a", "/~2"]),
    ("uri-template", ["http://x/{a,b:3}{?q*}", ""], ["{", "{a}}", "a b"]),
]

@Suite struct FormatTests {
    @Test func formats() throws {
        for (name, valid, _) in formatCases {
            let grammar = try Grammar.schema("{\"type\": \"string\", \"format\": \"\(name)\"}")
            for text in valid { #expect(grammar.accepts(JSONValue.quoted(text)), "\(name) \(text)") }
        }
    }

    @Test func formats_failures() throws {
        for (name, _, invalid) in formatCases {
            let grammar = try Grammar.schema("{\"type\": \"string\", \"format\": \"\(name)\"}")
            for text in invalid { #expect(!grammar.accepts(JSONValue.quoted(text)), "\(name) \(text)") }
        }
    }

    /// Addresses at random, most of them nearly right, against the C library's reading.
    @Test func ipv6AsTheSystemReadsIt() throws {
        let grammar = try Grammar.schema(#"{"type": "string", "format": "ipv6"}"#)
        let host = try Grammar.schema(#"{"type": "string", "format": "uri"}"#)
        var random = RandomBits(7)
        let groups = ["0", "1", "ab", "fFfF", "12345", "g", "", "1.2.3.4", "255.0.0.256", "01.2.3.4"]
        var good = 0
        for _ in 0..<4_000 {
            var parts = (0..<Int.random(in: 0...9, using: &random)).map { _ in
                groups[
                    Int.random(in: 0..<(Int.random(in: 0..<4, using: &random) == 0 ? groups.count : 4), using: &random)]
            }
            if Bool.random(using: &random) {
                parts.insert("", at: Int.random(in: 0...parts.count, using: &random))
                if parts.first == "" { parts.insert("", at: 0) }
                if parts.last == "" { parts.append("") }
            }
            if Int.random(in: 0..<4, using: &random) == 0 { parts.append("1.2.3.4") }
            let text = parts.joined(separator: ":")
            var address = in6_addr()
            let isValid = inet_pton(AF_INET6, text, &address) == 1
            good += isValid ? 1 : 0
            #expect(grammar.accepts(JSONValue.quoted(text)) == isValid, "\(text)")
            #expect(host.accepts(JSONValue.quoted("http://[\(text)]/")) == isValid, "\(text)")
        }
        #expect(good > 400)
    }

    @Test func aFormatThatCannotBeEnforcedIsRefusedAndAnUnknownOneIsAnAnnotation() throws {
        #expect(throws: GrammarError.self) { try Grammar.schema(#"{"format": "regex"}"#) }
        #expect(try Grammar.schema(#"{"type": "string", "format": "colour"}"#).accepts("\"red\""))
        let annotated = try Grammar.schema(#"{"type": "string", "format": "date"}"#, .init(enforcesFormats: false))
        #expect(annotated.accepts("\"soon\""))
    }
}
