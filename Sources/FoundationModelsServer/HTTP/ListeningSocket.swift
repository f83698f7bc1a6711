import CLibmicrohttpd
import Foundation

/// A TCP socket that accepts connections.
package struct ListeningSocket: Sendable {
    package let descriptor: Int32
    package let port: Int
    /// Whether only this machine can reach it.
    package let isLoopback: Bool

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameters:
    ///   - host: A numeric address or a name such as `localhost`.
    ///   - port: 0 for any that is free.
    package init(host: String, port: Int) throws(Failure) {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        // `localhost` stands for both loopbacks; clients try IPv4 too.
        if host == "localhost" { hints.ai_family = AF_INET }
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0, let first = list else {
            throw Failure(description: "cannot listen at '\(host)': \(String(cString: gai_strerror(code)))")
        }
        defer { freeaddrinfo(list) }
        let address = first.pointee
        let descriptor = socket(address.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        func failure(_ number: Int32) -> Failure {
            let hint = number == EADDRINUSE ? "; another program uses the port, --port takes another one" : ""
            return Failure(
                description: "cannot listen at \(host), port \(port): \(String(cString: strerror(number)))\(hint)")
        }
        guard descriptor >= 0 else { throw failure(errno) }
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, address.ai_addr, address.ai_addrlen) == 0, listen(descriptor, 128) == 0 else {
            let number = errno
            close(descriptor)
            throw failure(number)
        }
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let bound = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                getsockname(descriptor, pointer, &length)
                return SocketAddress(pointer)
            }
        }
        self.descriptor = descriptor
        self.port = bound.port
        isLoopback = bound.isLoopback
    }
}

/// The numeric form of a socket's address.
struct SocketAddress {
    var host = "unknown"
    var port = 0

    init(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                var buffer = [CChar](repeating: 0, count: 64)
                var raw = pointer.pointee.sin_addr
                inet_ntop(AF_INET, &raw, &buffer, 64)
                host = buffer.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
                port = Int(UInt16(bigEndian: pointer.pointee.sin_port))
            }
        case AF_INET6:
            address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                var buffer = [CChar](repeating: 0, count: 64)
                var raw = pointer.pointee.sin6_addr
                inet_ntop(AF_INET6, &raw, &buffer, 64)
                host = buffer.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
                port = Int(UInt16(bigEndian: pointer.pointee.sin6_port))
            }
        default: break
        }
    }

    var isLoopback: Bool { host == "::1" || host.hasPrefix("127.") || host.hasPrefix("::ffff:127.") }
}
