import CFoundationModels
import FoundationModels
import Synchronization

/// A stream of an answer, for C.
final class HandledStream: HandledObject {
    static let kind = "response stream"

    private let stream: Unshared<Result<LanguageModelSession.ResponseStream<String>, any Error>>
    /// Keeps the session as long as its stream.
    private let session: HandledSession?
    private let tasks = Mutex<[RequestTask]>([])

    init(session: HandledSession?, _ stream: Result<LanguageModelSession.ResponseStream<String>, any Error>) {
        self.session = session
        self.stream = Unshared(stream)
    }

    /// Tells each snapshot, and then the end or an error.
    func iterate(_ callback: TextCallback) {
        let task = session?.makeTask() ?? RequestTask()
        tasks.withLock { $0.append(task) }
        task.begin { [stream] in
            do {
                for try await snapshot in try stream.value.get() {
                    try Task.checkCancellation()
                    // Without content a call would be the last one.
                    if !snapshot.content.isEmpty { await callback.tell(.success, snapshot.content) }
                }
                try Task.checkCancellation()
                await callback.tell(.success, nil)
            } catch {
                await callback.tell(error)
            }
        }
    }

    func handleWasReleased() {
        for task in tasks.withLock({ $0 }) { task.cancel() }
    }
}

@_cdecl("FMLanguageModelSessionStreamResponse")
public func streamResponse(
    _ session: UnsafeRawPointer?, _ prompt: UnsafeRawPointer?, _ options: UnsafePointer<CChar>?
) -> UnsafeRawPointer? {
    var owner: HandledSession?
    let stream = Result<LanguageModelSession.ResponseStream<String>, any Error> {
        let session = try HandleTable.shared.object(session, as: HandledSession.self)
        owner = session
        return session.session.streamResponse(
            to: try HandleTable.shared.object(prompt, as: ComposedPrompt.self).prompt(),
            options: try GenerationOptions(json: options))
    }
    return HandleTable.shared.add(HandledStream(session: owner, stream))
}

@_cdecl("FMLanguageModelSessionResponseStreamIterate")
public func iterateStream(
    _ stream: UnsafeRawPointer?, _ userInfo: UnsafeMutableRawPointer?,
    _ function: FMLanguageModelSessionResponseCallback?
) {
    guard let callback = TextCallback(function, userInfo) else {
        return warn("FMLanguageModelSessionResponseStreamIterate: the callback is NULL.")
    }
    do {
        try HandleTable.shared.object(stream, as: HandledStream.self).iterate(callback)
    } catch {
        RequestTask().begin { await callback.tell(error) }
    }
}
