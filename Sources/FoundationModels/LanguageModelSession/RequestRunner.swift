import Foundation
import Inference
import Synchronization

/// Answers one request: prompt, calls of the model, tools and round again, until the model calls no more tools.
struct RequestRunner {
    let session: LanguageModelSession
    let request: SessionRequest
    let response: ResponseBuffer

    /// What a request has come to.
    private struct Progress {
        /// The transcript as it was before, for the case that the request fails.
        let before: Transcript
        let idsBefore: Set<String>
        var usage = LanguageModelSession.Usage.zero
        var text = ""
        /// The most tokens that the last call of the model might write.
        var tokenLimit: Int?
        var errorHandlingPolicy: TranscriptErrorHandlingPolicy?
    }

    func run() async {
        let before = session.currentTranscript
        var progress = Progress(before: before, idsBefore: Set(before.map(\.id)))
        do {
            try await SessionTrace.$current.withValue(session.trace) {
                try await answer(&progress)
            }
            let snapshot = ResponseBuffer.Snapshot(
                text: progress.text, transcriptEntries: entries(since: progress), usage: progress.usage)
            session.end(response, .success(snapshot), usage: progress.usage, revertingTo: nil)
        } catch {
            let policy =
                progress.errorHandlingPolicy ?? session.state.withLock { $0.errorHandlingPolicy } ?? .revertTranscript
            // A reader who went away took what had come; the conversation keeps it too.
            let preserves = policy.preserves || response.isAbandoned
            session.end(
                response, .failure(surfaced(response.interruption ?? error)), usage: progress.usage,
                revertingTo: preserves ? nil : progress.before)
        }
    }

    /// What the request has added to the transcript.
    private func entries(since progress: Progress) -> ArraySlice<Transcript.Entry> {
        entries(of: session.currentTranscript, since: progress)
    }

    private func entries(of transcript: Transcript, since progress: Progress) -> ArraySlice<Transcript.Entry> {
        let entries = transcript.entries
        // Callbacks may have rewritten the history, so the place is found by what was there before. Instructions are of
        // the session, not of the request.
        let start =
            entries.firstIndex { entry in
                if case .instructions = entry { return false }
                return !progress.idsBefore.contains(entry.id)
            } ?? entries.endIndex
        return entries[start...]
    }

    // MARK: The turn

    private func answer(_ progress: inout Progress) async throws {
        try request.options.validate()
        var prompt = Transcript.Prompt(
            metadata: request.metadata, segments: request.prompt, options: request.options,
            responseFormat: request.schema.map { Transcript.ResponseFormat(schema: $0) },
            contextOptions: request.contextOptions)
        var profile = try resolve(&progress)
        try await activate(profile)
        try show(profile)
        try change { $0.append(.prompt(prompt)) }

        while true {
            if !profile.onPrompt.isEmpty {
                for action in profile.onPrompt { try await perform { try await action(prompt) } }
                if let current = currentPrompt { prompt = current }
                // What the callbacks changed shows in the very next call.
                profile = try await refresh(&progress)
            }
            let turn = try await call(profile, &progress)
            try await tell(profile, about: turn.entries)
            let calls = turn.entries.flatMap { entry -> [Transcript.ToolCall] in
                if case .toolCalls(let calls) = entry { Array(calls) } else { [] }
            }
            guard !calls.isEmpty else {
                progress.text = turn.response?.segments.joinedText ?? ""
                break
            }
            let wasCut = turn.usage.finishReason == "length"
            try await carryOut(calls, profile, tokenLimit: wasCut ? progress.tokenLimit : nil)
            profile = try await refresh(&progress)
        }
        try validate(progress)
    }

    private var currentPrompt: Transcript.Prompt? {
        for case .prompt(let prompt) in session.currentTranscript.reversed() { return prompt }
        return nil
    }

    private func resolve(_ progress: inout Progress) throws -> ResolvedProfile {
        let profile = try session.sessionProperties.read(in: session) { try session.profile.resolve() }
        progress.errorHandlingPolicy = profile.errorHandlingPolicy
        return profile
    }

    private func refresh(_ progress: inout Progress) async throws -> ResolvedProfile {
        let profile = try resolve(&progress)
        try await activate(profile)
        try show(profile)
        return profile
    }

    /// Tells profiles when one takes the place of another: first the one that goes, then the one that comes.
    private func activate(_ profile: ResolvedProfile) async throws {
        let previous = session.state.withLock { state in
            let previous = state.activeProfile
            state.activeProfile = ActiveProfile(identity: profile.identity, onDeactivate: profile.onDeactivate)
            return previous
        }
        guard previous?.identity != profile.identity else { return }
        for action in previous?.onDeactivate ?? [] { try await perform { await action() } }
        for action in profile.onActivate { try await perform { await action() } }
    }

