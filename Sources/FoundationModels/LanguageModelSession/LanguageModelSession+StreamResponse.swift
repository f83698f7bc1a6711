// Every way to ask. There are two generations of spellings: 26 says `includeSchemaInPrompt:`, 27 says `contextOptions:metadata:`.
// The attributes decide which overload a literal takes and must stay as they are.

extension LanguageModelSession {
    /// Answers piece by piece with text.
    public func streamResponse(to prompt: Prompt, options: GenerationOptions = GenerationOptions())
        -> sending ResponseStream<String>
    {
        stream(prompt, as: String.self, schema: nil, options: options, contextOptions: ContextOptions(), metadata: [:])
    }

    /// Answers piece by piece with text.
    @_disfavoredOverload
    public func streamResponse(to prompt: String, options: GenerationOptions = GenerationOptions())
        -> sending ResponseStream<String>
    {
        stream(
            Prompt(prompt), as: String.self, schema: nil, options: options, contextOptions: ContextOptions(),
            metadata: [:])
    }

    /// Answers piece by piece with text.
    public func streamResponse(
        options: GenerationOptions = GenerationOptions(), @PromptBuilder prompt: () throws -> Prompt
    ) rethrows -> sending ResponseStream<String> {
        try stream(
            prompt(), as: String.self, schema: nil, options: options, contextOptions: ContextOptions(), metadata: [:])
    }

    /// Answers piece by piece with text.
    public func streamResponse(
        to prompt: Prompt, options: GenerationOptions = GenerationOptions(),
        contextOptions: ContextOptions = ContextOptions(), metadata: [String: any ConvertibleToGeneratedContent] = [:]
    ) -> sending ResponseStream<String> {
        stream(
            prompt, as: String.self, schema: nil, options: options, contextOptions: contextOptions, metadata: metadata)
    }

    /// Answers piece by piece with text.
    @_disfavoredOverload
    public func streamResponse(
        to prompt: String, options: GenerationOptions = GenerationOptions(),
        contextOptions: ContextOptions = ContextOptions(), metadata: [String: any ConvertibleToGeneratedContent] = [:]
    ) -> sending ResponseStream<String> {
        stream(
            Prompt(prompt), as: String.self, schema: nil, options: options, contextOptions: contextOptions,
            metadata: metadata)
    }

    /// Answers piece by piece with text.
    public func streamResponse(
        options: GenerationOptions = GenerationOptions(), contextOptions: ContextOptions = ContextOptions(),
        metadata: [String: any ConvertibleToGeneratedContent] = [:], @PromptBuilder prompt: () throws -> Prompt
    ) rethrows -> sending ResponseStream<String> {
        try stream(
            prompt(), as: String.self, schema: nil, options: options, contextOptions: contextOptions, metadata: metadata
        )
    }

    /// Answers piece by piece with content that follows a schema.
    public func streamResponse(
        to prompt: Prompt, schema: GenerationSchema, includeSchemaInPrompt: Bool = true,
        options: GenerationOptions = GenerationOptions()
    ) -> sending ResponseStream<GeneratedContent> {
        stream(
            prompt, as: GeneratedContent.self, schema: schema, options: options,
            contextOptions: ContextOptions(includeSchemaInPrompt: includeSchemaInPrompt), metadata: [:])
    }

    /// Answers piece by piece with content that follows a schema.
    @_disfavoredOverload
    public func streamResponse(
        to prompt: String, schema: GenerationSchema, includeSchemaInPrompt: Bool = true,
        options: GenerationOptions = GenerationOptions()
    ) -> sending ResponseStream<GeneratedContent> {
        stream(
            Prompt(prompt), as: GeneratedContent.self, schema: schema, options: options,
            contextOptions: ContextOptions(includeSchemaInPrompt: includeSchemaInPrompt), metadata: [:])
    }

    /// Answers piece by piece with content that follows a schema.
    public func streamResponse(
        schema: GenerationSchema, includeSchemaInPrompt: Bool = true, options: GenerationOptions = GenerationOptions(),
        @PromptBuilder prompt: () throws -> Prompt
    ) rethrows -> sending ResponseStream<GeneratedContent> {
        try stream(
            prompt(), as: GeneratedContent.self, schema: schema, options: options,
            contextOptions: ContextOptions(includeSchemaInPrompt: includeSchemaInPrompt), metadata: [:])
    }

    /// Answers piece by piece with content that follows a schema.
    @_disfavoredOverload
    public func streamResponse(
        to prompt: Prompt, schema: GenerationSchema, options: GenerationOptions = GenerationOptions(),
        contextOptions: ContextOptions = ContextOptions(includeSchemaInPrompt: true),
        metadata: [String: any ConvertibleToGeneratedContent] = [:]
    ) -> sending ResponseStream<GeneratedContent> {
        stream(
            prompt, as: GeneratedContent.self, schema: schema, options: options, contextOptions: contextOptions,
            metadata: metadata)
    }

