/// What happens to a transcript when a request fails or is cancelled.
public struct TranscriptErrorHandlingPolicy: Sendable {
    let preserves: Bool

    /// The transcript goes back to what it was before the request.
    public static let revertTranscript = TranscriptErrorHandlingPolicy(preserves: false)

    /// The prompt and what has come of the answer stay; the last entry may be unfinished.
    public static let preserveTranscript = TranscriptErrorHandlingPolicy(preserves: true)
}
