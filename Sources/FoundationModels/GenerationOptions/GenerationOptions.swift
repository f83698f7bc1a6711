/// How a response is sampled and how long it may be. A value that is nil is left to the profile, then to the model.
public struct GenerationOptions: Sendable, Equatable {
    /// How the next token is chosen; nil for the model's own way.
    public var samplingMode: SamplingMode?
    /// How far the choice strays from the likeliest token, 0 (not at all) and up.
    public var temperature: Double?
    /// The number of tokens after which the response is cut.
    public var maximumResponseTokens: Int?
    /// Whether the model may, must or must not call tools; nil is `allowed`.
    public var toolCallingMode: ToolCallingMode?

    /// Said here by early programs, which said it nowhere else.
    var earlyIncludeSchemaInPrompt: Bool?

    public init(samplingMode: SamplingMode? = nil, temperature: Double? = nil, maximumResponseTokens: Int? = nil) {
        self.samplingMode = samplingMode
        self.temperature = temperature
        self.maximumResponseTokens = maximumResponseTokens
    }

    public init(
        samplingMode: SamplingMode? = nil, temperature: Double? = nil, maximumResponseTokens: Int? = nil,
        toolCallingMode: ToolCallingMode?
    ) {
        self.init(
            samplingMode: samplingMode, temperature: temperature, maximumResponseTokens: maximumResponseTokens)
        self.toolCallingMode = toolCallingMode
    }

    @available(*, deprecated, renamed: "init(samplingMode:temperature:maximumResponseTokens:)")
    public init(sampling: SamplingMode?, temperature: Double? = nil, maximumResponseTokens: Int? = nil) {
        self.init(samplingMode: sampling, temperature: temperature, maximumResponseTokens: maximumResponseTokens)
    }

    @available(*, deprecated, renamed: "samplingMode")
    public var sampling: SamplingMode? {
        get { samplingMode }
        set { samplingMode = newValue }
    }
}
