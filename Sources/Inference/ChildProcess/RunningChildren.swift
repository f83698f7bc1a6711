import Foundation
import Synchronization

/// The children that run now, so that none of them outlives this process: in process groups of their own, they do not get what
/// a terminal sends to this one's.
final class RunningChildren: Sendable {
    static let shared = RunningChildren()

    private let children = Mutex<Set<pid_t>>([])

    private init() {
        atexit { RunningChildren.shared.endAll() }
    }

    func add(_ start: () -> Result<pid_t, SystemCode>) -> Result<pid_t, SystemCode> {
        children.withLock { children in
            let result = start()
            if case .success(let child) = result { children.insert(child) }
            return result
        }
    }

    /// Whether a child has ended. It keeps its number until it is reaped, so that no other process can get a signal that is
    /// meant for it.
    static func hasEnded(_ child: pid_t) -> Bool {
        var information = siginfo_t()
        let result = waitid(P_PID, id_t(child), &information, WEXITED | WNOHANG | WNOWAIT)
        return result == 0 ? information.si_signo == SIGCHLD : errno == ECHILD
    }

    static func waitForEnd(_ child: pid_t) {
        var information = siginfo_t()
        while waitid(P_PID, id_t(child), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    }

    /// Takes the status of a child that has ended, and with it its number.
    func reap(_ child: pid_t) -> ChildProcess.Ended.Reason {
        children.withLock { children in
            children.remove(child)
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0 {
                guard errno == EINTR else {
                    return .notStarted("its status is lost: \(String(cString: strerror(errno)))")
                }
            }
            // The layout of wait's status on Linux: the signal in 7 bits, the exit status in the second byte.
            let signal = status & 0x7f
            return signal == 0 ? .status(status >> 8 & 0xff) : .signal(signal)
        }
    }

    /// At the end of this process, ends the groups that still run as `ChildProcess` does when they are not wanted.
    private func endAll() {
        children.withLock { children in
            guard !children.isEmpty else { return }
            for child in children { kill(-child, SIGTERM) }
            let deadline = ContinuousClock.now + ChildProcess.grace
            while !children.allSatisfy(Self.hasEnded), ContinuousClock.now < deadline { usleep(5_000) }
            for child in children { kill(-child, SIGKILL) }
        }
    }
}
