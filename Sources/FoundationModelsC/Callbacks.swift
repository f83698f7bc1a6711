import CFoundationModels
import Dispatch
import FoundationModels

/// Code of the caller may take its time, and must not take it from the threads that Swift's tasks share.
private let callbackQueue = DispatchQueue(label: "FoundationModels.callbacks", attributes: .concurrent)

/// Runs code of the caller and waits until it has returned.
func runForeignCode(_ code: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        callbackQueue.async {
            code()
            continuation.resume()
        }
    }
}

/// A function of the caller and what it wants to be handed back, which is the caller's to keep safe.
struct Callback<Function>: @unchecked Sendable {
    let function: Function
    let userInfo: UnsafeMutableRawPointer?

    /// Nil when there is no function.
    init?(_ function: Function?, _ userInfo: UnsafeMutableRawPointer?) {
        guard let function else { return nil }
        self.function = function
        self.userInfo = userInfo
    }
}

typealias TextCallback = Callback<@convention(c) (Int32, UnsafePointer<CChar>?, Int, UnsafeMutableRawPointer?) -> Void>
typealias ContentCallback = Callback<@convention(c) (Int32, UnsafeRawPointer?, UnsafeMutableRawPointer?) -> Void>
typealias CountCallback = Callback<
    @convention(c) (Int32, Int32, UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Void
>

extension TextCallback {
    func tell(_ status: Status, _ text: String?) async {
        await runForeignCode {
            guard let text else { return function(status.rawValue, nil, 0, userInfo) }
            text.withCString { function(status.rawValue, $0, text.utf8.count, userInfo) }
        }
    }

    func tell(_ error: any Error) async { await tell(Status(error), description(of: error)) }
}

extension ContentCallback {
    func tell(_ status: Status, _ content: GeneratedContent) async {
        await runForeignCode {
            function(status.rawValue, HandleTable.shared.add(HandledContent(content)), userInfo)
        }
    }

    func tell(_ error: any Error) async { await tell(Status(error), GeneratedContent(description(of: error))) }
}

extension CountCallback {
    func tell(_ count: Int) async {
        await runForeignCode { function(Status.success.rawValue, Int32(clamping: count), nil, userInfo) }
    }

    func tell(_ error: any Error) async {
        let status = Status(error)
        let text = description(of: error)
        await runForeignCode { text.withCString { function(status.rawValue, 0, $0, userInfo) } }
    }
}
