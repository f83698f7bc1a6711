import CFoundationModels
import Foundation
import Synchronization

/// What a C program does around the entry points: hands itself to callbacks as `userInfo` and waits for them.
final class Waiter: Sendable {
    struct Outcome: Sendable {
        var status: Int32
        var text: String?
        var count: Int32 = 0
    }

    private let outcomes = Mutex<[Outcome]>([])

    var pointer: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static func of(_ pointer: UnsafeMutableRawPointer?) -> Waiter {
        Unmanaged<Waiter>.fromOpaque(pointer!).takeUnretainedValue()
    }

    func note(_ outcome: Outcome) { outcomes.withLock { $0.append(outcome) } }

    var all: [Outcome] { outcomes.withLock { $0 } }

    /// Waits until `isLast` is true of what was noted last.
    func wait(seconds: Double = 60, until isLast: (Outcome) -> Bool = { _ in true }) async -> Outcome? {
        let end = ContinuousClock.now + .seconds(seconds)
        while ContinuousClock.now < end {
            if let last = all.last, isLast(last) { return last }
            try? await Task.sleep(for: .milliseconds(2))
        }
        return nil
    }
}

let noteText: @convention(c) (Int32, UnsafePointer<CChar>?, Int, UnsafeMutableRawPointer?) -> Void = {
    status, text, length, user in
    let text = text.map { String(decoding: UnsafeRawBufferPointer(start: $0, count: length), as: UTF8.self) }
    Waiter.of(user).note(.init(status: status, text: text))
}

let noteContent: @convention(c) (Int32, UnsafeRawPointer?, UnsafeMutableRawPointer?) -> Void = {
    status, content, user in
    let json = taken(FMGeneratedContentGetJSONString(content))
    FMRelease(content)
    Waiter.of(user).note(.init(status: status, text: json))
}

let noteCount: @convention(c) (Int32, Int32, UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Void = {
    status, count, text, user in
    Waiter.of(user).note(.init(status: status, text: text.map { String(cString: $0) }, count: count))
}

/// The text of a string that is ours to free.
func taken(_ string: UnsafeMutablePointer<CChar>?) -> String? {
    defer { FMFreeString(string) }
    return string.map { String(cString: $0) }
}

/// Calls with a place for an error, and gives the result, the status and what was said.
func reporting<Value>(
    _ call: (UnsafeMutablePointer<Int32>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Value
) -> (value: Value, status: Int32, text: String?) {
    var status: Int32 = -1
    var text: UnsafeMutablePointer<CChar>?
    let value = call(&status, &text)
    return (value, status, taken(text))
}

/// A prompt of one text.
func prompt(_ text: String) -> UnsafeRawPointer? {
    let prompt = FMComposedPromptInitialize()
    FMComposedPromptAddText(prompt, text)
    return prompt
}

/// Bytes that are no UTF-8.
let notUTF8: [CChar] = [0x61, -1, -2, 0]
/// A number that was never given out.
nonisolated(unsafe) let stranger = UnsafeRawPointer(bitPattern: 0xdead_beef)
