import Synchronization

/// What a caller asked for.
struct SessionRequest: Sendable {
    var prompt: [Transcript.Segment]
    var schema: GenerationSchema?
    var options: GenerationOptions
    var contextOptions: ContextOptions
    var metadata: [String: GeneratedContent]
    /// Throws when content cannot become the type that was asked for.
    var validate: @Sendable (GeneratedContent) throws -> Void
}

extension LanguageModelSession {
    /// The one way in: every `respond` and `streamResponse` comes through here.
    func stream<Content: Generable>(
        _ prompt: Prompt, as type: Content.Type, schema: GenerationSchema?, options: GenerationOptions,
        contextOptions: ContextOptions, metadata: [String: any ConvertibleToGeneratedContent]
    ) -> sending ResponseStream<Content> {
        var (options, contextOptions) = (options, contextOptions)
        if let early = options.earlyIncludeSchemaInPrompt {
            if schema != nil { contextOptions.includeSchemaInPrompt = early }
            options.earlyIncludeSchemaInPrompt = nil
        }
        let request = SessionRequest(
            prompt: prompt.segments, schema: schema, options: options, contextOptions: contextOptions,
            metadata: metadata.mapValues(\.generatedContent), validate: { _ = try Content($0) })
        return ResponseStream(ResponseReader(begin(request)))
    }

    /// The schema to ask for a type with. Text is asked for without one.
    func schema<Content: Generable>(for type: Content.Type) -> GenerationSchema? {
        type == String.self ? nil : type.generationSchema
    }

    /// Begins to answer. ``isResponding`` is true when this returns, or the buffer holds the error.
    private func begin(_ request: SessionRequest) -> ResponseBuffer {
        let buffer = ResponseBuffer(isStructured: request.schema != nil)
        let isFirst = registrar.withMutation(of: self, keyPath: \.isResponding) {
            state.withLock { state in
                guard state.activeResponse == nil else { return false }
                state.activeResponse = buffer
                return true
            }
        }
        guard isFirst else {
            buffer.finish(.failure(surfaced(Error.concurrentRequests)))
            return buffer
        }
        buffer.attach(
            Task {
                await RequestRunner(session: self, request: request, response: buffer).run()
            })
        return buffer
    }

    /// Ends the active response, and only then tells those who wait.
    func end(
        _ response: ResponseBuffer, _ outcome: Result<ResponseBuffer.Snapshot, any Swift.Error>, usage: Usage,
        revertingTo transcript: Transcript?
    ) {
        if let transcript {
            registrar.withMutation(of: self, keyPath: \.transcript) {
                state.withLock { state in
                    if !response.isInterrupted { state.transcript = transcript }
                }
            }
        }
        registrar.withMutation(of: self, keyPath: \.usage) {
            state.withLock { $0.usage = $0.usage.adding(usage) }
        }
        registrar.withMutation(of: self, keyPath: \.isResponding) {
            state.withLock { state in
                if state.activeResponse === response { state.activeResponse = nil }
            }
        }
        response.finish(outcome)
    }
}
