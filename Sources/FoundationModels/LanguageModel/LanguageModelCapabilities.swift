/// What a model can do.
public struct LanguageModelCapabilities: Sendable {
    private let capabilities: Set<Capability>

    public init(_ capabilities: [Capability]) { self.capabilities = Set(capabilities) }

    public func contains(_ capability: Capability) -> Bool { capabilities.contains(capability) }

    public struct Capability: Sendable, Hashable {
        private let name: String

        /// The model reads images.
        public static var vision: Capability { Capability(name: "vision") }
        /// The model's responses follow a schema.
        public static var guidedGeneration: Capability { Capability(name: "guided generation") }
        /// The model can think before it answers.
        public static var reasoning: Capability { Capability(name: "reasoning") }
        /// The model calls tools.
        public static var toolCalling: Capability { Capability(name: "tool calling") }
    }
}

extension LanguageModelCapabilities.Capability: CustomStringConvertible {
    public var description: String { name }
}
