// Every way to ask. There are two generations of spellings: 26 says `includeSchemaInPrompt:`, 27 says `contextOptions:metadata:`.
// The attributes decide which overload a literal takes and must stay as they are.
// Each of them is its stream, collected.

extension LanguageModelSession {
    /// Answers with text.
    @discardableResult
    public nonisolated(nonsending) func respond(to prompt: Prompt, options: GenerationOptions = GenerationOptions())
        async throws -> Response<String>
    {
        try await stream(
            prompt, as: String.self, schema: nil, options: options, contextOptions: ContextOptions(), metadata: [:]
        ).collect()
    }

    /// Answers with text.
    @discardableResult
    @_disfavoredOverload
    public nonisolated(nonsending) func respond(to prompt: String, options: GenerationOptions = GenerationOptions())
        async throws -> Response<String>
    {
        try await stream(
            Prompt(prompt), as: String.self, schema: nil, options: options, contextOptions: ContextOptions(),
            metadata: [:]
        ).collect()
    }

    /// Answers with text.
    @discardableResult
    public nonisolated(nonsending) func respond(
        options: GenerationOptions = GenerationOptions(), @PromptBuilder prompt: () throws -> Prompt
    ) async throws -> Response<String> {
        try await stream(
            prompt(), as: String.self, schema: nil, options: options, contextOptions: ContextOptions(), metadata: [:]
        ).collect()
    }

    /// Answers with text.
    @discardableResult
    public nonisolated(nonsending) func respond(
        to prompt: Prompt, options: GenerationOptions = GenerationOptions(),
        contextOptions: ContextOptions = ContextOptions(), metadata: [String: any ConvertibleToGeneratedContent] = [:]
    ) async throws -> Response<String> {
        try await stream(
            prompt, as: String.self, schema: nil, options: options, contextOptions: contextOptions, metadata: metadata
        ).collect()
    }

    /// Answers with text.
    @discardableResult
    @_disfavoredOverload
    public nonisolated(nonsending) func respond(
        to prompt: String, options: GenerationOptions = GenerationOptions(),
        contextOptions: ContextOptions = ContextOptions(), metadata: [String: any ConvertibleToGeneratedContent] = [:]
    ) async throws -> Response<String> {
        try await stream(
            Prompt(prompt), as: String.self, schema: nil, options: options, contextOptions: contextOptions,
            metadata: metadata
        ).collect()
    }

    /// Answers with text.
    @discardableResult
    public nonisolated(nonsending) func respond(
        options: GenerationOptions = GenerationOptions(), contextOptions: ContextOptions = ContextOptions(),
        metadata: [String: any ConvertibleToGeneratedContent] = [:], @PromptBuilder prompt: () throws -> Prompt
    ) async throws -> Response<String> {
        try await stream(
            prompt(), as: String.self, schema: nil, options: options, contextOptions: contextOptions, metadata: metadata
        ).collect()
    }

    /// Answers with content that follows a schema.
    @discardableResult
    public nonisolated(nonsending) func respond(
        to prompt: Prompt, schema: GenerationSchema, includeSchemaInPrompt: Bool = true,
        options: GenerationOptions = GenerationOptions()
    ) async throws -> Response<GeneratedContent> {
        try await stream(
            prompt, as: GeneratedContent.self, schema: schema, options: options,
            contextOptions: ContextOptions(includeSchemaInPrompt: includeSchemaInPrompt), metadata: [:]
        ).collect()
    }

    /// Answers with content that follows a schema.
    @discardableResult
    @_disfavoredOverload
    public nonisolated(nonsending) func respond(
        to prompt: String, schema: GenerationSchema, includeSchemaInPrompt: Bool = true,
        options: GenerationOptions = GenerationOptions()
    ) async throws -> Response<GeneratedContent> {
        try await stream(
            Prompt(prompt), as: GeneratedContent.self, schema: schema, options: options,
            contextOptions: ContextOptions(includeSchemaInPrompt: includeSchemaInPrompt), metadata: [:]
        ).collect()
    }

    /// Answers with content that follows a schema.
    @discardableResult
    public nonisolated(nonsending) func respond(
        schema: GenerationSchema, includeSchemaInPrompt: Bool = true, options: GenerationOptions = GenerationOptions(),
        @PromptBuilder prompt: () throws -> Prompt
    ) async throws -> Response<GeneratedContent> {
        try await stream(
            prompt(), as: GeneratedContent.self, schema: schema, options: options,
            contextOptions: ContextOptions(includeSchemaInPrompt: includeSchemaInPrompt), metadata: [:]
        ).collect()
    }

    /// Answers with content that follows a schema.
    @discardableResult
    @_disfavoredOverload
    public nonisolated(nonsending) func respond(
        to prompt: Prompt, schema: GenerationSchema, options: GenerationOptions = GenerationOptions(),
        contextOptions: ContextOptions = ContextOptions(includeSchemaInPrompt: true),
        metadata: [String: any ConvertibleToGeneratedContent] = [:]
    ) async throws -> Response<GeneratedContent> {
        try await stream(
            prompt, as: GeneratedContent.self, schema: schema, options: options, contextOptions: contextOptions,
            metadata: metadata
        ).collect()
    }

