import Foundation

extension LanguageModelSession {
    /// Makes a file of the conversation and of what the user thinks of it, to be attached to a report. Nothing is sent anywhere.
    ///
    /// - Parameter desiredOutput: The entry that should have been the last.
    /// - Returns: JSON text in UTF-8.
    @discardableResult
    public func logFeedbackAttachment(
        sentiment: LanguageModelFeedback.Sentiment?, issues: [LanguageModelFeedback.Issue] = [],
        desiredOutput: Transcript.Entry? = nil
    ) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let attachment = FeedbackAttachment(
            sentiment: sentiment.map { String(describing: $0) },
            issues: issues.map { .init(category: String(describing: $0.category), explanation: $0.explanation) },
            transcript: currentTranscript, desiredOutput: desiredOutput.map { Transcript(entries: [$0]) })
        do {
            return try encoder.encode(attachment)
        } catch {
            trace.note("The feedback could not be written: \(error)")
            return Data()
        }
    }

    /// Makes a file of the conversation and of what the user thinks of it, to be attached to a report.
    ///
    /// - Parameter desiredResponseText: What the model should have answered.
    @discardableResult
    public func logFeedbackAttachment(
        sentiment: LanguageModelFeedback.Sentiment?, issues: [LanguageModelFeedback.Issue] = [],
        desiredResponseText: String?
    ) -> Data {
        let entry = desiredResponseText.map { text in
            Transcript.Entry.response(
                Transcript.Response(assetIDs: [], segments: [.text(Transcript.TextSegment(content: text))]))
        }
        return logFeedbackAttachment(sentiment: sentiment, issues: issues, desiredOutput: entry)
    }

    /// Makes a file of the conversation and of what the user thinks of it, to be attached to a report.
    ///
    /// - Parameter desiredResponseContent: What the model should have answered.
    @discardableResult
    public func logFeedbackAttachment(
        sentiment: LanguageModelFeedback.Sentiment?, issues: [LanguageModelFeedback.Issue] = [],
        desiredResponseContent: (any ConvertibleToGeneratedContent)?
    ) -> Data {
        let entry = desiredResponseContent.map { content in
            let segment = Transcript.StructuredSegment(
                schemaName: String(describing: type(of: content)), content: content.generatedContent)
            return Transcript.Entry.response(Transcript.Response(assetIDs: [], segments: [.structure(segment)]))
        }
        return logFeedbackAttachment(sentiment: sentiment, issues: issues, desiredOutput: entry)
    }
}

private struct FeedbackAttachment: Encodable {
    struct Issue: Encodable {
        let category: String
        let explanation: String?
    }

    let type = "FoundationModels.Feedback"
    let version = 1
    let sentiment: String?
    let issues: [Issue]
    let transcript: Transcript
    let desiredOutput: Transcript?
}
