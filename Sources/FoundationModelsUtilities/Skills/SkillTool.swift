import FoundationModels

/// The tool by which a model asks for a skill.
struct SkillTool: Tool, @unchecked Sendable {  // Skills hold content that is only read.
    let name: String
    let description: String
    let parameters: GenerationSchema
    private let skills: [Skill]
    private let activations: SkillActivations

    init(
        name: String?, description: String?, skills: [Skill], activations: SkillActivations, strictSchema: Bool
    ) {
        let isToggle = skills.contains(where: \.allowsDeactivation)
        self.name = name ?? (isToggle ? "toggle_skill" : "activate_skill")
        self.description =
            description
            ?? "\(isToggle ? "Activates or deactivates" : "Activates") a skill whose description fits the request. Do not ask for "
            + "leave and do not mention it."
            + (skills.contains(where: \.isPrompt)
                ? " A skill marked [on demand] is not switched on: the call gives what it says, once." : "")
        self.skills = skills
        self.activations = activations

        let active = Set(activations.activeSkillNames)
        var choices = skills.filter { !active.contains($0.name) || $0.allowsDeactivation || !strictSchema }.map(\.name)
        choices = Array(Set(choices)).sorted()
        // Of nothing there is no choice: the call is refused when it comes.
        parameters = GenerationSchema(
            type: GeneratedContent.self,
            properties: [
                .init(
                    name: "skill", description: "The name of the skill.", type: String.self,
                    guides: choices.isEmpty ? [] : [.anyOf(choices)])
            ])
    }

    func call(arguments: GeneratedContent) async throws -> Prompt {
        let name = try arguments.value(String.self, forProperty: "skill")
        guard let skill = skills.first(where: { $0.name == name }) else {
            let known = skills.map { "\"\($0.name)\"" }.joined(separator: ", ")
            throw GeneratedContent.ParsingError(
                rawContent: arguments.jsonString,
                debugDescription: "There is no skill \"\(name)\". The skills are: \(known).")
        }
        switch skill.content {
        case .prompt(let prompt):
            skill.onActivate()
            return prompt
        case .instructions(_, let allowsDeactivation):
            guard activations.isActive(name) else {
                activations.activate(name)
                skill.onActivate()
                return Prompt("The skill \(name) is active now.")
            }
            guard allowsDeactivation else {
                throw GeneratedContent.ParsingError(
                    rawContent: arguments.jsonString,
                    debugDescription: "The skill \"\(name)\" is active already and cannot be deactivated.")
            }
            activations.deactivate(name)
            skill.onDeactivate()
            return Prompt("The skill \(name) is no longer active.")
        }
    }
}
