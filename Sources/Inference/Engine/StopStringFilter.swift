/// Lets text through up to the first stop string, and holds back what may become one.
package struct StopStringFilter {
    private let stops: [(text: String, bytes: [UInt8])]
    private var held: [UInt8] = []

    package init(_ stops: [String]) {
        self.stops = stops.filter { !$0.isEmpty }.map { ($0, Array($0.utf8)) }
    }

    /// What can be given on of the text so far, and the stop string when one has come.
    package mutating func append(_ text: String) -> (text: String, stop: String?) {
        guard !stops.isEmpty else { return (text, nil) }
        held.append(contentsOf: text.utf8)
        // The earliest in the text wins, of several at one place the longest.
        var found: (position: Int, text: String, count: Int)?
        for stop in stops {
            guard let position = firstIndex(of: stop.bytes) else { continue }
            if found.map({ (position, -stop.bytes.count) < ($0.position, -$0.count) }) ?? true {
                found = (position, stop.text, stop.bytes.count)
            }
        }
        if let found {
            let text = String(decoding: held[..<found.position], as: UTF8.self)
            held.removeAll()
            return (text, found.text)
        }
        // The longest end of the text that begins a stop string.
        let kept = stops.map { partialLength($0.bytes) }.max() ?? 0
        var end = held.count - kept
        // A held part may begin inside a character only if a stop string does, which text never does; stay safe.
        while end > 0, end < held.count, held[end] & 0xc0 == 0x80 { end -= 1 }
        let released = String(decoding: held[..<end], as: UTF8.self)
        held.removeFirst(end)
        return (released, nil)
    }

    /// What is still held back, when no more text comes.
    package mutating func finish() -> String {
        defer { held.removeAll() }
        return String(decoding: held, as: UTF8.self)
    }

    private func firstIndex(of bytes: [UInt8]) -> Int? {
        guard held.count >= bytes.count else { return nil }
        return (0...(held.count - bytes.count)).first { held[$0..<$0 + bytes.count].elementsEqual(bytes) }
    }

    private func partialLength(_ bytes: [UInt8]) -> Int {
        for length in stride(from: min(bytes.count - 1, held.count), to: 0, by: -1)
        where held.suffix(length).elementsEqual(bytes[..<length]) {
            return length
        }
        return 0
    }
}
