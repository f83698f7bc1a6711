import Dispatch
import Foundation
import Synchronization

/// Work on a thread of its own whose result is waited for.
final class BackgroundWork<Value: Sendable, Failure: Error>: Sendable {
    private let result = Mutex<Result<Value, Failure>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ work: @escaping @Sendable () throws(Failure) -> Value) {
        let thread = Thread { [self] in
            let outcome = Result { () throws(Failure) in try work() }
            result.withLock { $0 = outcome }
            done.signal()
        }
        thread.stackSize = 8 << 20
        thread.start()
    }

    /// Waits for the end of the work. To be called once.
    func wait() throws(Failure) -> Value {
        done.wait()
        return try result.withLock { $0! }.get()
    }
}
