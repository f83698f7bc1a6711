import CFoundationModels
import Dispatch
import Foundation
import FoundationModels
import Synchronization

/// A session, for C.
final class HandledSession: HandledObject {
    static let kind = "session"
    let session: LanguageModelSession
    private let tasks = Mutex<[RequestTask]>([])

    init(_ session: LanguageModelSession) { self.session = session }

    /// Makes a task that is known as one of this session's.
    func makeTask() -> RequestTask {
        let task = RequestTask()
        tasks.withLock { tasks in
            tasks.removeAll(where: \.hasEnded)
            tasks.append(task)
        }
        return task
    }

    /// Waits until requests that were cancelled have ended.
    func waitForCancelledRequests(until deadline: DispatchTime) {
        for task in tasks.withLock({ $0 }) where task.isEnding { task.wait(until: deadline) }
    }
}

/// A new session's handle, or NULL and a warning.
private func sessionHandle(_ name: String, _ make: () throws -> LanguageModelSession) -> UnsafeRawPointer? {
    do {
        return HandleTable.shared.add(HandledSession(try make()))
    } catch {
        warn("\(name): \(description(of: error))")
        return nil
    }
}

@_cdecl("FMLanguageModelSessionCreateDefault")
public func createDefaultSession() -> UnsafeRawPointer? {
    sessionHandle("FMLanguageModelSessionCreateDefault") { LanguageModelSession() }
}

@_cdecl("FMLanguageModelSessionCreateFromSystemLanguageModel")
public func createSession(
    _ model: UnsafeRawPointer?, _ instructions: UnsafePointer<CChar>?, _ tools: UnsafePointer<UnsafeRawPointer?>?,
    _ toolCount: Int32
) -> UnsafeRawPointer? {
    sessionHandle("FMLanguageModelSessionCreateFromSystemLanguageModel") {
        LanguageModelSession(
            model: try HandledModel.orDefault(model), tools: try BridgedTool.tools(tools, toolCount),
            instructions: try optionalText(instructions, "instructions").map { Instructions($0) })
    }
}

@_cdecl("FMLanguageModelSessionCreateFromTranscript")
public func createSessionFromTranscript(
    _ session: UnsafeRawPointer?, _ model: UnsafeRawPointer?, _ tools: UnsafePointer<UnsafeRawPointer?>?,
    _ toolCount: Int32
) -> UnsafeRawPointer? {
    sessionHandle("FMLanguageModelSessionCreateFromTranscript") {
        LanguageModelSession(
            model: try HandledModel.orDefault(model), tools: try BridgedTool.tools(tools, toolCount),
            transcript: try HandleTable.shared.object(session, as: HandledSession.self).session.transcript)
    }
}

@_cdecl("FMLanguageModelSessionIsResponding")
public func isResponding(_ session: UnsafeRawPointer?) -> Bool {
    (try? HandleTable.shared.object(session, as: HandledSession.self).session.isResponding) ?? false
}

@_cdecl("FMLanguageModelSessionReset")
public func resetSession(_ session: UnsafeRawPointer?) {
    do {
        try HandleTable.shared.object(session, as: HandledSession.self).waitForCancelledRequests(until: .now() + 1)
    } catch {
        warn("FMLanguageModelSessionReset: \(description(of: error))")
    }
}

@_cdecl("FMTranscriptCreateFromJSONString")
public func createTranscript(
    _ json: UnsafePointer<CChar>?, _ errorCode: UnsafeMutablePointer<Int32>?,
    _ errorDescription: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> UnsafeRawPointer? {
    ErrorReport(code: errorCode, description: errorDescription).value {
        let json = try text(json, "transcript")
        do {
            let transcript = try JSONDecoder().decode(Transcript.self, from: Data(json.utf8))
            return HandleTable.shared.add(HandledSession(LanguageModelSession(transcript: transcript)))
        } catch let error as DecodingError {
            throw GeneratedContent.ParsingError(
                rawContent: json, underlyingError: error,
                debugDescription: "The transcript is not in the right format: \(error.explanation)")
        }
    }
}

@_cdecl("FMLanguageModelSessionGetTranscriptJSONString")
public func transcriptJSON(
    _ session: UnsafeRawPointer?, _ errorCode: UnsafeMutablePointer<Int32>?,
    _ errorDescription: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> UnsafeMutablePointer<CChar>? {
    ErrorReport(code: errorCode, description: errorDescription).value {
        let transcript = try HandleTable.shared.object(session, as: HandledSession.self).session.transcript
        return allocated(String(decoding: try JSONEncoder().encode(transcript), as: UTF8.self))
    }
}

extension DecodingError {
    /// What was wrong, and where.
    var explanation: String {
        let context =
            switch self {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
                .dataCorrupted(let context):
                context
            @unknown default: nil as Context?
            }
        guard let context else { return String(describing: self) }
        let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
        return context.debugDescription + (path.isEmpty ? "" : " (at \(path))")
    }
}
