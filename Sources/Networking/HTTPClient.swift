import CLibcurl
import Foundation
import Synchronization

/// Carries out requests over HTTP and hands on each piece of a response the moment it arrives.
///
/// All requests of a client share one thread, which lives as long as there are any, and its connections, which are
/// used again. Redirections are not followed: what a program sends, with its key, goes where it says and nowhere else.
package final class HTTPClient: Sendable {
    private struct State {
        var waiting: [HTTPTransfer] = []
        var cancelled: [ObjectIdentifier] = []
        var isRunning = false
    }

    /// A handle of libcurl, which only the client's thread uses (but for waking that up, which is allowed to all).
    private struct Handle: @unchecked Sendable {
        let pointer: UnsafeMutableRawPointer
    }

    private let handle: Handle?
    private let state = Mutex(State())

    package init() {
        _ = CurlLibrary.start
        handle = curl_multi_init().map(Handle.init)
    }

    deinit {
        // The thread holds the client, so that it has ended here.
        if let handle { curl_multi_cleanup(handle.pointer) }
    }

    /// Makes a request. Ending the iteration early, or cancelling the task that iterates, closes the connection.
    package func events(of request: HTTPRequest) -> AsyncThrowingStream<HTTPEvent, any Error> {
        let (stream, continuation) = AsyncThrowingStream<HTTPEvent, any Error>.makeStream()
        guard let handle else {
            continuation.finish(throwing: HTTPError.connection("libcurl cannot start"))
            return stream
        }
        let transfer: HTTPTransfer
        do throws(HTTPError) {
            transfer = try HTTPTransfer(request, continuation)
        } catch {
            continuation.finish(throwing: error)
            return stream
        }
        let identifier = ObjectIdentifier(transfer)
        continuation.onTermination = { [weak self] reason in
            guard case .cancelled = reason else { return }
            self?.cancel(identifier)
        }
        let mustStart = state.withLock { state in
            state.waiting.append(transfer)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if mustStart {
            Thread.detachNewThread { self.run(handle.pointer) }
        } else {
            curl_multi_wakeup(handle.pointer)
        }
        return stream
    }

    private func cancel(_ transfer: ObjectIdentifier) {
        let isRunning = state.withLock { state in
            if state.isRunning { state.cancelled.append(transfer) }
            return state.isRunning
        }
        if isRunning, let handle { curl_multi_wakeup(handle.pointer) }
    }

    /// The client's thread.
    private func run(_ multi: UnsafeMutableRawPointer) {
        var active: [ObjectIdentifier: HTTPTransfer] = [:]
        while true {
            let (waiting, cancelled) = state.withLock { state -> ([HTTPTransfer], [ObjectIdentifier]) in
                defer {
                    state.waiting = []
                    state.cancelled = []
                }
                if state.waiting.isEmpty, active.isEmpty { state.isRunning = false }
                return (state.waiting, state.cancelled)
            }
            if waiting.isEmpty, active.isEmpty { return }
            for transfer in waiting where curl_multi_add_handle(multi, transfer.handle) == CURLM_OK {
                active[ObjectIdentifier(transfer)] = transfer
            }
            for identifier in cancelled {
                guard let transfer = active.removeValue(forKey: identifier) else { continue }
                // Taking a transfer out before its end closes its connection.
                curl_multi_remove_handle(multi, transfer.handle)
            }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            var left: Int32 = 0
            while let message = curl_multi_info_read(multi, &left) {
                guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
                let code = message.pointee.data.result
                curl_multi_remove_handle(multi, handle)
                guard let transfer = active.values.first(where: { $0.handle == handle }) else { continue }
                active[ObjectIdentifier(transfer)] = nil
                transfer.end(code)
            }
            for (identifier, transfer) in active where transfer.isSilentTooLong {
                active[identifier] = nil
                curl_multi_remove_handle(multi, transfer.handle)
                transfer.endInSilence()
            }
            if !active.isEmpty { curl_multi_poll(multi, nil, 0, 500, nil) }
        }
    }
}

private enum CurlLibrary {
    /// Initialises libcurl once in the process.
    static let start: Void = { curl_global_init(Int(CURL_GLOBAL_DEFAULT)) }()
}
