/// The tokens in which a key can end, by what they end.
final class KeyTokens: Sendable {
    /// The tokens with a quotation mark, by the text before the first, which ends a key that is open.
    private let byEnd: [[UInt8]: [Int32]]
    /// The tokens that can have a whole key in them, by the key.
    private let byKey: [[UInt8]: [Int32]]
    /// All tokens with a quotation mark.
    let quoting: [Int32]

    /// The tokens that can write a key and then the same once more.
    let doubling: [Int32]

    /// - Parameters:
    ///   - tokens: The bytes of each token.
    ///   - members: Those among which the tokens with a quotation mark are.
    init(tokens: [[UInt8]], members: [Int32]) {
        var byEnd: [[UInt8]: [Int32]] = [:]
        var byKey: [[UInt8]: [Int32]] = [:]
        var quoting: [Int32] = []
        var doubling: [Int32] = []
        for token in members {
            let bytes = tokens[Int(token)][...]
            guard bytes.contains(UInt8(ascii: "\"")) else { continue }
            quoting.append(token)
            // What stands between the quotation marks; whether it is a key depends on where the token comes.
            var keys: [[UInt8]?] = []
            for (place, part) in Self.parts(of: bytes).enumerated() {
                let (text, isWhole) = ObjectKeys.decoded(part)
                keys.append(isWhole ? text : nil)
                guard isWhole else { continue }
                if place == 0 { byEnd[text, default: []].append(token) } else { byKey[text, default: []].append(token) }
            }
            if Self.canDouble(keys) { doubling.append(token) }
        }
        self.byEnd = byEnd
        self.byKey = byKey
        self.quoting = quoting
        self.doubling = doubling
    }

    /// Whether what stands before the quotation marks of a token can be a key twice. Of the first, only the end may be in the token.
    private static func canDouble(_ keys: [[UInt8]?]) -> Bool {
        for last in keys.indices.dropFirst(2) {
            guard let key = keys[last] else { return true }
            // One quotation mark at least, which opens the second key, stands between the ends of both.
            for first in 0...last - 2 {
                guard let other = keys[first] else { return true }
                if first == 0 ? key.suffix(other.count).elementsEqual(other) : key == other { return true }
            }
        }
        return false
    }

    /// What stands before each quotation mark that is not escaped, up to the one before it.
    private static func parts(of bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        var index = start
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "\\"): index += 1
            case UInt8(ascii: "\""):
                parts.append(bytes[start..<index])
                start = index + 1
            default: break
            }
            index += 1
        }
        return parts
    }

    func tokens(endingWith rest: [UInt8]) -> [Int32] { byEnd[rest] ?? [] }

    func tokens(containing key: [UInt8]) -> [Int32] { byKey[key] ?? [] }
}
