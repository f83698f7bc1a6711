/// One event of a `text/event-stream`.
package struct ServerSentEvent: Hashable, Sendable {
    /// The value of the field `event`; `message` where there is none.
    package var name = "message"
    /// The lines of the field `data`, without line ends.
    package var data: [[UInt8]] = []
}

/// Takes a `text/event-stream` apart as the HTML standard has it (section 9.2.6), from pieces that may end anywhere.
package struct ServerSentEventParser {
    /// An event has more bytes than the limit.
    package struct TooLarge: Error, Hashable {
        package let limit: Int

        package init(limit: Int) { self.limit = limit }
    }

    private let limit: Int
    private var line: [UInt8] = []
    private var event = ServerSentEvent()
    private var eventSize = 0
    /// The last byte was a carriage return: a line feed that follows belongs to it.
    private var endedWithReturn = false
    private var isFirstLine = true

    /// - Parameter limit: Bytes that an event may have.
    package init(limit: Int = 16 << 20) { self.limit = limit }

    /// - Returns: The events that are whole with these bytes.
    package mutating func append(_ bytes: some Sequence<UInt8>) throws(TooLarge) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            let followsReturn = endedWithReturn
            endedWithReturn = false
            switch byte {
            case UInt8(ascii: "\n"):
                if !followsReturn { endLine(&events) }
            case UInt8(ascii: "\r"):
                endedWithReturn = true
                endLine(&events)
            default:
                eventSize += 1
                guard eventSize <= limit else { throw TooLarge(limit: limit) }
                line.append(byte)
            }
        }
        return events
    }

    /// - Returns: What the stream ended on without an empty line behind it. The standard drops that, servers that forget the line
    ///   are many.
    package mutating func finish() -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        if !line.isEmpty { endLine(&events) }
        endLine(&events)
        return events
    }

    private mutating func endLine(_ events: inout [ServerSentEvent]) {
        defer { line.removeAll(keepingCapacity: true) }
        if isFirstLine {
            isFirstLine = false
            // A byte order mark.
            if line.starts(with: [0xef, 0xbb, 0xbf]) { line.removeFirst(3) }
        }
        guard !line.isEmpty else {
            if !event.data.isEmpty { events.append(event) }
            event = ServerSentEvent()
            eventSize = 0
            return
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        // A line that begins with a colon is a comment, which servers send to keep a connection alive.
        if colon == 0 {
            if event.data.isEmpty { eventSize = 0 }
            return
        }
        let field = line[..<(colon ?? line.endIndex)]
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        if field.elementsEqual("data".utf8) {
            event.data.append(Array(value))
        } else if field.elementsEqual("event".utf8) {
            event.name = String(decoding: value, as: UTF8.self)
        }
    }
}
