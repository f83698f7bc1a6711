import Foundation
import JSON

/// An entry as the JSON of a transcript has it.
struct EntryCoding: Codable {
    let entry: Transcript.Entry

    init(_ entry: Transcript.Entry) { self.entry = entry }

    private enum Role: String, FormatWord {
        case instructions, user, response, tool, reasoning
    }

    private enum Key: String, CodingKey {
        case role, id, contents, tools, options, contextOptions, responseFormat, metadata, toolCalls, toolCallID,
            toolName,
            assets, signature
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let role = try container.decode(Role.self, forKey: .role)
        let id = try container.decode(String.self, forKey: .id)
        func segments() throws -> [Transcript.Segment] {
            try container.decodeIfPresent([SegmentCoding].self, forKey: .contents)?.map(\.segment) ?? []
        }
        func metadata() throws -> [String: GeneratedContent] {
            try container.decodeIfPresent([String: ContentCoding].self, forKey: .metadata)?.mapValues(\.content) ?? [:]
        }
        switch role {
        case .instructions:
            entry = .instructions(
                Transcript.Instructions(
                    id: id, segments: try segments(),
                    toolDefinitions: try container.decodeIfPresent([ToolCoding].self, forKey: .tools)?
                        .map(\.definition) ?? []))
        case .user:
            entry = .prompt(
                Transcript.Prompt(
                    id: id, metadata: try metadata(), segments: try segments(),
                    options: try container.decodeIfPresent(OptionsCoding.self, forKey: .options)?.options
                        ?? GenerationOptions(),
                    responseFormat: try container.decodeIfPresent(FormatCoding.self, forKey: .responseFormat)?.format,
                    contextOptions: try container.decodeIfPresent(ContextOptionsCoding.self, forKey: .contextOptions)?
                        .options ?? ContextOptions()))
        case .response:
            if let calls = try container.decodeIfPresent([CallCoding].self, forKey: .toolCalls) {
                var entry = Transcript.ToolCalls(id: id, calls.map(\.call))
                entry.metadata = try metadata()
                self.entry = .toolCalls(entry)
            } else {
                var response = Transcript.Response(id: id, metadata: try metadata(), segments: try segments())
                response.assetIDs = try container.decodeIfPresent([String].self, forKey: .assets) ?? []
                entry = .response(response)
            }
        case .tool:
            entry = .toolOutput(
                Transcript.ToolOutput(
                    id: try container.decodeIfPresent(String.self, forKey: .toolCallID) ?? id,
                    toolName: try container.decode(String.self, forKey: .toolName), segments: try segments()))
        case .reasoning:
            entry = .reasoning(
                Transcript.Reasoning(
                    id: id, metadata: try metadata(), segments: try segments(),
                    signature: try container.decodeIfPresent(Data.self, forKey: .signature)))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(entry.id, forKey: .id)
        func encode(_ segments: [Transcript.Segment]) throws {
            try container.encode(segments.map(SegmentCoding.init), forKey: .contents)
        }
        func encode(_ metadata: [String: GeneratedContent]) throws {
            guard !metadata.isEmpty else { return }
            try container.encode(metadata.mapValues(ContentCoding.init), forKey: .metadata)
        }
        switch entry {
        case .instructions(let instructions):
            try container.encode(Role.instructions, forKey: .role)
            try encode(instructions.segments)
            if !instructions.toolDefinitions.isEmpty {
                try container.encode(instructions.toolDefinitions.map(ToolCoding.init), forKey: .tools)
            }
        case .prompt(let prompt):
            try container.encode(Role.user, forKey: .role)
            try encode(prompt.segments)
            try container.encode(OptionsCoding(prompt.options), forKey: .options)
            if prompt.contextOptions != ContextOptions() {
                try container.encode(ContextOptionsCoding(prompt.contextOptions), forKey: .contextOptions)
            }
            try container.encodeIfPresent(prompt.responseFormat.map(FormatCoding.init), forKey: .responseFormat)
            try encode(prompt.metadata)
        case .toolCalls(let calls):
            try container.encode(Role.response, forKey: .role)
            try container.encode(calls.map(CallCoding.init), forKey: .toolCalls)
            try encode(calls.metadata)
        case .toolOutput(let output):
            try container.encode(Role.tool, forKey: .role)
            try container.encode(output.id, forKey: .toolCallID)
            try container.encode(output.toolName, forKey: .toolName)
            try encode(output.segments)
        case .response(let response):
            try container.encode(Role.response, forKey: .role)
            try encode(response.segments)
            if !response.assetIDs.isEmpty { try container.encode(response.assetIDs, forKey: .assets) }
            try encode(response.metadata)
        case .reasoning(let reasoning):
            try container.encode(Role.reasoning, forKey: .role)
            try encode(reasoning.segments)
            try container.encodeIfPresent(reasoning.signature, forKey: .signature)
            try encode(reasoning.metadata)
        }
    }
}

/// One of the words of the format, in whose place another one is an error that names them all.
private protocol FormatWord: RawRepresentable<String>, CaseIterable, Codable {}

extension FormatWord {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let word = Self(rawValue: text) else {
            let words = Self.allCases.map(\.rawValue).joined(separator: ", ")
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "'\(text)' is none of \(words)")
        }
        self = word
    }
}

