extension Transcript.Segment {
    /// - Parameter schemaName: The name of the schema that structured content follows, where known.
    package init(_ part: ContentPart, schemaName: String? = nil) {
        self =
            switch part {
            case .text(let text): .text(Transcript.TextSegment(content: text))
            case .structure(let content):
                .structure(Transcript.StructuredSegment(schemaName: schemaName ?? "", content: content))
            case .attachment(let segment): .attachment(segment)
            }
    }
}

extension Prompt {
    package var segments: [Transcript.Segment] { parts.map { Transcript.Segment($0) } }
}

extension Instructions {
    package var segments: [Transcript.Segment] { parts.map { Transcript.Segment($0) } }
}

extension GenerationSchema {
    /// Whether two schemas describe the same values under the same name.
    func hasSameContent(as other: GenerationSchema) -> Bool {
        // As it is written: what is added for the decoder alone does not survive writing, nor does the name of an untitled schema.
        publishedSchema == other.publishedSchema
    }
}
