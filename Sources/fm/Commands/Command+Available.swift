import FoundationModels
import Inference
import JSON

extension Command {
    package static let available = Command(
        name: "available",
        summary: "Tell whether a model can be used, and which.",
        usage: ["[--json]"],
        options: [Option("--json", help: "Write the outcome as JSON.")],
        discussion: "Exit status 0 when a model can be used, 5 when none can."
    ) { arguments, context in
        let store = try ModelStore(environment: context.environment)
        let simulated = SimulatedState.state(in: context.environment)?.systemModelReason
        let (reason, text, name): (String?, String, String?) =
            if let simulated { ("\(simulated)", "not available: FM_SIMULATE says so.", nil) } else {
                switch try store.defaultModel() {
                case .ready(let model):
                    if let fault = store.textFault(of: model) {
                        ("modelNotReady", "not available: '\(model.name)' \(fault).", model.name)
                    } else {
                        (nil, "available: \(model.name)", model.name)
                    }
                case .notDownloaded(let name):
                    (
                        "modelNotReady", "not available: '\(name)' has not been fetched; 'fm pull \(name)' fetches it.",
                        name
                    )
                case .switchedOff:
                    (
                        "appleIntelligenceNotEnabled",
                        "not available: models are switched off in "
                            + "\(ModelSettings.configurationPath(environment: context.environment)).", nil
                    )
                case .tooLittleMemory(let needed, let available):
                    (
                        "deviceNotEligible",
                        "not available: the smallest model needs \(ByteText.size(needed)) of memory, "
                            + "this machine has \(ByteText.size(available)).", nil
                    )
                }
            }
        if arguments.has("--json") {
            let object: JSONObject = [
                "available": .bool(reason == nil), "reason": reason.map(JSONValue.string) ?? .null,
                "model": name.map(JSONValue.string) ?? .null,
            ]
            context.output.line(JSONValue.object(object).text(spaced: true))
        } else {
            context.output.line(TerminalText.printable(text))
        }
        for model in store.installed() where model.name != name {
            guard let damage = store.damage(of: model) else { continue }
            context.messages.line(
                TerminalText.printable("'\(model.name)' is passed over, it cannot be read as a model: \(damage)."))
        }
        if reason != nil { throw Failure(.unavailable, "") }
    }
}
