import Foundation

/// The pipes to and from a child process. No end of them is inherited by another one, and this process never waits in a read or
/// a write.
final class ChildPipes {
    struct Pipe {
        /// This process's end, and the child's; nil once closed.
        fileprivate(set) var ownEnd: Int32?
        fileprivate(set) var childEnd: Int32?

        fileprivate mutating func closeOwnEnd() {
            if let ownEnd { close(ownEnd) }
            ownEnd = nil
        }

        fileprivate mutating func closeChildEnd() {
            if let childEnd { close(childEnd) }
            childEnd = nil
        }
    }

    private(set) var input: Pipe?
    private(set) var output: Pipe?
    private(set) var error: Pipe?
    /// The last part of what came on standard error.
    private(set) var errors: [UInt8] = []
    /// False once the receiver of the output has had enough.
    private(set) var outputIsWanted = true

    private var unsent: ArraySlice<UInt8>
    private let receive: ((UnsafeRawBufferPointer) -> Bool)?
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)

    private static let errorLimit = 64 << 10
    /// No pipe holds more, whatever the child made of it, unless an administrator allows it.
    private static let pipeCapacity = 1 << 20

    private init(_ input: [UInt8]?, _ receive: ((UnsafeRawBufferPointer) -> Bool)?) {
        unsent = (input ?? [])[...]
        self.receive = receive
    }

    static func make(
        input: [UInt8]?, output: ((UnsafeRawBufferPointer) -> Bool)?, collectsErrors: Bool
    ) -> Result<ChildPipes, SystemCode> {
        let pipes = ChildPipes(input, output)
        do throws(SystemCode) {
            if input != nil { pipes.input = try makePipe(childReads: true) }
            if output != nil { pipes.output = try makePipe(childReads: false) }
            if collectsErrors { pipes.error = try makePipe(childReads: false) }
        } catch {
            return .failure(error)
        }
        if pipes.unsent.isEmpty { pipes.input?.closeOwnEnd() }
        return .success(pipes)
    }

    private static func makePipe(childReads: Bool) throws(SystemCode) -> Pipe {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SystemCode(rawValue: errno) }
        // glibc's pipe2, which would do this in one step, is not to be had from Swift.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let (own, childs) = childReads ? (ends[1], ends[0]) : (ends[0], ends[1])
        // Above the standard descriptors, one of which this process may have closed: the child puts its ends there in turn.
        let moved = fcntl(childs, F_DUPFD_CLOEXEC, 3)
        let code = errno
        close(childs)
        guard moved >= 0 else {
            close(own)
            throw SystemCode(rawValue: code)
        }
        _ = fcntl(own, F_SETFL, O_NONBLOCK)
        return Pipe(ownEnd: own, childEnd: moved)
    }

    deinit {
        closeChildEnds()
        input?.closeOwnEnd()
        output?.closeOwnEnd()
        error?.closeOwnEnd()
        buffer.deallocate()
    }

    func closeChildEnds() {
        input?.closeChildEnd()
        output?.closeChildEnd()
        error?.closeChildEnd()
    }

    /// Waits for at most `timeout` milliseconds until a pipe is ready, and moves a piece through each that is; false when none
    /// was.
    func transfer(timeout: Int32) -> Bool {
        var polled: [pollfd] = []
        if let descriptor = input?.ownEnd { polled.append(pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)) }
        for descriptor in [output?.ownEnd, error?.ownEnd] {
            if let descriptor { polled.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)) }
        }
        guard poll(&polled, nfds_t(polled.count), timeout) > 0 else { return false }
        let ready = Set(polled.filter { $0.revents != 0 }.map(\.fd))
        if let descriptor = input?.ownEnd, ready.contains(descriptor) { send(to: descriptor) }
        if let descriptor = output?.ownEnd, ready.contains(descriptor) { _ = receiveOutput(from: descriptor) }
        if let descriptor = error?.ownEnd, ready.contains(descriptor) { _ = receiveErrors(from: descriptor) }
        return true
    }

    /// Takes what an ended child has left in the pipes. Others may hold them open and write on, so nothing is waited for, and no
    /// more is taken than the child can have left.
    func drain(discardingOutput: Bool) {
        var left = Self.pipeCapacity
        while !discardingOutput, outputIsWanted, left > 0, let descriptor = output?.ownEnd {
            guard let count = receiveOutput(from: descriptor) else { break }
            left -= count
        }
        left = Self.pipeCapacity
        while left > 0, let descriptor = error?.ownEnd {
            guard let count = receiveErrors(from: descriptor) else { break }
            left -= count
        }
    }

    private func send(to descriptor: Int32) {
        let (count, code) = unsent.withUnsafeBytes { Self.writeWithoutSignal(descriptor, $0) }
        if count > 0 { unsent = unsent.dropFirst(count) }
        // A program need not read its input.
        let hasFailed = count < 0 && code != EAGAIN && code != EINTR
        if unsent.isEmpty || hasFailed { input?.closeOwnEnd() }
    }

    /// The bytes that came; nil when there are none for now, or no more at all.
    private func receiveOutput(from descriptor: Int32) -> Int? {
        guard let piece = readPiece(descriptor, onEnd: { output?.closeOwnEnd() }) else { return nil }
        if let receive, !receive(piece) { outputIsWanted = false }
        return piece.count
    }

    private func receiveErrors(from descriptor: Int32) -> Int? {
        guard let piece = readPiece(descriptor, onEnd: { error?.closeOwnEnd() }) else { return nil }
        errors += piece
        if errors.count > Self.errorLimit { errors.removeFirst(errors.count - Self.errorLimit) }
        return piece.count
    }

    private func readPiece(_ descriptor: Int32, onEnd: () -> Void) -> UnsafeRawBufferPointer? {
        var count = read(descriptor, buffer.baseAddress, buffer.count)
        while count < 0, errno == EINTR { count = read(descriptor, buffer.baseAddress, buffer.count) }
        if count > 0 { return UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
        if count == 0 || errno != EAGAIN { onEnd() }
        return nil
    }

    /// Writes as `write` does, with EPIPE but without SIGPIPE when nobody reads: the program this is part of may not ignore that
    /// signal. Returns the count and `errno`.
    private static func writeWithoutSignal(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> (Int, Int32) {
        var brokenPipe = sigset_t()
        var pending = sigset_t()
        var previous = sigset_t()
        sigemptyset(&brokenPipe)
        sigaddset(&brokenPipe, SIGPIPE)
        sigpending(&pending)
        let wasPending = sigismember(&pending, SIGPIPE) == 1
        pthread_sigmask(SIG_BLOCK, &brokenPipe, &previous)
        let count = write(descriptor, bytes.baseAddress, bytes.count)
        let code = errno
        if count < 0, code == EPIPE, !wasPending {
            var none = timespec()
            _ = sigtimedwait(&brokenPipe, nil, &none)
        }
        pthread_sigmask(SIG_SETMASK, &previous, nil)
        return (count, code)
    }
}
