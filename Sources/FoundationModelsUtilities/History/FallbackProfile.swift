public import FoundationModels

/// A profile that works with one model while that can be used, and with another otherwise.
///
/// ```swift
/// LanguageModelSession(
///     profile: FallbackProfile(SystemLanguageModel.default, or: PrivateCloudComputeLanguageModel()) {
///         "Be brief."
///     })
/// ```
///
/// The choice is made anew before each call of the model, so that a model whose file arrives is used from then on. A request that has
/// begun is not moved to the other model: what was streamed stays true.
public struct FallbackProfile<Content: DynamicInstructions>: LanguageModelSession.DynamicProfile {
    private let first: any LanguageModel
    private let second: any LanguageModel
    private let isFirstUsable: @Sendable () -> Bool
    private let content: Content

    /// - Parameters:
    ///   - first: The model that is used when it can be.
    ///   - second: The model that is used otherwise.
    ///   - isFirstUsable: Asked before each call of the model.
    ///   - content: Instructions and tools, for whichever model.
    public init(
        _ first: some LanguageModel, or second: some LanguageModel, when isFirstUsable: @escaping @Sendable () -> Bool,
        @DynamicInstructionsBuilder _ content: () -> Content
    ) {
        self.first = first
        self.second = second
        self.isFirstUsable = isFirstUsable
        self.content = content()
    }

    /// Works with the model of this machine while it is available.
    public init(
        _ first: SystemLanguageModel, or second: some LanguageModel,
        @DynamicInstructionsBuilder _ content: () -> Content
    ) {
        self.init(first, or: second, when: { first.isAvailable }, content)
    }

    public var body: some LanguageModelSession.DynamicProfile {
        Profile { content }.model(isFirstUsable() ? first : second)
    }
}
