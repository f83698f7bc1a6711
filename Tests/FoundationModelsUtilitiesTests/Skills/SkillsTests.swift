import FoundationModels
import FoundationModelsTesting
import FoundationModelsUtilities
import JSON
import Observation
import TestSupport
import Testing

private struct Ruler: Tool {
    @Generable struct Arguments { var what: String }
    let name = "measure"
    let description = "Measures."
    func call(arguments: Arguments) async throws -> String { "3 cm" }
}

@Suite struct SkillsTests {
    private static func session(_ skills: sending Skills, _ model: ScriptedLanguageModel) -> LanguageModelSession {
        LanguageModelSession(profile: LanguageModelSession.Profile { skills }.model(model))
    }

    private static func choices(_ request: LanguageModelExecutorGenerationRequest) -> [String] {
        let schema = request.enabledToolDefinitions.first { $0.name.hasSuffix("_skill") }?.parameters.publishedSchema
        return schema?["properties"]?["skill"]?["enum"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }

    private static func instructions(_ request: LanguageModelExecutorGenerationRequest) -> String {
        request.transcript.first?.segments.compactMap(\.text).joined(separator: "\n") ?? ""
    }

    @Test func aPromptSkillComesAsTheToolsOutput() async throws {
        let activated = Flag()
        let activations = SkillActivations()
        let model = ScriptedLanguageModel { _, index in
            index == 0 ? [.toolCall("activate_skill", arguments: "{\"skill\": \"verse\"}")] : [.text("A rhyme.")]
        }
        let session = Self.session(
            Skills(activations: activations) {
                Skill(name: "verse", description: "Writing verse", prompt: "Rhyme.", onActivate: { activated.set() })
            }, model)
        try await session.respond(to: "A poem")
        #expect(session.transcript.history.short == ["p:A poem", "c:activate_skill", "o:Rhyme.", "r:A rhyme."])
        #expect(activated.isSet)
        #expect(activations.activeSkillNames.isEmpty, "a skill on demand is not switched on")
        #expect(Self.instructions(model.requests[0]).contains("Skill: verse [on demand]\nDescription: Writing verse"))
        #expect(!Self.instructions(model.requests[0]).contains("Rhyme."))
        #expect(Self.instructions(model.requests[0]) == Self.instructions(model.requests[1]))
    }

    @Test func anInstructionsSkillComesIntoTheInstructionsWithItsTools() async throws {
        let (on, off) = (Flag(), Flag())
        let activations = SkillActivations()
        let model = ScriptedLanguageModel { _, index in
            index == 0 || index == 2
                ? [.toolCall("toggle_skill", arguments: "{\"skill\": \"ruling\"}")] : [.text("Done.")]
        }
        let session = Self.session(
            Skills(activations: activations) {
                Skill(
                    name: "ruling", description: "Measuring things", allowsDeactivation: true,
                    onActivate: { on.set() }, onDeactivate: { off.set() }
                ) {
                    Instructions("Measure twice.")
                    Ruler()
                }
            }, model)
        try await session.respond(to: "How long?")
        #expect(on.isSet && !off.isSet)
        #expect(activations.isActive("ruling"))
        #expect(Self.instructions(model.requests[0]).contains("Skill: ruling [inactive]"))
        #expect(!Self.instructions(model.requests[0]).contains("Measure twice."))
        #expect(model.requests[0].enabledToolDefinitions.map(\.name) == ["toggle_skill"])
        #expect(Self.instructions(model.requests[1]).contains("Skill: ruling [active]"))
        #expect(Self.instructions(model.requests[1]).contains("Measure twice."))
        #expect(model.requests[1].enabledToolDefinitions.map(\.name) == ["measure", "toggle_skill"])
        try await session.respond(to: "Enough")
        #expect(off.isSet && !activations.isActive("ruling"))
        #expect(!Self.instructions(model.requests[3]).contains("Measure twice."))
    }

    @Test(arguments: [(false, ["a", "b", "c"]), (true, ["b", "c"])])
    func aStrictSchemaHasOnlyWhatCanChange(strict: Bool, choices: [String]) async throws {
        let activations = SkillActivations()
        activations.activate("a")
        activations.activate("b")
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = Self.session(
            Skills(
                activations: activations, strictSchema: strict,
                skills: [
                    Skill(name: "c", description: "c", prompt: "c"),
                    Skill(name: "a", description: "a", instructions: "a"),
                    Skill(name: "b", description: "b", instructions: "b", allowsDeactivation: true),
                ]), model)
        try await session.respond(to: "Hi")
        #expect(Self.choices(model.requests[0]) == choices)
    }

    @Test(arguments: ["none", "fixed"])
    func whatCannotBeToggledIsRefused(name: String) async throws {
        let activations = SkillActivations()
        activations.activate("fixed")
        let model = ScriptedLanguageModel { _, _ in
            [.toolCall("activate_skill", arguments: "{\"skill\": \"\(name)\"}")]
        }
        let session = Self.session(
            Skills(activations: activations) { Skill(name: "fixed", description: "f", instructions: "f") }, model)
        await #expect(throws: LanguageModelSession.ToolCallError.self) { try await session.respond(to: "Go") }
        #expect(activations.isActive("fixed"))
    }

    @Test func noSkillsAreNoFault() async throws {
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let session = Self.session(
            Skills(activations: SkillActivations(), toolName: "pick_skill", toolDescription: "Picks.", skills: []),
            model)
        try await session.respond(to: "Hi")
        #expect(model.requests[0].enabledToolDefinitions.map(\.name) == ["pick_skill"])
        #expect(model.requests[0].enabledToolDefinitions.map(\.description) == ["Picks."])
        #expect(Self.choices(model.requests[0]).isEmpty)
    }

    @Test func aHostThatDrivesShowsOnlyWhatIsActive() async throws {
        let activations = SkillActivations()
        activations.activate("b")
        let model = ScriptedLanguageModel(alwaysAnswering: "ok")
        let includesC = false
        let session = Self.session(
            Skills(activations: activations, activationPolicy: .hostDriven) {
                Skill(name: "a", description: "a", instructions: "Say a.")
                Skill(name: "b", description: "b", instructions: "Say b.")
                if includesC { Skill(name: "c", description: "c", prompt: "c") }
                for name in ["d"] { Skill(name: name, description: name, prompt: "Say d.") }
            }, model)
        try await session.respond(to: "Hi")
        #expect(model.requests[0].enabledToolDefinitions.isEmpty)
        #expect(Self.instructions(model.requests[0]) == "\nSkill: b [active]\nSay b.")
    }

    @Test func activationsCanBeObserved() {
        let activations = SkillActivations()
        let seen = Flag()
        withObservationTracking {
            _ = activations.activeSkillNames
        } onChange: {
            seen.set()
        }
        activations.deactivate("a")
        #expect(!seen.isSet)
        activations.activate("a")
        #expect(seen.isSet)
    }
}
