/// Texts that come from model files, servers and templates, as they may be shown.
package enum TerminalText {
    /// Code points of one message, at most.
    static let limit = 2_000
    /// Of a longer one so many are shown from its end; the others from its beginning.
    private static let tail = 500

    /// The text without anything that a terminal would obey: control characters and those that turn the direction of
    /// writing are spelled out, as `\u{1b}`; line breaks and tabs stay. Of a long text the middle is left out.
    package static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars
        // No count of the whole: texts can be as long as a file.
        guard scalars.index(scalars.startIndex, offsetBy: limit + 1, limitedBy: scalars.endIndex) != nil else {
            return escaped(scalars)
        }
        return escaped(scalars.prefix(limit - tail)) + " … " + escaped(scalars.suffix(tail))
    }

    private static func escaped(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var result = String.UnicodeScalarView()
        for scalar in scalars {
            if isObeyed(scalar) {
                result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }

    private static func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0a: false
        case 0x00...0x1f, 0x7f...0x9f: true
        // Marks, embeddings, overrides and isolates of direction; separators of lines and paragraphs.
        case 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