/// Any content as JSON.
struct ContentCoding: Codable {
    let content: GeneratedContent

    init(_ content: GeneratedContent) { self.content = content }

    init(from decoder: any Decoder) throws { content = GeneratedContent(try JSONValue(from: decoder)) }

    func encode(to encoder: any Encoder) throws { try content.jsonValue.encode(to: encoder) }
}

private struct SegmentCoding: Codable {
    let segment: Transcript.Segment

    init(_ segment: Transcript.Segment) { self.segment = segment }

    private enum Kind: String, FormatWord {
        case text, structure, attachment
    }

    private enum Key: String, CodingKey {
        case type, id, text, structure, attachment, label
    }

    private enum StructureKey: String, CodingKey {
        case source, content
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let id = try container.decode(String.self, forKey: .id)
        switch try container.decode(Kind.self, forKey: .type) {
        case .text:
            segment = .text(Transcript.TextSegment(id: id, content: try container.decode(String.self, forKey: .text)))
        case .structure:
            let structure = try container.nestedContainer(keyedBy: StructureKey.self, forKey: .structure)
            segment = .structure(
                Transcript.StructuredSegment(
                    id: id, schemaName: try structure.decode(String.self, forKey: .source),
                    content: try structure.decode(ContentCoding.self, forKey: .content).content))
        case .attachment:
            segment = .attachment(
                Transcript.AttachmentSegment(
                    id: id, content: .image(try container.decode(ImageCoding.self, forKey: .attachment).image),
                    label: try container.decodeIfPresent(String.self, forKey: .label)))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(segment.id, forKey: .id)
        switch segment {
        case .text(let text):
            try container.encode(Kind.text, forKey: .type)
            try container.encode(text.content, forKey: .text)
        case .structure(let segment):
            try container.encode(Kind.structure, forKey: .type)
            var structure = container.nestedContainer(keyedBy: StructureKey.self, forKey: .structure)
            try structure.encode(segment.schemaName, forKey: .source)
            try structure.encode(ContentCoding(segment.content), forKey: .content)
        case .attachment(let attachment):
            try container.encode(Kind.attachment, forKey: .type)
            switch attachment.content {
            case .image(let image): try container.encode(ImageCoding(image), forKey: .attachment)
            }
            try container.encodeIfPresent(attachment.label, forKey: .label)
        }
    }
}

/// `{"type": "image", "url": …}`, or `data` with the bytes of a file, or `pixels` with `width` and `height`.
private struct ImageCoding: Codable {
    let image: Transcript.ImageAttachment

    init(_ image: Transcript.ImageAttachment) { self.image = image }

    private enum Kind: String, FormatWord {
        case image
    }

