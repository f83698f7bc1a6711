/// A URI reference, split as RFC 3986 has it, as far as schemas need it to find one another.
struct URIReference: Hashable {
    /// Everything before the path: scheme and authority.
    var prefix: String
    var path: String
    var query: String?
    var fragment: String?

    init(_ text: String) {
        // By code points: a mark that combines with a delimiter does not hide it.
        var rest = Substring(text).unicodeScalars
        if let mark = rest.firstIndex(of: "#") {
            fragment = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        if let mark = rest.firstIndex(of: "?") {
            query = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        }
        prefix = ""
        if let colon = rest.firstIndex(of: ":"), let first = rest.first, Self.isLetter(first),
            rest[..<colon].allSatisfy({ Self.isLetter($0) || "0"..."9" ~= $0 || "+-.".unicodeScalars.contains($0) })
        {
            prefix = String(rest[...colon])
            rest = rest[rest.index(after: colon)...]
        }
        if rest.starts(with: "//".unicodeScalars) {
            let authority = rest.dropFirst(2)
            let end = authority.firstIndex(of: "/") ?? authority.endIndex
            prefix += "//" + String(authority[..<end])
            rest = authority[end...]
        }
        path = String(rest)
    }

    private static func isLetter(_ scalar: Unicode.Scalar) -> Bool { "a"..."z" ~= scalar || "A"..."Z" ~= scalar }

    /// The text without the fragment.
    var resource: String { prefix + path + (query.map { "?" + $0 } ?? "") }

    /// This reference as seen from a base.
    func resolved(against base: URIReference) -> URIReference {
        var result = self
        if !prefix.isEmpty {
            if prefix.hasPrefix("//"), let colon = base.prefix.firstIndex(of: ":") {
                result.prefix = base.prefix[...colon] + prefix
            }
            return result
        }
        result.prefix = base.prefix
        if path.isEmpty {
            result.path = base.path
            if query == nil { result.query = base.query }
        } else if !path.hasPrefix("/") {
            let folder =
                base.path.lastIndex(of: "/").map { String(base.path[...$0]) } ?? (base.prefix.contains("//") ? "/" : "")
            result.path = Self.withoutDots(folder + path)
        } else {
            result.path = Self.withoutDots(path)
        }
        return result
    }

    private static func withoutDots(_ path: String) -> String {
        guard path.contains("/.") || path.hasPrefix(".") else { return path }
        var parts: [Substring] = []
        let pieces = path.split(separator: "/", omittingEmptySubsequences: false)
        for (index, piece) in pieces.enumerated() {
            let isLast = index == pieces.count - 1
            if piece == "." {
                if isLast { parts.append("") }
            } else if piece == ".." {
                if parts.count > 1 { parts.removeLast() }
                if isLast { parts.append("") }
            } else {
                parts.append(piece)
            }
        }
        return parts.joined(separator: "/")
    }

    /// A fragment with its percent escapes taken out; nil when they are not UTF-8.
    static func percentDecoded(_ text: String) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        let bytes = Array(text.utf8)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = hexadecimalValue(bytes[index + 1]),
                let low = hexadecimalValue(bytes[index + 2])
            {
                decoded.append(UInt8(high << 4 | low))
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }
}