    /// Puts the instructions of a profile at the head of the transcript. Equal ones keep their place and their identifiers.
    private func show(_ profile: ResolvedProfile) throws {
        guard let segments = profile.instructions else { return }
        let definitions = profile.tools.map(\.definition)
        let note = try change { transcript -> String? in
            transcript.setInstructions(segments, definitions: definitions)
        }
        if let note { session.trace.note(note) }
    }

    /// Changes the transcript as long as the request is the session's own.
    @discardableResult
    private func change<Value>(_ change: (inout Transcript) throws -> Value) throws -> Value {
        try Task.checkCancellation()
        guard let value = try session.update(for: response, change) else { throw CancellationError() }
        return value
    }

    /// Runs code of the program in the session's context.
    private func perform(_ action: nonisolated(nonsending) () async throws -> Void) async throws {
        try Task.checkCancellation()
        try await session.sessionProperties.write(in: session, action)
        if let interruption = response.interruption { throw interruption }
    }

    // MARK: Calls of the model

    private func call(_ profile: ResolvedProfile, _ progress: inout Progress) async throws -> TurnFold {
        guard let model = profile.model else { throw LanguageModelSession.ConfigurationError.missingModel }
        let modelRequest = try ModelRequest(request, profile, transcript: session.currentTranscript, session.trace)
        try modelRequest.check(against: model.capabilities)
        progress.tokenLimit = modelRequest.request.generationOptions.maximumResponseTokens

        let channel = LanguageModelExecutorGenerationChannel()
        let executors = session.executors
        let task = Task {
            do {
                try await executors.respond(with: model, to: modelRequest.request, streamingInto: channel)
                channel.finish()
            } catch {
                channel.finish(throwing: error)
            }
        }
        defer { task.cancel() }

        let usageBefore = progress.usage
        let start = session.currentTranscript.endIndex
        var fold = TurnFold()
        do {
            for try await event in channel {
                fold.apply(event)
                try record(fold, from: start, usageBefore, progress)
            }
            // A cancelled wait ends like a finished turn.
            try Task.checkCancellation()
        } catch {
            progress.usage = usageBefore.adding(fold.usage)
            // What stays of an unfinished answer has the form of a finished one.
            if let schema = request.schema {
                fold.structureResponses(schemaName: schema.name, generationID: response.generationID)
                session.update(for: response) { $0.replaceSubrange(start..., with: fold.entries) }
            }
            throw error
        }
        progress.usage = usageBefore.adding(fold.usage)
        session.state.withLock { $0.lastCallTokenCount = fold.usage.totalTokenCount }
        if let schema = request.schema {
            fold.structureResponses(schemaName: schema.name, generationID: response.generationID)
            try change { $0.replaceSubrange(start..., with: fold.entries) }
        }
        return fold
    }

    /// Writes what a call has made so far into the transcript and tells those who read along.
    private func record(
        _ fold: TurnFold, from start: Int, _ usageBefore: LanguageModelSession.Usage, _ progress: Progress
    ) throws {
        let transcript = try change { transcript -> Transcript in
            transcript.replaceSubrange(start..., with: fold.entries)
            return transcript
        }
        guard response.wantsSnapshots, let answer = fold.response, !answer.segments.isEmpty else { return }
        response.publish(
            ResponseBuffer.Snapshot(
                text: answer.segments.joinedText, transcriptEntries: entries(of: transcript, since: progress),
                usage: usageBefore.adding(fold.usage)))
    }

    private func tell(_ profile: ResolvedProfile, about entries: [Transcript.Entry]) async throws {
        for entry in entries {
            switch entry {
            case .reasoning(let reasoning):
                for action in profile.onReasoning { try await perform { try await action(reasoning) } }
            case .response(let answer):
                for action in profile.onResponse { try await perform { try await action(answer) } }
            case .toolCalls, .toolOutput, .instructions, .prompt: break
            }
        }
    }

    // MARK: Tools

