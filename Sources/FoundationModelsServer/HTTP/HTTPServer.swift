import Foundation
import Synchronization

/// HTTP/1.1 with a thread for each connection; see `HTTPConnection`.
package final class HTTPServer: Sendable {
    private let handler: any HTTPHandler
    private let limits: HTTPLimits
    private struct State {
        var clients: [ObjectIdentifier: ClientConnection] = [:]
        /// Until it is closed.
        var listener: Int32?
        var isDraining = false
        var isStopped = false
    }
    private let state: Mutex<State>
    /// Places for connections.
    private let places: DispatchSemaphore
    /// The thread that accepts and those of the connections.
    private let threads = DispatchGroup()

    /// Begins to accept connections. The listening socket is the server's from now on.
    package init(_ socket: ListeningSocket, handler: some HTTPHandler, limits: HTTPLimits = HTTPLimits()) {
        self.handler = handler
        self.limits = limits
        state = Mutex(State(listener: socket.descriptor))
        places = DispatchSemaphore(value: limits.connections)
        // The threads end when the server is stopped; only the watch, which nobody waits for, must not keep it.
        start(stackSize: 256 << 10) { self.accept(socket.descriptor) }
        Thread.detachNewThread { [weak self] in
            while true {
                Thread.sleep(forTimeInterval: 0.5)
                guard let self, !self.state.withLock({ $0.isStopped }) else { return }
                self.enforceLimits()
            }
        }
    }

    private func start(stackSize: Int, _ body: @escaping @Sendable () -> Void) {
        threads.enter()
        let threads = threads
        let thread = Thread {
            body()
            threads.leave()
        }
        thread.stackSize = stackSize
        thread.start()
    }

    private func enforceLimits() {
        let now = ContinuousClock.now
        // Under the lock: a connection leaves the table before its descriptor is closed.
        state.withLock { state in
            for client in state.clients.values { client.enforce(limits, now: now) }
        }
    }

    /// The connections that are open.
    package var connectionCount: Int { state.withLock { $0.clients.count } }

    /// The connections whose requests are answered or whose answers are sent.
    package var busyCount: Int { state.withLock { $0.clients.values.count { $0.phase != .receiving } } }

    /// Waits until there are none of them, or the time is over.
    func answersEnd(within limit: Duration) async {
        let end = ContinuousClock.now + limit
        while busyCount > 0, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(50)) }
    }

    /// Accepts no more connections; those that are open go on.
    package func drain() {
        state.withLock { state in
            state.isDraining = true
            // Ends the wait for connections too.
            if let listener = state.listener { shutdown(listener, Int32(SHUT_RDWR)) }
        }
    }

    /// Ends all connections and waits for their threads.
    package func stop() {
        drain()
        state.withLock { state in
            state.isStopped = true
            for client in state.clients.values { client.end() }
        }
        threads.wait()
    }

    // MARK: Accepting

    private func accept(_ listener: Int32) {
        while true {
            places.wait()
            guard let client = acceptOne(listener) else { break }
            start(stackSize: 2 << 20) { [self] in
                HTTPConnection(client, handler: handler, limits: limits).serve()
                state.withLock { state in
                    state.clients[ObjectIdentifier(client)] = nil
                    close(client.descriptor)
                }
                places.signal()
            }
        }
        places.signal()
        state.withLock { state in
            state.listener = nil
            close(listener)
        }
    }

    /// Waits for a connection; nil when there will be none any more.
    private func acceptOne(_ listener: Int32) -> ClientConnection? {
        while true {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let (descriptor, address) = withUnsafeMutablePointer(to: &storage) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    (Foundation.accept(listener, pointer, &length), SocketAddress(pointer))
                }
            }
            let error = errno
            let client = descriptor < 0 ? nil : ClientConnection(descriptor: descriptor, address: address.host)
            let isDraining = state.withLock { state in
                if let client, !state.isDraining { state.clients[ObjectIdentifier(client)] = client }
                return state.isDraining
            }
            if isDraining {
                if descriptor >= 0 { close(descriptor) }
                return nil
            }
            if let client {
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                // Pieces of a stream are small and must not wait for each other.
                var one: Int32 = 1
                setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
                return client
            }
            // A connection that was given up before it was accepted is no reason to wait; a lack of descriptors or memory is.
            if error != EINTR, error != ECONNABORTED { Thread.sleep(forTimeInterval: 0.1) }
        }
    }
}
