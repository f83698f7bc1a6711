import Foundation

/// One call of the model, put together and checked before an executor sees it.
struct ModelRequest {
    let request: LanguageModelExecutorGenerationRequest

    init(
        _ asked: SessionRequest, _ profile: ResolvedProfile, transcript: Transcript, _ trace: SessionTrace
    ) throws {
        // What the caller says goes before what the profile says.
        let options = asked.options.filled(from: profile.options)
        try options.validate()
        var contextOptions = asked.contextOptions
        contextOptions.reasoningLevel = contextOptions.reasoningLevel ?? profile.reasoningLevel
        if let level = contextOptions.reasoningLevel, profile.model?.capabilities.contains(.reasoning) == false {
            trace.note("The reasoning level \(level) has no effect: the model does not reason.")
        }
        if options.samplingMode?.kind == .greedy, let temperature = options.temperature {
            trace.note("The temperature \(temperature) has no effect: the sampling mode is greedy.")
        }

        var names: Set<String> = []
        for tool in profile.tools where !names.insert(tool.definition.name).inserted {
            throw LanguageModelSession.ConfigurationError.duplicateToolName(tool.definition.name)
        }
        let mode = options.toolCallingMode?.kind ?? .allowed
        if mode == .required, profile.tools.isEmpty {
            throw LanguageModelSession.ConfigurationError.toolCallingRequiresTools
        }
        let definitions = mode == .disallowed ? [] : profile.tools.map(\.definition)

        var visible = transcript
        if !profile.historyTransforms.isEmpty {
            let history = profile.historyTransforms.reduce(Array(transcript.history)) { entries, transform in
                transform(entries)
            }
            visible.history = Transcript.HistoryView(base: history[...])
        }
        if case .instructions(let instructions)? = visible.first {
            Self.noteUnknownTools(in: instructions, definitions, trace)
        }
        request = LanguageModelExecutorGenerationRequest(
            id: UUID(), transcript: visible, enabledTools: definitions, schema: asked.schema,
            generationOptions: options, contextOptions: contextOptions, metadata: asked.metadata)
    }

    /// Throws when the model does not say that it can do what the request needs.
    func check(against capabilities: LanguageModelCapabilities) throws {
        if !request.enabledToolDefinitions.isEmpty, !capabilities.contains(.toolCalling) {
            let names = request.enabledToolDefinitions.map(\.name).joined(separator: ", ")
            throw LanguageModelError.unsupportedCapability(
                .init(
                    capability: .toolCalling,
                    debugDescription: "The session has tools (\(names)). Take them away, set the tool calling mode to "
                        + "disallowed, or use a model that calls tools."))
        }
        for (name, schema) in [request.schema.map { ($0.name, $0) }].compactMap(\.self)
            + request.enabledToolDefinitions.map({ ($0.name, $0.parameters) }) where !schema.faults.isEmpty
        {
            throw LanguageModelError.unsupportedGenerationGuide(
                .init(
                    schemaName: name,
                    debugDescription: schema.faults.map(\.description).joined(separator: "; ")))
        }
        if let schema = request.schema, !capabilities.contains(.guidedGeneration) {
            throw LanguageModelError.unsupportedCapability(
                .init(
                    capability: .guidedGeneration,
                    debugDescription:
                        "The response is to follow the schema \"\(schema.name)\". Ask for text, or use a model "
                        + "whose responses follow a schema."))
        }
        if !capabilities.contains(.vision), let entry = request.transcript.first(where: \.hasImages) {
            throw LanguageModelError.unsupportedCapability(
                .init(
                    capability: .vision,
                    debugDescription:
                        "The entry \(entry.id) has an image. Take it away, or use a model that reads images."))
        }
    }

    /// Instructions that tell the model to use a tool it does not have make it go round in circles: a note helps to find that.
    private static func noteUnknownTools(
        in instructions: Transcript.Instructions, _ definitions: [Transcript.ToolDefinition], _ trace: SessionTrace
    ) {
        let known = Set(definitions.map(\.name))
        let text = instructions.segments.joinedText
        // Names that stand in code quotes or before the word tool, and look like one.
        for match in text.matches(
            of:
                /`([A-Za-z_][A-Za-z0-9_]{2,63})`|\b([A-Za-z][A-Za-z0-9]*_[A-Za-z0-9_]+)\b|\b([A-Za-z_][A-Za-z0-9_]{2,63}) tool\b/
        ) {
            let name = match.1 ?? match.2 ?? match.3
            guard let name, !known.contains(String(name)) else { continue }
            // In "the weather tool" the word before is a plain word.
            if match.3 != nil, name.allSatisfy({ $0.isLowercase }) { continue }
            trace.note("The instructions speak of \"\(name)\", but no tool of that name is enabled.")
        }
    }
}

extension Transcript.Entry {
    var hasImages: Bool {
        segments.contains { segment in
            if case .attachment = segment { true } else { false }
        }
    }
}
