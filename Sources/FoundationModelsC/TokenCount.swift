import CFoundationModels
import FoundationModels

/// Counts tokens of what `subject` gives, by `count`.
private func countTokens<Subject: Sendable>(
    _ model: UnsafeRawPointer?, _ userInfo: UnsafeMutableRawPointer?,
    _ function: FMSystemLanguageModelTokenCountCallback?, of subject: () throws -> Subject,
    by count: @escaping @Sendable (SystemLanguageModel, Subject) async throws -> Int
) -> UnsafeRawPointer? {
    guard let callback = CountCallback(function, userInfo) else { return nil }
    let task = RequestTask()
    let found = Result { (try HandleTable.shared.object(model, as: HandledModel.self).model, try subject()) }
    task.begin {
        do {
            let (model, subject) = try found.get()
            try Task.checkCancellation()
            let tokens = try await count(model, subject)
            try Task.checkCancellation()
            await callback.tell(tokens)
        } catch {
            await callback.tell(error)
        }
    }
    return HandleTable.shared.add(task)
}

@_cdecl("FMSystemLanguageModelTokenCountForPrompt")
public func countTokensOfPrompt(
    _ model: UnsafeRawPointer?, _ prompt: UnsafeRawPointer?, _ userInfo: UnsafeMutableRawPointer?,
    _ callback: FMSystemLanguageModelTokenCountCallback?
) -> UnsafeRawPointer? {
    countTokens(model, userInfo, callback) {
        try HandleTable.shared.object(prompt, as: ComposedPrompt.self).prompt()
    } by: {
        try await $0.tokenCount(for: $1)
    }
}

@_cdecl("FMSystemLanguageModelTokenCountForInstructions")
public func countTokensOfInstructions(
    _ model: UnsafeRawPointer?, _ instructions: UnsafePointer<CChar>?, _ userInfo: UnsafeMutableRawPointer?,
    _ callback: FMSystemLanguageModelTokenCountCallback?
) -> UnsafeRawPointer? {
    countTokens(model, userInfo, callback) {
        try text(instructions, "instructions")
    } by: {
        try await $0.tokenCount(for: Instructions($1))
    }
}

@_cdecl("FMSystemLanguageModelTokenCountForTools")
public func countTokensOfTools(
    _ model: UnsafeRawPointer?, _ tools: UnsafePointer<UnsafeRawPointer?>?, _ toolCount: Int32,
    _ userInfo: UnsafeMutableRawPointer?, _ callback: FMSystemLanguageModelTokenCountCallback?
) -> UnsafeRawPointer? {
    countTokens(model, userInfo, callback) {
        try BridgedTool.tools(tools, toolCount)
    } by: {
        try await $0.tokenCount(for: $1)
    }
}

@_cdecl("FMSystemLanguageModelTokenCountForSchema")
public func countTokensOfSchema(
    _ model: UnsafeRawPointer?, _ schema: UnsafeRawPointer?, _ userInfo: UnsafeMutableRawPointer?,
    _ callback: FMSystemLanguageModelTokenCountCallback?
) -> UnsafeRawPointer? {
    countTokens(model, userInfo, callback) {
        try HandleTable.shared.object(schema, as: SchemaBuilder.self).schema()
    } by: {
        try await $0.tokenCount(for: $1)
    }
}

@_cdecl("FMSystemLanguageModelTokenCountForTranscript")
public func countTokensOfTranscript(
    _ model: UnsafeRawPointer?, _ session: UnsafeRawPointer?, _ userInfo: UnsafeMutableRawPointer?,
    _ callback: FMSystemLanguageModelTokenCountCallback?
) -> UnsafeRawPointer? {
    countTokens(model, userInfo, callback) {
        try HandleTable.shared.object(session, as: HandledSession.self).session.transcript
    } by: {
        try await $0.tokenCount(for: $1)
    }
}