    /// Answers with content that follows a schema.
    @discardableResult
    @_disfavoredOverload
    public nonisolated(nonsending) func respond(
        to prompt: String, schema: GenerationSchema, options: GenerationOptions = GenerationOptions(),
        contextOptions: ContextOptions = ContextOptions(includeSchemaInPrompt: true),
        metadata: [String: any ConvertibleToGeneratedContent] = [:]
    ) async throws -> Response<GeneratedContent> {
        try await stream(
            Prompt(prompt), as: GeneratedContent.self, schema: schema, options: options, contextOptions: contextOptions,
            metadata: metadata
        ).collect()
    }

    /// Answers with content that follows a schema.
    @discardableResult
    @_disfavoredOverload
    public nonisolated(nonsending) func respond(
        schema: GenerationSchema, options: GenerationOptions = GenerationOptions(),
        contextOptions: ContextOptions = ContextOptions(includeSchemaInPrompt: true),
        metadata: [String: any ConvertibleToGeneratedContent] = [:], @PromptBuilder prompt: () throws -> Prompt
    ) async throws -> Response<GeneratedContent> {
        try await stream(
            prompt(), as: GeneratedContent.self, schema: schema, options: options, contextOptions: contextOptions,
            metadata: metadata
        ).collect()
    }

    /// Answers with a value of a type.
    @discardableResult
    public nonisolated(nonsending) func respond<Content>(
        to prompt: Prompt, generating type: Content.Type = Content.self, includeSchemaInPrompt: Bool = true,
        options: GenerationOptions = GenerationOptions()
    ) async throws -> Response<Content> where Content: Generable {
        try await stream(
            prompt, as: type, schema: schema(for: type), options: options,
            contextOptions: ContextOptions(includeSchemaInPrompt: includeSchemaInPrompt), metadata: [:]
        ).collect()
    }

    /// Answers with a value of a type.
    @discardableResult
    @_disfavoredOverload
    public nonisolated(nonsending) func respond<Content>(
        to prompt: String, generating type: Content.Type = Content.self, includeSchemaInPrompt: Bool = true,
        options: GenerationOptions = GenerationOptions()
    ) async throws -> Response<Content> where Content: Generable {
        try await stream(
            Prompt(prompt), as: type, schema: schema(for: type), options: options,
            contextOptions: ContextOptions(includeSchemaInPrompt: includeSchemaInPrompt), metadata: [:]
        ).collect()
    }

    /// Answers with a value of a type.
    @discardableResult
    public nonisolated(nonsending) func respond<Content>(
        generating type: Content.Type = Content.self, includeSchemaInPrompt: Bool = true,
        options: GenerationOptions = GenerationOptions(), @PromptBuilder prompt: () throws -> Prompt
    ) async throws -> Response<Content> where Content: Generable {
        try await stream(
            prompt(), as: type, schema: schema(for: type), options: options,
            contextOptions: ContextOptions(includeSchemaInPrompt: includeSchemaInPrompt), metadata: [:]
        ).collect()
    }

    /// Answers with a value of a type.
    @discardableResult
    public nonisolated(nonsending) func respond<Content>(
        to prompt: Prompt, generating type: Content.Type = Content.self,
        options: GenerationOptions = GenerationOptions(),
        contextOptions: ContextOptions = ContextOptions(includeSchemaInPrompt: true),
        metadata: [String: any ConvertibleToGeneratedContent] = [:]
    ) async throws -> Response<Content> where Content: Generable {
        try await stream(
            prompt, as: type, schema: schema(for: type), options: options, contextOptions: contextOptions,
            metadata: metadata
        ).collect()
    }

    /// Answers with a value of a type.
    @discardableResult
    @_disfavoredOverload
    public nonisolated(nonsending) func respond<Content>(
        to prompt: String, generating type: Content.Type = Content.self,
        options: GenerationOptions = GenerationOptions(),
        contextOptions: ContextOptions = ContextOptions(includeSchemaInPrompt: true),
        metadata: [String: any ConvertibleToGeneratedContent] = [:]
    ) async throws -> Response<Content> where Content: Generable {
        try await stream(
            Prompt(prompt), as: type, schema: schema(for: type), options: options, contextOptions: contextOptions,
            metadata: metadata
        ).collect()
    }

    /// Answers with a value of a type.
    @discardableResult
    public nonisolated(nonsending) func respond<Content>(
        generating type: Content.Type = Content.self, options: GenerationOptions = GenerationOptions(),
        contextOptions: ContextOptions = ContextOptions(includeSchemaInPrompt: true),
        metadata: [String: any ConvertibleToGeneratedContent] = [:], @PromptBuilder prompt: () throws -> Prompt
    ) async throws -> Response<Content> where Content: Generable {
        try await stream(
            prompt(), as: type, schema: schema(for: type), options: options, contextOptions: contextOptions,
            metadata: metadata
        ).collect()
    }
}