    /// Carries out the calls of one round at the same time and adds their outputs in the order of the calls.
    /// - Parameter tokenLimit: At how many tokens the model was cut off, if it was.
    private func carryOut(
        _ calls: [Transcript.ToolCall], _ profile: ResolvedProfile, tokenLimit: Int?
    ) async throws {
        let properties = session.sessionProperties
        let session = session
        var invocations: [@Sendable () async throws -> [Transcript.Segment]] = []
        for call in calls {
            for action in profile.onToolCall { try await perform { try await action(call) } }
            guard let tool = profile.tools.first(where: { $0.tool.name == call.toolName })?.tool else {
                throw LanguageModelSession.ToolCallError(
                    tool: UndefinedTool(name: call.toolName),
                    underlyingError: LanguageModelSession.UndefinedToolError(
                        toolName: call.toolName, availableToolNames: profile.tools.map(\.definition.name)))
            }
            let arguments: GeneratedContent
            do {
                arguments = try call.completeArguments(tokenLimit: tokenLimit)
            } catch {
                throw LanguageModelSession.ToolCallError(tool: tool, underlyingError: error)
            }
            noteRepetition(of: call)
            invocations.append {
                let start = Trace.shared?.now
                defer {
                    if let trace = Trace.shared, let start {
                        trace.span(
                            "tool", .tool, from: start, on: session.trace.track, [("tool", .init(call.toolName))])
                    }
                }
                return try await properties.readFromTool(in: session) { try await tool.segments(calling: arguments) }
            }
        }
        let outputs = try await abandonable(invocations)
        for (call, segments) in zip(calls, outputs) {
            let output = Transcript.ToolOutput(id: call.id, toolName: call.toolName, segments: segments)
            try change { $0.append(.toolOutput(output)) }
            for action in profile.onToolOutput { try await perform { try await action(call, output) } }
        }
    }

    /// A model that asks for the same again and again goes round in circles.
    private func noteRepetition(of call: Transcript.ToolCall) {
        let earlier = session.currentTranscript.reduce(0) { count, entry in
            guard case .toolCalls(let calls) = entry else { return count }
            return count + calls.count { $0.toolName == call.toolName && $0.argumentsText == call.argumentsText }
        }
        guard earlier > 1 else { return }
        session.trace.note("The tool \"\(call.toolName)\" is called \(earlier) times with the same arguments.")
    }

    // MARK: The end

    /// Throws when the answer cannot become what was asked for.
    private func validate(_ progress: Progress) throws {
        let wasCut = progress.usage.finishReason == "length"
        func unfinished(_ fault: (any Error)? = nil) -> GeneratedContent.ParsingError {
            // What it lacks for its type comes first, in the words that programs know.
            let lack = (fault as? GeneratedContent.ParsingError).map { "\($0.debugDescription) " } ?? ""
            return GeneratedContent.ParsingError(
                unfinished: progress.text, "\(lack)The response", tokenLimit: wasCut ? progress.tokenLimit : nil,
                underlyingError: fault)
        }
        // Of a token or two there may be nothing that can be read.
        if wasCut, progress.text.isEmpty, response.isStructured { throw unfinished() }
        let content = try response.content(of: progress.text)
        do {
            try request.validate(content)
        } catch {
            if wasCut, !content.isComplete { throw unfinished(error) }
            throw error
        }
        // Of a number that was cut off nobody can say whether it was at its end.
        let endsInNumber = response.isStructured && progress.text.last?.isNumber == true
        guard content.isComplete, !(wasCut && endsInNumber) else { throw unfinished() }
    }
}

extension ExecutorStore {
    /// Opens the model's type and lets its executor answer.
    func respond<Model: LanguageModel>(
        with model: Model, to request: LanguageModelExecutorGenerationRequest,
        streamingInto channel: LanguageModelExecutorGenerationChannel
    ) async throws {
        try await executor(for: model).respond(to: request, model: model, streamingInto: channel)
    }
}

extension Transcript {
    /// Puts instructions at the head of the transcript, or takes them away when there is nothing to say.
    ///
    /// - Returns: What moved, when something did: from there on the model has to read anew.
    mutating func setInstructions(_ segments: [Segment], definitions: [ToolDefinition]) -> String? {
        guard case .instructions(var current)? = entries.first else {
            guard !segments.isEmpty || !definitions.isEmpty else { return nil }
            entries.insert(.instructions(Instructions(segments: segments, toolDefinitions: definitions)), at: 0)
            return nil
        }
        guard !segments.isEmpty || !definitions.isEmpty else {
            entries.removeFirst()
            return "The instructions went away; the whole conversation is read anew."
        }
        let sameSegments = zip(current.segments, segments).prefix { $0.hasSameContent(as: $1) }.count
        let sameTools = zip(current.toolDefinitions, definitions).prefix { $0 == $1 }.count
        let movedSegment = sameSegments < Swift.max(current.segments.count, segments.count)
        let movedTool = sameTools < Swift.max(current.toolDefinitions.count, definitions.count)
        guard movedSegment || movedTool else { return nil }
        current.segments = Array(current.segments.prefix(sameSegments) + segments.dropFirst(sameSegments))
        current.toolDefinitions = definitions
        entries[0] = .instructions(current)
        let place =
            movedSegment
            ? "part \(sameSegments + 1) of the instructions"
            : "tool \(sameTools + 1)\(sameTools < definitions.count ? " (\(definitions[sameTools].name))" : "")"
        return "The prompt changed from \(place) on; what follows is read anew."
    }
}
