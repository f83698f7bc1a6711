import Foundation
import JSON

/// Folds the events of one call of the model into the entries that it makes.
///
/// An event without an entry identifier goes to the entry that the last event went to when that is of the same kind, and opens a new
/// one otherwise; an event with an identifier goes to the entry of its kind with that identifier. Metadata and usage alone
/// make no entry: metadata waits for the entry to come.
package struct TurnFold {
    private enum Kind: Hashable {
        case response, reasoning, toolCalls
    }

    private struct PendingKey: Hashable {
        let kind: Kind
        let entryID: String?
    }

    private struct CreditKey: Hashable {
        let entryID: String
        let segmentID: String
    }

    private struct CallKey: Hashable {
        let entryID: String
        let callID: String
    }

    /// The entries so far, in the order in which they were opened.
    package private(set) var entries: [Transcript.Entry] = []
    /// The entry that the last event went to.
    private var trailing: Int?
    private var pendingMetadata: [PendingKey: [String: GeneratedContent]] = [:]
    private var argumentTexts: [CallKey: String] = [:]
    /// Calls whose identifiers the session made because the provider gave none.
    private var synthesisedCalls: Set<String> = []

    private var reportedUsage: LanguageModelSession.Usage?
    private var credits: [CreditKey: Int] = [:]
    private var reasoningCredits: [CreditKey: Int] = [:]

    /// The tokens of the call so far: what the provider reported last, or else what its fragments add up to.
    package var usage: LanguageModelSession.Usage {
        if let reportedUsage { return reportedUsage }
        let reasoning = reasoningCredits.values.reduce(0, &+)
        return LanguageModelSession.Usage(
            input: .init(totalTokenCount: 0, cachedTokenCount: 0),
            output: .init(
                totalTokenCount: credits.values.reduce(0, &+) &+ reasoning, reasoningTokenCount: reasoning))
    }

    /// The response that the answer is taken from: the last one.
    package var response: Transcript.Response? {
        for case .response(let response) in entries.reversed() { return response }
        return nil
    }

    package init() {}

    package mutating func apply(_ event: LanguageModelExecutorGenerationChannel.Event) {
        switch event.kind {
        case .response(let event): apply(event)
        case .reasoning(let event): apply(event)
        case .toolCalls(let event): apply(event)
        }
    }

    // MARK: Entries

    private func kind(of entry: Transcript.Entry) -> Kind? {
        switch entry {
        case .response: .response
        case .reasoning: .reasoning
        case .toolCalls: .toolCalls
        case .instructions, .prompt, .toolOutput: nil
        }
    }

    /// The entry that an event goes to; nil when it has not been opened.
    private func find(_ kind: Kind, _ entryID: String?) -> Int? {
        if let entryID {
            return entries.indices.last { entries[$0].id == entryID && self.kind(of: entries[$0]) == kind }
        }
        guard let trailing, self.kind(of: entries[trailing]) == kind else { return nil }
        return trailing
    }

    /// The entry that an event goes to, opened if need be, as the one that the last event went to.
    private mutating func open(_ kind: Kind, _ entryID: String?) -> Int {
        if let index = find(kind, entryID) {
            trailing = index
            return index
        }
        let id = entryID ?? UUID().uuidString
        let metadata =
            pendingMetadata.removeValue(forKey: PendingKey(kind: kind, entryID: entryID)) ?? [:]
        switch kind {
        case .response: entries.append(.response(Transcript.Response(id: id, metadata: metadata, segments: [])))
        case .reasoning: entries.append(.reasoning(Transcript.Reasoning(id: id, metadata: metadata, segments: [])))
        case .toolCalls:
            var calls = Transcript.ToolCalls(id: id, [])
            calls.metadata = metadata
            entries.append(.toolCalls(calls))
        }
        trailing = entries.count - 1
        return entries.count - 1
    }

    private mutating func remove(at index: Int) {
        entries.remove(at: index)
        trailing = entries.isEmpty ? nil : entries.count - 1
    }

    // MARK: Responses

    private mutating func apply(_ event: LanguageModelExecutorGenerationChannel.Response) {
        switch event.action.kind {
        case .appendText(let fragment):
            // Nothing written yet is no response yet.
            if fragment.content.isEmpty, find(.response, event.entryID) == nil {
                addCredit(fragment.tokenCount, entryID: event.entryID ?? "", segmentID: "", reasoning: false)
                return
            }
            withResponse(at: open(.response, event.entryID)) { response in
                let id = response.segments.append(fragment.content, to: fragment.segmentID)
                return (response.id, id)
            } credit: {
                $0 &+ fragment.tokenCount
            }
        case .replaceText(let replacement):
            withResponse(at: open(.response, event.entryID)) { response in
                let id = response.segments.replace(replacement.segmentID, with: replacement.content)
                return (response.id, id)
            } credit: { _ in
                replacement.tokenCount
            }
        case .addAttachment(let segment):
            withResponse(at: open(.response, event.entryID)) { response in
                response.segments.removeAll { $0.id == segment.id }
                response.segments.append(.attachment(segment))
                return (response.id, segment.id)
            } credit: {
                $0
            }
        case .removeAttachment(let id):
            guard let index = find(.response, event.entryID) else { return }
            withResponse(at: index) { response in
                response.segments.removeAll { segment in
                    if case .attachment(let attachment) = segment { attachment.id == id } else { false }
                }
                return (response.id, id)
            } credit: {
                $0
            }
        case .updateMetadata(let metadata):
            guard let index = find(.response, event.entryID), case .response(var response) = entries[index] else {
                pendingMetadata[PendingKey(kind: .response, entryID: event.entryID)] = metadata.values
                return
            }
            response.storedMetadata = metadata.values
            entries[index] = .response(response)
        case .updateUsage(let usage): report(usage)
        }
    }

    private mutating func withResponse(
        at index: Int, _ change: (inout Transcript.Response) -> (entryID: String, segmentID: String),
        credit: (Int) -> Int
    ) {
        guard case .response(var response) = entries[index] else { return }
        let (entryID, segmentID) = change(&response)
        entries[index] = .response(response)
        credits[CreditKey(entryID: entryID, segmentID: segmentID), default: 0] = credit(
            credits[CreditKey(entryID: entryID, segmentID: segmentID), default: 0])
    }

    // MARK: Reasoning

    private mutating func apply(_ event: LanguageModelExecutorGenerationChannel.Reasoning) {
        switch event.action.kind {
        case .appendText(let fragment):
            if fragment.content.isEmpty, find(.reasoning, event.entryID) == nil {
                addCredit(fragment.tokenCount, entryID: event.entryID ?? "", segmentID: "", reasoning: true)
                return
            }
            withReasoning(at: open(.reasoning, event.entryID)) { reasoning in
                let id = reasoning.segments.append(fragment.content, to: fragment.segmentID)
                return (reasoning.id, id)
            } credit: {
                $0 &+ fragment.tokenCount
            }
        case .replaceText(let replacement):
            withReasoning(at: open(.reasoning, event.entryID)) { reasoning in
                let id = reasoning.segments.replace(replacement.segmentID, with: replacement.content)
                return (reasoning.id, id)
            } credit: { _ in
                replacement.tokenCount
            }
        case .updateSignature(let signature):
            withReasoning(at: open(.reasoning, event.entryID)) { reasoning in
                reasoning.signature = signature.signature
                return (reasoning.id, "signature")
            } credit: { _ in
                signature.tokenCount
            }
        case .updateMetadata(let metadata):
            guard let index = find(.reasoning, event.entryID), case .reasoning(var reasoning) = entries[index] else {
                pendingMetadata[PendingKey(kind: .reasoning, entryID: event.entryID)] = metadata.values
                return
            }
            reasoning.metadata = metadata.values
            entries[index] = .reasoning(reasoning)
        case .updateUsage(let usage): report(usage)
        }
    }

    private mutating func withReasoning(
        at index: Int, _ change: (inout Transcript.Reasoning) -> (entryID: String, segmentID: String),
        credit: (Int) -> Int
    ) {
        guard case .reasoning(var reasoning) = entries[index] else { return }
        let (entryID, segmentID) = change(&reasoning)
        entries[index] = .reasoning(reasoning)
        reasoningCredits[CreditKey(entryID: entryID, segmentID: segmentID), default: 0] = credit(
            reasoningCredits[CreditKey(entryID: entryID, segmentID: segmentID), default: 0])
    }

    // MARK: Tool calls

    private mutating func apply(_ event: LanguageModelExecutorGenerationChannel.ToolCalls) {
        switch event.action.kind {
        case .toolCall(let call):
            let index = open(.toolCalls, event.entryID)
            guard case .toolCalls(var calls) = entries[index] else { return }
            let position = position(of: call, in: &calls)
            switch call.action.kind {
            case .appendArguments(let fragment):
                let key = CallKey(entryID: calls.id, callID: calls.calls[position].id)
                argumentTexts[key, default: ""] += fragment.content
                let text = argumentTexts[key, default: ""]
                // What has come may not be readable yet, or at all; that shows when the call is carried out.
                if let arguments = try? GeneratedContent(json: text) { calls.calls[position].arguments = arguments }
                calls.calls[position].generatedText = text
                addCredit(fragment.tokenCount, entryID: calls.id, segmentID: key.callID, reasoning: false)
            case .updateMetadata(let metadata):
                calls.calls[position].metadata = metadata.values
            }
            entries[index] = .toolCalls(calls)
        case .removeToolCall(let id):
            guard let index = find(.toolCalls, event.entryID), case .toolCalls(var calls) = entries[index] else {
                return
            }
            calls.calls.removeAll { $0.id == id }
            argumentTexts[CallKey(entryID: calls.id, callID: id)] = nil
            entries[index] = .toolCalls(calls)
            if calls.isEmpty { remove(at: index) }
        case .updateMetadata(let metadata):
            guard let index = find(.toolCalls, event.entryID), case .toolCalls(var calls) = entries[index] else {
                pendingMetadata[PendingKey(kind: .toolCalls, entryID: event.entryID)] = metadata.values
                return
            }
            calls.metadata = metadata.values
            entries[index] = .toolCalls(calls)
        case .updateUsage(let usage): report(usage)
        }
    }

    /// The call that an event is for, opened by the first event with its identifier.
    private mutating func position(
        of call: LanguageModelExecutorGenerationChannel.ToolCalls.ToolCall, in calls: inout Transcript.ToolCalls
    ) -> Int {
        if call.id.isEmpty {
            // Without an identifier an event goes on with the last call of its tool until that has all its arguments.
            if let last = calls.last, last.toolName == call.name, synthesisedCalls.contains(last.id),
                (try? JSONValue(parsing: last.generatedText ?? "")) == nil
            {
                return calls.count - 1
            }
            let id = UUID().uuidString
            synthesisedCalls.insert(id)
            calls.calls.append(
                Transcript.ToolCall(id: id, toolName: call.name, arguments: GeneratedContent(properties: [:])))
            return calls.count - 1
        }
        if let position = calls.firstIndex(where: { $0.id == call.id }) { return position }
        calls.calls.append(
            Transcript.ToolCall(id: call.id, toolName: call.name, arguments: GeneratedContent(properties: [:])))
        return calls.count - 1
    }

    // MARK: Usage

    private mutating func report(_ usage: LanguageModelExecutorGenerationChannel.Usage) {
        reportedUsage = LanguageModelSession.Usage(
            input: .init(
                totalTokenCount: usage.input.totalTokenCount, cachedTokenCount: usage.input.cachedTokenCount),
            output: .init(
                totalTokenCount: usage.output.totalTokenCount, reasoningTokenCount: usage.output.reasoningTokenCount),
            metadata: usage.metadata)
    }

    private mutating func addCredit(_ count: Int, entryID: String, segmentID: String, reasoning: Bool) {
        let key = CreditKey(entryID: entryID, segmentID: segmentID)
        if reasoning {
            reasoningCredits[key, default: 0] &+= count
        } else {
            credits[key, default: 0] &+= count
        }
    }

    // MARK: The end

    /// Makes structured segments of the text of responses that follow a schema.
    mutating func structureResponses(schemaName: String, generationID: GenerationID) {
        for (index, entry) in entries.enumerated() {
            guard case .response(var response) = entry else { continue }
            let text = response.segments.joinedText
            guard !text.isEmpty, let content = try? GeneratedContent(json: text, id: generationID) else { continue }
            let first = response.segments.first { if case .text = $0 { true } else { false } }
            var segment = Transcript.StructuredSegment(
                id: first?.id ?? UUID().uuidString, schemaName: schemaName, content: content)
            segment.generatedText = text
            response.segments.removeAll { if case .text = $0 { true } else { false } }
            response.segments.insert(.structure(segment), at: 0)
            entries[index] = .response(response)
        }
    }
}

extension [Transcript.Segment] {
    private func textSegment(_ id: String?) -> Int? {
        if let id {
            return lastIndex { segment in
                if case .text(let text) = segment { text.id == id } else { false }
            }
        }
        guard case .text? = last else { return nil }
        return count - 1
    }

    /// Adds text to a segment, or to the last one, opened if need be. Gives the segment's identifier.
    fileprivate mutating func append(_ text: String, to id: String?) -> String {
        guard let index = textSegment(id), case .text(var segment) = self[index] else {
            let segment = Transcript.TextSegment(id: id ?? UUID().uuidString, content: text)
            append(.text(segment))
            return segment.id
        }
        segment.content += text
        self[index] = .text(segment)
        return segment.id
    }

    /// Puts text in the place of a segment's, or of the last one's, opened if need be. Gives the segment's identifier.
    fileprivate mutating func replace(_ id: String?, with text: String) -> String {
        guard let index = textSegment(id), case .text(var segment) = self[index] else {
            return append(text, to: id)
        }
        segment.content = text
        self[index] = .text(segment)
        return segment.id
    }
}
