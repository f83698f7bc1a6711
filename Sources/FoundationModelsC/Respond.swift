import CFoundationModels
import Foundation
import FoundationModels

/// Begins a request and hands what it comes to, or what was wrong with the arguments, to `end`.
private func begin<Content: Sendable>(
    _ session: UnsafeRawPointer?, _ prompt: UnsafeRawPointer?, _ options: UnsafePointer<CChar>?,
    _ request: (LanguageModelSession, Prompt, GenerationOptions) throws -> LanguageModelSession.ResponseStream<Content>,
    end: @escaping @Sendable (Result<Content, any Error>) async -> Void
) -> UnsafeRawPointer? {
    var task: RequestTask?
    do {
        let session = try HandleTable.shared.object(session, as: HandledSession.self)
        task = session.makeTask()
        let prompt = try HandleTable.shared.object(prompt, as: ComposedPrompt.self).prompt()
        // Begun here and not in the task, so that the session is responding when this returns.
        let stream = Unshared(try request(session.session, prompt, try GenerationOptions(json: options)))
        task?.begin {
            do {
                let response = try await stream.value.collect()
                try Task.checkCancellation()
                await end(.success(response.content))
            } catch {
                await end(.failure(error))
            }
        }
    } catch {
        if task == nil { task = RequestTask() }
        task?.begin { await end(.failure(error)) }
    }
    return task.flatMap(HandleTable.shared.add)
}

/// What one task alone uses, after it was made elsewhere.
struct Unshared<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

@_cdecl("FMLanguageModelSessionRespond")
public func respond(
    _ session: UnsafeRawPointer?, _ prompt: UnsafeRawPointer?, _ options: UnsafePointer<CChar>?,
    _ userInfo: UnsafeMutableRawPointer?, _ function: FMLanguageModelSessionResponseCallback?
) -> UnsafeRawPointer? {
    guard let callback = TextCallback(function, userInfo) else { return nil }
    return begin(session, prompt, options) {
        $0.streamResponse(to: $1, options: $2)
    } end: {
        switch $0 {
        case .success(let text): await callback.tell(.success, text)
        case .failure(let error): await callback.tell(error)
        }
    }
}

@_cdecl("FMLanguageModelSessionRespondWithSchema")
public func respondWithSchema(
    _ session: UnsafeRawPointer?, _ prompt: UnsafeRawPointer?, _ schema: UnsafeRawPointer?,
    _ options: UnsafePointer<CChar>?, _ userInfo: UnsafeMutableRawPointer?,
    _ function: FMLanguageModelSessionStructuredResponseCallback?
) -> UnsafeRawPointer? {
    respond(session, prompt, options, userInfo, function) {
        try HandleTable.shared.object(schema, as: SchemaBuilder.self).schema()
    }
}

@_cdecl("FMLanguageModelSessionRespondWithSchemaFromJSON")
public func respondWithSchemaJSON(
    _ session: UnsafeRawPointer?, _ prompt: UnsafeRawPointer?, _ schemaJSON: UnsafePointer<CChar>?,
    _ options: UnsafePointer<CChar>?, _ userInfo: UnsafeMutableRawPointer?,
    _ function: FMLanguageModelSessionStructuredResponseCallback?
) -> UnsafeRawPointer? {
    respond(session, prompt, options, userInfo, function) {
        let json = try text(schemaJSON, "JSON of the schema")
        do {
            return try JSONDecoder().decode(GenerationSchema.self, from: Data(json.utf8))
        } catch let error as DecodingError {
            throw InvalidArgument("The schema is not in the format of a JSON Schema: \(error.explanation)")
        }
    }
}

private func respond(
    _ session: UnsafeRawPointer?, _ prompt: UnsafeRawPointer?, _ options: UnsafePointer<CChar>?,
    _ userInfo: UnsafeMutableRawPointer?, _ function: FMLanguageModelSessionStructuredResponseCallback?,
    schema: () throws -> GenerationSchema
) -> UnsafeRawPointer? {
    guard let callback = ContentCallback(function, userInfo) else { return nil }
    return begin(session, prompt, options) {
        $0.streamResponse(to: $1, schema: try schema(), options: $2)
    } end: {
        switch $0 {
        case .success(let content): await callback.tell(.success, content)
        case .failure(let error): await callback.tell(error)
        }
    }
}
