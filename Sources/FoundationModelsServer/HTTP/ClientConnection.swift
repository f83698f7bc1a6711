import Foundation
import Synchronization

/// One connection of a client: whether it is still there, and what its thread is doing.
package final class ClientConnection: Sendable {
    package enum Wait: Sendable { case ready, gone, timedOut }

    enum Phase: Sendable {
        /// A request is awaited or on its way.
        case receiving
        /// The server works for the client.
        case working
        /// The client is to read.
        case sending
    }

    /// −1 for a request that came by no connection.
    private let descriptor: Int32
    /// The numeric address without its port.
    package let address: String
    private let state: Mutex<(phase: Phase, since: ContinuousClock.Instant)>

    package init(descriptor: Int32 = -1, address: String = "local") {
        self.descriptor = descriptor
        self.address = address
        state = Mutex((.receiving, .now))
    }

    func enter(_ phase: Phase) { state.withLock { $0 = (phase, .now) } }

    /// Waits until a descriptor is readable, the client has gone or the time is over.
    package func wait(for readable: Int32, until deadline: ContinuousClock.Instant) -> Wait {
        while true {
            let left = deadline - .now
            guard left > .zero else { return .timedOut }
            let milliseconds = min(left / .milliseconds(1), 60_000)
            // A negative descriptor is passed over.
            var descriptors = [
                pollfd(fd: readable, events: Int16(POLLIN), revents: 0),
                // POLLRDHUP (0x2000): the client has closed its side.
                pollfd(fd: descriptor, events: 0x2000, revents: 0),
            ]
            let count = poll(&descriptors, 2, Int32(milliseconds.rounded(.up)))
            if count < 0 {
                if errno == EINTR { continue }
                return .gone
            }
            if descriptors[1].revents != 0 { return .gone }
            if descriptors[0].revents != 0 { return .ready }
        }
    }

    /// Whether the client has closed its side.
    package var isGone: Bool {
        // POLLRDHUP, as above.
        var descriptors = [pollfd(fd: descriptor, events: 0x2000, revents: 0)]
        return poll(&descriptors, 1, 0) > 0
    }

    /// Ends the connection when its client takes longer than it may to send a request or to read an answer.
    func enforce(_ limits: HTTPLimits, now: ContinuousClock.Instant) {
        let (phase, since) = state.withLock { $0 }
        let limit: Duration
        switch phase {
        case .receiving: limit = limits.receiveTime
        case .working: return
        case .sending: limit = limits.sendTime
        }
        if now - since > limit { end() }
    }

    /// Ends the connection in both directions; its thread notices at once.
    func end() { if descriptor >= 0 { shutdown(descriptor, Int32(SHUT_RDWR)) } }
}

/// What a client may take of the server.
package struct HTTPLimits: Sendable {
    /// Connections at the same time; further ones wait to be accepted.
    package var connections = 256
    /// Bytes of a request's body.
    package var bodySize = 8 << 20
    /// From the connection, or the end of the answer before, to the end of a request.
    package var receiveTime: Duration = .seconds(30)
    /// Between two pieces of an answer that the client reads.
    package var sendTime: Duration = .seconds(30)

    package init() {}
}
