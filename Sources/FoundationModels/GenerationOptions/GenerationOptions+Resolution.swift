extension GenerationOptions {
    /// These options, with what they leave open taken from others.
    func filled(from other: GenerationOptions) -> GenerationOptions {
        GenerationOptions(
            samplingMode: samplingMode ?? other.samplingMode,
            temperature: temperature ?? other.temperature,
            maximumResponseTokens: maximumResponseTokens ?? other.maximumResponseTokens,
            toolCallingMode: toolCallingMode ?? other.toolCallingMode)
    }

    /// Numbers come from users: none of them may stop the process.
    func validate() throws(LanguageModelSession.ConfigurationError) {
        if let temperature, !(temperature.isFinite && temperature >= 0) {
            throw .invalidGenerationOptions(
                "The temperature is \(temperature); it must be a number that is not negative.")
        }
        if let maximumResponseTokens, maximumResponseTokens < 1 {
            throw .invalidGenerationOptions(
                "maximumResponseTokens is \(maximumResponseTokens); it must be at least 1, or nil for no limit.")
        }
        switch samplingMode?.kind {
        case .randomTopK(let k, seed: _) where k < 1:
            throw .invalidGenerationOptions("Sampling from the top \(k) tokens leaves none; k must be at least 1.")
        case .randomProbabilityThreshold(let threshold, seed: _) where !(0...1).contains(threshold):
            throw .invalidGenerationOptions(
                "The probability threshold is \(threshold); it must be a number from 0 to 1.")
        default: break
        }
    }
}