    private enum Key: String, CodingKey {
        case type, url, data, pixels, width, height, orientation
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        _ = try container.decode(Kind.self, forKey: .type)
        let orientation = try container.decodeIfPresent(UInt32.self, forKey: .orientation).map { number in
            guard let orientation = CGImagePropertyOrientation(rawValue: number) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .orientation, in: container, debugDescription: "The orientation is \(number), not 1 to 8.")
            }
            return orientation
        }
        if let url = try container.decodeIfPresent(URL.self, forKey: .url) {
            image = Transcript.ImageAttachment(source: .url(url), orientation: orientation)
        } else if let data = try container.decodeIfPresent(Data.self, forKey: .data) {
            image = Transcript.ImageAttachment(source: .data(data), orientation: orientation)
        } else {
            let pixels = try container.decode(Data.self, forKey: .pixels)
            let width = try container.decode(Int.self, forKey: .width)
            let height = try container.decode(Int.self, forKey: .height)
            guard let picture = CGImage(width: width, height: height, pixels: pixels) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .pixels, in: container,
                    debugDescription: "\(pixels.count) bytes are no image of \(width) by \(height) pixels.")
            }
            image = Transcript.ImageAttachment(source: .image(picture), orientation: orientation)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Kind.image, forKey: .type)
        switch image.source {
        case .url(let url): try container.encode(url, forKey: .url)
        case .data(let data): try container.encode(data, forKey: .data)
        case .image(let picture):
            try container.encode(picture.pixels, forKey: .pixels)
            try container.encode(picture.width, forKey: .width)
            try container.encode(picture.height, forKey: .height)
        }
        try container.encodeIfPresent(image.explicitOrientation?.rawValue, forKey: .orientation)
    }
}

private struct ToolCoding: Codable {
    let definition: Transcript.ToolDefinition

    init(_ definition: Transcript.ToolDefinition) { self.definition = definition }

    private enum Kind: String, FormatWord {
        case function
    }

    private enum Key: String, CodingKey {
        case type, function
    }

    private enum FunctionKey: String, CodingKey {
        case name, description, parameters, includesSchemaInInstructions
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        _ = try container.decode(Kind.self, forKey: .type)
        let function = try container.nestedContainer(keyedBy: FunctionKey.self, forKey: .function)
        var definition = Transcript.ToolDefinition(
            name: try function.decode(String.self, forKey: .name),
            description: try function.decodeIfPresent(String.self, forKey: .description) ?? "",
            parameters: try function.decode(GenerationSchema.self, forKey: .parameters))
        definition.isIncludedInInstructions =
            try function.decodeIfPresent(Bool.self, forKey: .includesSchemaInInstructions) ?? true
        self.definition = definition
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Kind.function, forKey: .type)
        var function = container.nestedContainer(keyedBy: FunctionKey.self, forKey: .function)
        try function.encode(definition.name, forKey: .name)
        try function.encode(definition.description, forKey: .description)
        try function.encode(definition.parameters, forKey: .parameters)
        if !definition.isIncludedInInstructions {
            try function.encode(false, forKey: .includesSchemaInInstructions)
        }
    }
}

private struct CallCoding: Codable {
    let call: Transcript.ToolCall

    init(_ call: Transcript.ToolCall) { self.call = call }

    private enum Key: String, CodingKey {
        case id, name, arguments, metadata
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let text = try container.decode(String.self, forKey: .arguments)
        let arguments: GeneratedContent
        do {
            // An unfinished call may stand at the end of a transcript that was kept after an error.
            arguments = text.isEmpty ? GeneratedContent(properties: [:]) : try GeneratedContent(json: text)
        } catch {
            throw DecodingError.dataCorruptedError(
                forKey: .arguments, in: container, debugDescription: "The arguments are not JSON: \(error)")
        }
        var call = Transcript.ToolCall(
            id: try container.decode(String.self, forKey: .id),
            metadata: try container.decodeIfPresent([String: ContentCoding].self, forKey: .metadata)?
                .mapValues(\.content) ?? [:],
            toolName: try container.decode(String.self, forKey: .name), arguments: arguments)
        call.generatedText = text
        self.call = call
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(call.id, forKey: .id)
        try container.encode(call.toolName, forKey: .name)
        try container.encode(call.argumentsText, forKey: .arguments)
        if !call.metadata.isEmpty {
            try container.encode(call.metadata.mapValues(ContentCoding.init), forKey: .metadata)
        }
    }
}

private struct FormatCoding: Codable {
    let format: Transcript.ResponseFormat

    init(_ format: Transcript.ResponseFormat) { self.format = format }

    private enum Kind: String, FormatWord {
        case jsonSchema
    }

    private enum Key: String, CodingKey {
        case type, jsonSchema
    }

