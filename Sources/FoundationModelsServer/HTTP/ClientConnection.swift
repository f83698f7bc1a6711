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

    private struct State {
        var phase = Phase.receiving
        var since = ContinuousClock.now
        var isLate = false
    }

    /// −1 for a request that came by no connection.
    let descriptor: Int32
    /// The numeric address without its port.
    package let address: String
    private let state = Mutex(State())

    package init(descriptor: Int32 = -1, address: String = "local") {
        self.descriptor = descriptor
        self.address = address
    }

    func enter(_ phase: Phase) {
        state.withLock { state in
            state.phase = phase
            state.since = .now
        }
    }

    var phase: Phase { state.withLock { $0.phase } }

    /// Whether a request took longer than it may.
    var isLate: Bool { state.withLock { $0.isLate } }

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

    /// Ends the wait for a request, or the connection, when its client takes longer than it may to send the one or to read an
    /// answer.
    func enforce(_ limits: HTTPLimits, now: ContinuousClock.Instant) {
        let phase = state.withLock { state -> Phase? in
            let limit: Duration
            switch state.phase {
            case .receiving: limit = limits.receiveTime
            case .working: return nil
            case .sending: limit = limits.sendTime
            }
            guard now - state.since > limit else { return nil }
            if state.phase == .receiving { state.isLate = true }
            return state.phase
        }
        switch phase {
        case .receiving: if descriptor >= 0 { shutdown(descriptor, Int32(SHUT_RD)) }
        case .working, nil: return
        case .sending: end()
        }
    }

    /// Ends the connection in both directions; its thread notices at once.
    func end() { if descriptor >= 0 { shutdown(descriptor, Int32(SHUT_RDWR)) } }

    // MARK: The thread of the connection

    /// Waits up to a second for bytes or the end of the client's side; true when there is one of them.
    func awaitInput() -> Bool {
        var descriptors = [pollfd(fd: descriptor, events: Int16(POLLIN) | 0x2000, revents: 0)]
        return poll(&descriptors, 1, 1000) > 0
    }

    /// Bytes that have come and nobody has read.
    var unreadCount: Int {
        var count: Int32 = 0
        // FIONREAD.
        return ioctl(descriptor, 0x541B, &count) == 0 ? Int(count) : 0
    }

    /// What has come and nobody has read, up to a limit; it stays to be read.
    func peek(_ limit: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            count = max(0, recv(descriptor, buffer.baseAddress, limit, Int32(MSG_PEEK | MSG_DONTWAIT)))
        }
    }

    /// From now on input is awaited until there are more unread bytes than these.
    func awaitMore(than count: Int) {
        var least = Int32(count + 1)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVLOWAT, &least, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends a short text without waiting; false when it cannot be sent whole.
    func send(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes {
            Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        } == bytes.count
    }

    /// Ends the server's side and reads what the client may still send, for two seconds at most: a socket that is closed with
    /// unread bytes takes back the answer that the client has not read yet.
    func linger() {
        shutdown(descriptor, Int32(SHUT_WR))
        let end = ContinuousClock.now + .seconds(2)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while ContinuousClock.now < end {
            guard awaitInput() else { continue }
            guard recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT)) > 0 else { return }
        }
    }
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
