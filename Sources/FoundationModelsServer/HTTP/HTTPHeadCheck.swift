/// Holds the head of a request, as it came, against the grammar of HTTP/1.1 before libmicrohttpd reads it.
///
/// libmicrohttpd forgives what must not be forgiven between a proxy and a server, since two that forgive differently see
/// different requests: a header without a name ends the head there, a name may end with spaces, lines may be folded or end with
/// a bare CR or LF, and zero bytes cut texts short.
///
/// Source: RFC 9112, sections 2.2, 3, 5 and 6.
struct HTTPHeadCheck {
    enum Outcome: Equatable {
        /// The end of the head has not come.
        case incomplete
        case malformed(status: Int)
        /// - Parameters:
        ///   - length: Bytes to the end of the head.
        ///   - bodyLength: Those of the body; nil when it comes in chunks.
        case whole(length: Int, bodyLength: Int?)
    }

    /// Bytes of a head.
    static let limit = 32 << 10

    /// Bytes that have been looked at for the end.
    private var scanned = 0
    private var hasFirstLine = false

    /// - Parameter bytes: What has come since the end of the last request, from its first byte on; each time more.
    mutating func check(_ bytes: [UInt8]) -> Outcome {
        // An empty line or two before a request are passed over (section 2.2).
        var start = 0
        while start < 4, bytes.count >= start + 2, bytes[start] == Self.cr, bytes[start + 1] == Self.lf { start += 2 }
        while scanned < bytes.count {
            defer { scanned += 1 }
            guard bytes[scanned] == Self.lf else { continue }
            guard scanned > 0, bytes[scanned - 1] == Self.cr else { return .malformed(status: 400) }
            guard scanned >= start + 2 else { continue }
            hasFirstLine = true
            if bytes[scanned - 2] == Self.lf { return Self.check(bytes[start..<scanned - 3], length: scanned + 1) }
        }
        guard bytes.count < Self.limit else { return .malformed(status: hasFirstLine ? 431 : 414) }
        return .incomplete
    }

    private static let cr = UInt8(ascii: "\r"), lf = UInt8(ascii: "\n")

    /// - Parameter head: Without the line end and the empty line at its end.
    private static func check(_ head: ArraySlice<UInt8>, length: Int) -> Outcome {
        var lines = head.split(separator: lf, omittingEmptySubsequences: false).map { line in
            line.last == cr ? line.dropLast() : line
        }
        let request = lines.removeFirst().split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard request.count == 3, isToken(request[0]), isTarget(request[1]), isVersion(request[2]) else {
            return .malformed(status: 400)
        }
        var fields: [String: [String]] = [:]
        for line in lines {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), isToken(line[..<colon]),
                line[colon...].allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == UInt8(ascii: "\t") })
            else { return .malformed(status: 400) }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            let value = line[(colon + 1)...].trimming { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            fields[name, default: []].append(String(decoding: value, as: UTF8.self))
        }
        guard fields["host", default: []].count <= 1 else { return .malformed(status: 400) }
        switch (fields["content-length"], fields["transfer-encoding"]) {
        case (nil, nil): return .whole(length: length, bodyLength: 0)
        case (let lengths?, nil):
            guard lengths.count == 1, !lengths[0].isEmpty, lengths[0].utf8.allSatisfy({ (0x30...0x39).contains($0) })
            else { return .malformed(status: 400) }
            guard let bodyLength = Int(lengths[0]) else { return .malformed(status: 413) }
            return .whole(length: length, bodyLength: bodyLength)
        case (nil, let codings?):
            // HTTP/1.0 has none.
            guard request[2].last != UInt8(ascii: "0") else { return .malformed(status: 400) }
            guard codings.count == 1, codings[0].lowercased() == "chunked" else { return .malformed(status: 501) }
            return .whole(length: length, bodyLength: nil)
        case (_?, _?): return .malformed(status: 400)
        }
    }

    /// Section 5.6.2 of RFC 9110.
    private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: tokenMarks.contains(byte)
                }
            }
    }

    private static let tokenMarks = Array("!#$%&'*+-.^_`|~".utf8)

    /// Visible characters, and no zero byte written as `%00`, where texts would end.
    private static func isTarget(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7e).contains($0) }) else { return false }
        return !zip(bytes, zip(bytes.dropFirst(), bytes.dropFirst(2))).contains {
            $0 == UInt8(ascii: "%") && $1.0 == UInt8(ascii: "0") && $1.1 == UInt8(ascii: "0")
        }
    }

    private static func isVersion(_ bytes: ArraySlice<UInt8>) -> Bool {
        let digits = bytes.dropFirst(5)
        return bytes.starts(with: "HTTP/".utf8) && digits.count == 3 && digits.dropFirst().first == UInt8(ascii: ".")
            && [digits.first, digits.last].allSatisfy { (0x30...0x39).contains($0 ?? 0) }
    }
}

extension ArraySlice<UInt8> {
    /// Without the bytes at both ends that fit.
    fileprivate func trimming(_ fits: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        var rest = self
        while let first = rest.first, fits(first) { rest = rest.dropFirst() }
        while let last = rest.last, fits(last) { rest = rest.dropLast() }
        return rest
    }
}