    /// Answers piece by piece with content that follows a schema.
    @_disfavoredOverload
    public func streamResponse(
        to prompt: String, schema: GenerationSchema, options: GenerationOptions = GenerationOptions(),
        contextOptions: ContextOptions = ContextOptions(includeSchemaInPrompt: true),
        metadata: [String: any ConvertibleToGeneratedContent] = [:]
    ) -> sending ResponseStream<GeneratedContent> {
        stream(
            Prompt(prompt), as: GeneratedContent.self, schema: schema, options: options, contextOptions: contextOptions,
            metadata: metadata)
    }

    /// Answers piece by piece with content that follows a schema.
    @_disfavoredOverload
    public func streamResponse(
        schema: GenerationSchema, options: GenerationOptions = GenerationOptions(),
        contextOptions: ContextOptions = ContextOptions(includeSchemaInPrompt: true),
        metadata: [String: any ConvertibleToGeneratedContent] = [:], @PromptBuilder prompt: () throws -> Prompt
    ) rethrows -> sending ResponseStream<GeneratedContent> {
        try stream(
            prompt(), as: GeneratedContent.self, schema: schema, options: options, contextOptions: contextOptions,
            metadata: metadata)
    }

    /// Answers piece by piece with a value of a type.
    public func streamResponse<Content>(
        to prompt: Prompt, generating type: Content.Type = Content.self, includeSchemaInPrompt: Bool = true,
        options: GenerationOptions = GenerationOptions()
    ) -> sending ResponseStream<Content> where Content: Generable {
        stream(
            prompt, as: type, schema: schema(for: type), options: options,
            contextOptions: ContextOptions(includeSchemaInPrompt: includeSchemaInPrompt), metadata: [:])
    }

    /// Answers piece by piece with a value of a type.
    @_disfavoredOverload
    public func streamResponse<Content>(
        to prompt: String, generating type: Content.Type = Content.self, includeSchemaInPrompt: Bool = true,
        options: GenerationOptions = GenerationOptions()
    ) -> sending ResponseStream<Content> where Content: Generable {
        stream(
            Prompt(prompt), as: type, schema: schema(for: type), options: options,
            contextOptions: ContextOptions(includeSchemaInPrompt: includeSchemaInPrompt), metadata: [:])
    }

    /// Answers piece by piece with a value of a type.
    public func streamResponse<Content>(
        generating type: Content.Type = Content.self, includeSchemaInPrompt: Bool = true,
        options: GenerationOptions = GenerationOptions(), @PromptBuilder prompt: () throws -> Prompt
    ) rethrows -> sending ResponseStream<Content> where Content: Generable {
        try stream(
            prompt(), as: type, schema: schema(for: type), options: options,
            contextOptions: ContextOptions(includeSchemaInPrompt: includeSchemaInPrompt), metadata: [:])
    }

    /// Answers piece by piece with a value of a type.
    public func streamResponse<Content>(
        to prompt: Prompt, generating type: Content.Type = Content.self,
        options: GenerationOptions = GenerationOptions(),
        contextOptions: ContextOptions = ContextOptions(includeSchemaInPrompt: true),
        metadata: [String: any ConvertibleToGeneratedContent] = [:]
    ) -> sending ResponseStream<Content> where Content: Generable {
        stream(
            prompt, as: type, schema: schema(for: type), options: options, contextOptions: contextOptions,
            metadata: metadata)
    }

    /// Answers piece by piece with a value of a type.
    @_disfavoredOverload
    public func streamResponse<Content>(
        to prompt: String, generating type: Content.Type = Content.self,
        options: GenerationOptions = GenerationOptions(),
        contextOptions: ContextOptions = ContextOptions(includeSchemaInPrompt: true),
        metadata: [String: any ConvertibleToGeneratedContent] = [:]
    ) -> sending ResponseStream<Content> where Content: Generable {
        stream(
            Prompt(prompt), as: type, schema: schema(for: type), options: options, contextOptions: contextOptions,
            metadata: metadata)
    }

    /// Answers piece by piece with a value of a type.
    public func streamResponse<Content>(
        generating type: Content.Type = Content.self, options: GenerationOptions = GenerationOptions(),
        contextOptions: ContextOptions = ContextOptions(includeSchemaInPrompt: true),
        metadata: [String: any ConvertibleToGeneratedContent] = [:], @PromptBuilder prompt: () throws -> Prompt
    ) rethrows -> sending ResponseStream<Content> where Content: Generable {
        try stream(
            prompt(), as: type, schema: schema(for: type), options: options, contextOptions: contextOptions,
            metadata: metadata)
    }
}
