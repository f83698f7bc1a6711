extension LanguageModelSession {
    /// A choice of model, instructions, tools and options that is made anew before each call of the model.
    ///
    /// A body comes to exactly one ``Profile``. It must be quick and must change nothing.
    @_typeEraser(AnyDynamicProfile)
    public protocol DynamicProfile {
        associatedtype Body: DynamicProfile

        @DynamicProfileBuilder var body: Body { get }
    }

    /// Instructions and tools under which a model works. The modifiers say the rest.
    public struct Profile: DynamicProfile, PrimitiveProfile {
        public typealias Body = Never

        private let instructions: any DynamicInstructions

        public init(@DynamicInstructionsBuilder _ dynamicInstructions: () -> some DynamicInstructions) {
            instructions = dynamicInstructions()
        }

        func resolve(at path: [String]) -> ResolvedProfile {
            var instructions = ResolvedInstructions()
            self.instructions.resolved(into: &instructions)
            var resolved = ResolvedProfile()
            resolved.identity = path + ["Profile"]
            resolved.instructions = instructions.segments
            resolved.tools = instructions.tools.map(BoundTool.init)
            return resolved
        }

        public var body: Never { fatalError("\(Self.self) has no body") }
    }

    /// A profile of any type.
    public struct AnyDynamicProfile: DynamicProfile, PrimitiveProfile {
        public typealias Body = Never

        private let base: any DynamicProfile

        public init(_ dynamicProfile: any DynamicProfile) { base = dynamicProfile }

        public init(erasing dynamicProfile: some DynamicProfile) { self.init(dynamicProfile) }

        func resolve(at path: [String]) -> ResolvedProfile { base.resolved(at: path) }

        public var body: Never { fatalError("\(Self.self) has no body") }
    }

    /// One of two profiles.
    public struct ConditionalDynamicProfile<TrueContent, FalseContent>: DynamicProfile, PrimitiveProfile
    where TrueContent: DynamicProfile, FalseContent: DynamicProfile {
        public typealias Body = Never

        enum Branch {
            case trueContent(TrueContent)
            case falseContent(FalseContent)
        }

        private let branch: Branch

        init(_ branch: Branch) { self.branch = branch }

        func resolve(at path: [String]) -> ResolvedProfile {
            switch branch {
            case .trueContent(let content): content.resolved(at: path + ["true"])
            case .falseContent(let content): content.resolved(at: path + ["false"])
            }
        }

        public var body: Never { fatalError("\(Self.self) has no body") }
    }

    /// Builds a profile from a block that comes to one.
    @resultBuilder
    public struct DynamicProfileBuilder {}
}

/// A profile that knows by itself what it comes to.
protocol PrimitiveProfile: LanguageModelSession.DynamicProfile where Body == Never {
    /// - Parameter path: Where the profile stands in the bodies around it.
    func resolve(at path: [String]) -> ResolvedProfile
}

extension PrimitiveProfile {
    public var body: Never { fatalError("\(Self.self) has no body") }
}

extension Never: LanguageModelSession.DynamicProfile {}

extension LanguageModelSession.DynamicProfile {
    public typealias Profile = LanguageModelSession.Profile
    public typealias DynamicProfile = LanguageModelSession.DynamicProfile

    /// What the profile comes to.
    func resolved(at path: [String] = []) -> ResolvedProfile {
        if let primitive = self as? any PrimitiveProfile { return primitive.resolve(at: path) }
        return body.resolved(at: path + [String(reflecting: Self.self)])
    }
}

extension LanguageModelSession.DynamicProfileBuilder {
    public static func buildBlock<T>(_ content: T) -> T where T: LanguageModelSession.DynamicProfile { content }

    public static func buildEither<TrueContent, FalseContent>(
        first content: TrueContent
    ) -> LanguageModelSession.ConditionalDynamicProfile<TrueContent, FalseContent>
    where TrueContent: LanguageModelSession.DynamicProfile, FalseContent: LanguageModelSession.DynamicProfile {
        LanguageModelSession.ConditionalDynamicProfile(.trueContent(content))
    }

    public static func buildEither<TrueContent, FalseContent>(
        second content: FalseContent
    ) -> LanguageModelSession.ConditionalDynamicProfile<TrueContent, FalseContent>
    where TrueContent: LanguageModelSession.DynamicProfile, FalseContent: LanguageModelSession.DynamicProfile {
        LanguageModelSession.ConditionalDynamicProfile(.falseContent(content))
    }

    @available(*, unavailable, message: "The body of a 'DynamicProfile' must evaluate to a single active profile")
    public static func buildBlock<each Content>(_ contents: repeat each Content) -> Never
    where repeat each Content: LanguageModelSession.DynamicProfile {
        fatalError("unavailable")
    }

    public static func buildLimitedAvailability(
        _ component: some LanguageModelSession.DynamicProfile
    ) -> LanguageModelSession.AnyDynamicProfile {
        LanguageModelSession.AnyDynamicProfile(component)
    }
}

/// The profile of a session that is worked out anew each time.
///
/// The profile was sent to the session, which alone evaluates it, for one request at a time.
struct EvaluatedProfile: ProfileSource, @unchecked Sendable {
    let profile: any LanguageModelSession.DynamicProfile

    func resolve() -> ResolvedProfile { profile.resolved() }
}

extension LanguageModelSession {
    /// Makes a session that works out its model, instructions, tools and options before each call of the model.
    ///
    /// - Parameter history: What was said before, without instructions.
    public convenience init(
        profile: sending some DynamicProfile, history: some Collection<Transcript.Entry> = []
    ) {
        self.init(profile: EvaluatedProfile(profile: profile), transcript: Transcript(entries: history))
    }

    /// Makes a session that works out its instructions and tools before each call of the model.
    ///
    /// - Parameter history: What was said before, without instructions.
    public convenience init(
        model: some LanguageModel = SystemLanguageModel.default, dynamicInstructions: sending some DynamicInstructions,
        history: some Collection<Transcript.Entry> = []
    ) {
        let instructions = AnyDynamicInstructions(dynamicInstructions)
        self.init(
            profile: EvaluatedProfile(profile: Profile { instructions }.model(model)),
            transcript: Transcript(entries: history))
    }
}
