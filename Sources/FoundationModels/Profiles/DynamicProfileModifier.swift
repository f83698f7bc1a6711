extension LanguageModelSession {
    /// A modifier of one's own, put together from others.
    public protocol DynamicProfileModifier {
        associatedtype Body: DynamicProfile

        @DynamicProfileBuilder func body(content: Content) -> Body

        typealias Content = DynamicProfileModifierContent<Self>
    }

    /// The profile that a modifier is put on.
    public struct DynamicProfileModifierContent<Modifier>: DynamicProfile, PrimitiveProfile
    where Modifier: DynamicProfileModifier {
        public typealias Body = Never

        private let base: any DynamicProfile

        init(_ base: any DynamicProfile) { self.base = base }

        func resolve(at path: [String]) -> ResolvedProfile { base.resolved(at: path) }

        public var body: Never { fatalError("\(Self.self) has no body") }
    }

    /// A profile with a modifier put on it.
    public struct ModifiedDynamicProfile<Content, Modifier>: DynamicProfile, PrimitiveProfile
    where Content: DynamicProfile, Modifier: DynamicProfileModifier {
        public typealias Body = Never

        let content: Content
        let modifier: Modifier

        func resolve(at path: [String]) -> ResolvedProfile {
            modifier.body(content: DynamicProfileModifierContent(content)).resolved(at: path)
        }

        public var body: Never { fatalError("\(Self.self) has no body") }
    }
}

extension LanguageModelSession.DynamicProfileModifier {
    public typealias DynamicProfile = LanguageModelSession.DynamicProfile
}

extension LanguageModelSession.DynamicProfile {
    /// Puts a modifier of one's own on the profile.
    public func modifier<Modifier>(_ modifier: Modifier) -> some LanguageModelSession.DynamicProfile
    where Modifier: LanguageModelSession.DynamicProfileModifier {
        LanguageModelSession.ModifiedDynamicProfile(content: self, modifier: modifier)
    }
}
