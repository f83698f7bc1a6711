extension LanguageModelSession {
    /// Makes a session whose first entry says what the instructions say and which tools there are. Without either the transcript
    /// begins empty.
    convenience init(fixed model: any LanguageModel, tools: [any Tool], instructions: Instructions?) {
        let profile = FixedProfile(model: model, tools: tools)
        let segments = instructions?.segments ?? []
        var transcript = Transcript()
        if !segments.isEmpty || !tools.isEmpty {
            transcript.append(
                .instructions(
                    Transcript.Instructions(segments: segments, toolDefinitions: profile.tools.map(\.definition))))
        }
        self.init(profile: profile, transcript: transcript)
    }

    convenience init(fixed model: any LanguageModel, tools: [any Tool], transcript: Transcript) {
        self.init(profile: FixedProfile(model: model, tools: tools), transcript: transcript)
    }
}

// The initialisers for the model on this machine.
extension LanguageModelSession {
    /// Makes a session with the model on this machine.
    @_disfavoredOverload
    public convenience init(
        model: SystemLanguageModel = .default, tools: [any Tool] = [], instructions: String? = nil
    ) {
        self.init(fixed: model, tools: tools, instructions: instructions.map { Instructions($0) })
    }

    /// Makes a session with the model on this machine.
    public convenience init(
        model: SystemLanguageModel = .default, tools: [any Tool] = [],
        @InstructionsBuilder instructions: () throws -> Instructions
    ) rethrows {
        self.init(fixed: model, tools: tools, instructions: try instructions())
    }

    /// Makes a session with the model on this machine.
    public convenience init(
        model: SystemLanguageModel = .default, tools: [any Tool] = [], instructions: Instructions? = nil
    ) {
        self.init(fixed: model, tools: tools, instructions: instructions)
    }

    /// Makes a session that goes on from a transcript. Tools that the transcript speaks of are history: those that the model may
    /// call are given here.
    public convenience init(
        model: SystemLanguageModel = .default, tools: [any Tool] = [], transcript: Transcript
    ) {
        self.init(fixed: model, tools: tools, transcript: transcript)
    }
}

// The initialisers for any model.
extension LanguageModelSession {
    public convenience init<Failure>(
        model: some LanguageModel, tools: [any Tool] = [],
        @InstructionsBuilder instructions: () throws(Failure) -> Instructions
    ) throws(Failure) where Failure: Swift.Error {
        self.init(fixed: model, tools: tools, instructions: try instructions())
    }

    /// Makes a session that goes on from a transcript. Tools that the transcript speaks of are history: those that the model may
    /// call are given here.
    public convenience init(model: some LanguageModel, tools: [any Tool] = [], transcript: Transcript) {
        self.init(fixed: model, tools: tools, transcript: transcript)
    }

    public convenience init(
        model: some LanguageModel, tools: [any Tool] = [], instructions: Instructions? = nil
    ) {
        self.init(fixed: model, tools: tools, instructions: instructions)
    }

    @_disfavoredOverload
    public convenience init(model: some LanguageModel, tools: [any Tool] = [], instructions: String? = nil) {
        self.init(fixed: model, tools: tools, instructions: instructions.map { Instructions($0) })
    }
}
