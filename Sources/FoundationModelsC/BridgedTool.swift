import CFoundationModels
import Foundation
import FoundationModels
import Synchronization

/// A tool whose code is C's.
///
/// The call goes out through a function pointer and comes back through ``FMBridgedToolFinishCall``, whenever that is. When the last
/// handle was released nobody could bring an answer back, and the function may be gone: then the tool is called no more.
package final class BridgedTool: Tool, HandledObject {
    package static let kind = "tool"

    package let name: String
    package let description: String
    package let parameters: GenerationSchema

    private let function: Unshared<@convention(c) (UnsafeRawPointer?, UInt32) -> Void>
    /// Held while the function runs, so that it is not gone in the middle. The function may itself finish the call or release the
    /// tool, hence recursive.
    private let running = NSRecursiveLock()
    private let calls = Mutex(Calls())

    private struct Calls {
        var isReleased = false
        var pending: [UInt32: CheckedContinuation<String, any Error>] = [:]
        /// Calls that were cancelled before they could be written down.
        var cancelled: Set<UInt32> = []
    }

    /// Numbers are the process's, so that an answer for one tool's call never fits another's.
    private static let lastCall = Atomic<UInt32>(0)

    init(
        name: String, description: String, parameters: GenerationSchema,
        function: @escaping @convention(c) (UnsafeRawPointer?, UInt32) -> Void
    ) {
        self.name = name
        self.description = description
        self.parameters = parameters
        self.function = Unshared(function)
    }

    /// The tool's handle was released while a session still has it.
    package struct Released: LocalizedError {
        let name: String

        package var errorDescription: String? {
            "The tool \"\(name)\" was released. Keep its handle as long as sessions may call it."
        }
    }

    @concurrent package func call(arguments: GeneratedContent) async throws -> String {
        let call = Self.lastCall.wrappingAdd(1, ordering: .relaxed).newValue
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let refusal: (any Error)? = calls.withLock { calls in
                    if calls.isReleased { return Released(name: name) }
                    if calls.cancelled.remove(call) != nil { return CancellationError() }
                    calls.pending[call] = continuation
                    return nil
                }
                if let refusal { return continuation.resume(throwing: refusal) }
                Task { await runForeignCode { [self] in run(call, arguments) } }
            }
        } onCancel: {
            let continuation = calls.withLock { calls in
                let continuation = calls.pending.removeValue(forKey: call)
                if continuation == nil { calls.cancelled.insert(call) }
                return continuation
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    private func run(_ call: UInt32, _ arguments: GeneratedContent) {
        running.withLock {
            // Cancelled or released meanwhile: the continuation is gone, and so may be the function.
            guard calls.withLock({ $0.pending[call] != nil }) else { return }
            function.value(HandleTable.shared.add(HandledContent(arguments)), call)
        }
    }

    /// Ends a call; one that has ended stays as it is.
    func finish(_ call: UInt32, _ result: Result<String, any Error>) {
        calls.withLock { $0.pending.removeValue(forKey: call) }?.resume(with: result)
    }

    package func handleWasReleased() {
        running.withLock {
            let pending = calls.withLock { calls in
                calls.isReleased = true
                defer { calls.pending = [:] }
                return calls.pending.values
            }
            for continuation in pending { continuation.resume(throwing: Released(name: name)) }
        }
    }
}

extension BridgedTool {
    /// The tools of an array of handles. Several that are defined alike, such as instances of one class, are one tool for the model:
    /// the first of them is called. Different ones with one name stay, and are an error of the request.
    package static func tools(
        _ handles: UnsafePointer<UnsafeRawPointer?>?, _ count: Int32
    ) throws(InvalidArgument) -> [any Tool] {
        var tools: [any Tool] = []
        var definitions: [Transcript.ToolDefinition] = []
        for handle in try elements(handles, count, "tools") {
            let tool = try HandleTable.shared.object(handle, as: BridgedTool.self)
            let definition = Transcript.ToolDefinition(tool: tool)
            if definitions.contains(definition) { continue }
            definitions.append(definition)
            tools.append(tool)
        }
        return tools
    }
}

@_cdecl("FMBridgedToolCreate")
public func createTool(
    _ name: UnsafePointer<CChar>?, _ description: UnsafePointer<CChar>?, _ parameters: UnsafeRawPointer?,
    _ function: FMBridgedToolCallback?, _ errorCode: UnsafeMutablePointer<Int32>?,
    _ errorDescription: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> UnsafeRawPointer? {
    ErrorReport(code: errorCode, description: errorDescription).value {
        guard let function else { throw InvalidArgument("The tool's function is NULL.") }
        return HandleTable.shared.add(
            BridgedTool(
                name: try text(name, "name of the tool"), description: try text(description, "description of the tool"),
                parameters: try HandleTable.shared.object(parameters, as: SchemaBuilder.self).schema(),
                function: function))
    }
}

@_cdecl("FMBridgedToolFinishCall")
public func finishToolCall(_ tool: UnsafeRawPointer?, _ call: UInt32, _ output: UnsafePointer<CChar>?) {
    do {
        let tool = try HandleTable.shared.object(tool, as: BridgedTool.self)
        tool.finish(call, Result { try text(output, "output of the tool") })
    } catch {
        warn("FMBridgedToolFinishCall: \(FoundationModelsC.description(of: error))")
    }
}
