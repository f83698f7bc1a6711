import JSON

extension Tool {
    /// Calls the tool and gives what it returns as segments of a transcript.
    ///
    /// - Throws: ``LanguageModelSession/ToolCallError`` around whatever goes wrong, but a cancellation of the calling task.
    @concurrent
    func segments(calling arguments: GeneratedContent) async throws -> [Transcript.Segment] {
        do {
            let output = try await call(arguments: try Arguments(arguments))
            let schemaName = (Output.self as? any Generable.Type)?.generationSchema.name
            return output.promptRepresentation.parts.map { Transcript.Segment($0, schemaName: schemaName) }
        } catch {
            if error is CancellationError, Task.isCancelled { throw error }
            throw LanguageModelSession.ToolCallError(tool: self, underlyingError: error)
        }
    }
}

extension Transcript.ToolCall {
    /// The arguments, read from what the model wrote.
    ///
    /// - Throws: ``GeneratedContent/ParsingError`` when that is not one whole JSON value. Nothing at all stands for no arguments, as
    ///   many providers write it; a tool that needs some will say so.
    /// - Parameter tokenLimit: At how many tokens the model was cut off, if it was.
    package func completeArguments(tokenLimit: Int?) throws -> GeneratedContent {
        guard let text = generatedText else { return arguments }
        if tokenLimit == nil, text.allSatisfy(\.isWhitespace) { return GeneratedContent(properties: [:]) }
        do {
            return GeneratedContent(try JSONValue(parsing: text))
        } catch {
            if tokenLimit != nil {
                throw GeneratedContent.ParsingError(
                    unfinished: text, "The JSON of its arguments", tokenLimit: tokenLimit, underlyingError: error)
            }
            throw GeneratedContent.ParsingError(
                rawContent: text, underlyingError: error,
                debugDescription: "The arguments for \"\(toolName)\" are not JSON: \(error)")
        }
    }
}
