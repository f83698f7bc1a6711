extension GenerationOptions {
    /// Whether the model calls tools.
    public struct ToolCallingMode: Sendable, Equatable {
        public enum Kind: Sendable, Equatable, Hashable {
            case allowed
            case required
            case disallowed
        }

        public var kind: Kind

        /// The model decides.
        public static let allowed = ToolCallingMode(kind: .allowed)
        /// The model can do nothing but call tools, in every round until the mode changes or something is thrown.
        public static let required = ToolCallingMode(kind: .required)
        /// The model is shown no tools.
        public static let disallowed = ToolCallingMode(kind: .disallowed)
    }
}