    private enum SchemaKey: String, CodingKey {
        case name, schema
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        _ = try container.decode(Kind.self, forKey: .type)
        let schema = try container.nestedContainer(keyedBy: SchemaKey.self, forKey: .jsonSchema)
        format = Transcript.ResponseFormat(
            name: try schema.decode(String.self, forKey: .name),
            schema: try schema.decode(GenerationSchema.self, forKey: .schema))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(Kind.jsonSchema, forKey: .type)
        var schema = container.nestedContainer(keyedBy: SchemaKey.self, forKey: .jsonSchema)
        try schema.encode(format.name, forKey: .name)
        try schema.encode(format.schema, forKey: .schema)
    }
}

private struct OptionsCoding: Codable {
    let options: GenerationOptions

    init(_ options: GenerationOptions) { self.options = options }

    private enum Key: String, CodingKey {
        case temperature, maximumResponseTokens, sampling, toolCallingMode
    }

    private enum SamplingKey: String, CodingKey {
        case type, k, threshold, seed
    }

    private enum SamplingKind: String, FormatWord {
        case greedy, topK, probabilityThreshold
    }

    private enum Mode: String, FormatWord {
        case allowed, required, disallowed
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        var options = GenerationOptions(
            temperature: try container.decodeIfPresent(Double.self, forKey: .temperature),
            maximumResponseTokens: try container.decodeIfPresent(Int.self, forKey: .maximumResponseTokens))
        if container.contains(.sampling) {
            let sampling = try container.nestedContainer(keyedBy: SamplingKey.self, forKey: .sampling)
            let seed = try sampling.decodeIfPresent(UInt64.self, forKey: .seed)
            options.samplingMode =
                switch try sampling.decode(SamplingKind.self, forKey: .type) {
                case .greedy: .greedy
                case .topK: .random(top: try sampling.decode(Int.self, forKey: .k), seed: seed)
                case .probabilityThreshold:
                    .random(probabilityThreshold: try sampling.decode(Double.self, forKey: .threshold), seed: seed)
                }
        }
        options.toolCallingMode =
            switch try container.decodeIfPresent(Mode.self, forKey: .toolCallingMode) {
            case .allowed?: .allowed
            case .required?: .required
            case .disallowed?: .disallowed
            case nil: nil
            }
        self.options = options
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(options.temperature, forKey: .temperature)
        try container.encodeIfPresent(options.maximumResponseTokens, forKey: .maximumResponseTokens)
        if let mode = options.samplingMode {
            var sampling = container.nestedContainer(keyedBy: SamplingKey.self, forKey: .sampling)
            switch mode.kind {
            case .greedy: try sampling.encode(SamplingKind.greedy, forKey: .type)
            case .randomTopK(let k, let seed):
                try sampling.encode(SamplingKind.topK, forKey: .type)
                try sampling.encode(k, forKey: .k)
                try sampling.encodeIfPresent(seed, forKey: .seed)
            case .randomProbabilityThreshold(let threshold, let seed):
                try sampling.encode(SamplingKind.probabilityThreshold, forKey: .type)
                try sampling.encode(threshold, forKey: .threshold)
                try sampling.encodeIfPresent(seed, forKey: .seed)
            }
        }
        let mode: Mode? =
            switch options.toolCallingMode?.kind {
            case .allowed?: .allowed
            case .required?: .required
            case .disallowed?: .disallowed
            case nil: nil
            }
        try container.encodeIfPresent(mode, forKey: .toolCallingMode)
    }
}

private struct ContextOptionsCoding: Codable {
    let options: ContextOptions

    init(_ options: ContextOptions) { self.options = options }

    private enum Key: String, CodingKey {
        case includeSchemaInPrompt, reasoningLevel
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        options = ContextOptions(
            includeSchemaInPrompt: try container.decodeIfPresent(Bool.self, forKey: .includeSchemaInPrompt),
            reasoningLevel: try container.decodeIfPresent(String.self, forKey: .reasoningLevel).map { name in
                switch name {
                case "light": .light
                case "moderate": .moderate
                case "deep": .deep
                default: .custom(name)
                }
            })
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encodeIfPresent(options.includeSchemaInPrompt, forKey: .includeSchemaInPrompt)
        try container.encodeIfPresent(options.reasoningLevel?.name, forKey: .reasoningLevel)
    }
}

extension ContextOptions.ReasoningLevel {
    /// The level as a word.
    package var name: String {
        switch self {
        case .light: "light"
        case .moderate: "moderate"
        case .deep: "deep"
        case .custom(let name): name
        }
    }
}
