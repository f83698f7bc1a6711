import Foundation
import Synchronization

/// Events on their way from tasks to the thread of a connection, which waits for them with `poll` beside its socket.
final class Mailbox<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])
    /// Readable while there are elements that have not been taken.
    let descriptor: Int32
    private let writer: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        // Without descriptors there is no way to wake anyone; the wait then ends at its deadline.
        if pipe(&ends) == 0 {
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
        }
        (descriptor, writer) = (ends[0], ends[1])
    }

    deinit { for end in [descriptor, writer] where end >= 0 { close(end) } }

    func put(_ element: Element) {
        let wakes = elements.withLock { elements in
            elements.append(element)
            return elements.count == 1
        }
        guard wakes else { return }
        var byte: UInt8 = 0
        _ = write(writer, &byte, 1)
    }

    /// Everything that has come since the last call.
    func take() -> [Element] {
        var bytes = [UInt8](repeating: 0, count: 64)
        _ = read(descriptor, &bytes, bytes.count)
        return elements.withLock { elements in
            defer { elements = [] }
            return elements
        }
    }
}
