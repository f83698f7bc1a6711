import Foundation
import FoundationModels
import TestSupport
import Testing

/// `FM_SIMULATE` and the model on this machine.
@Suite struct SimulatedStateTests {
    private static let file = URL(fileURLWithPath: "/nowhere/model.gguf")

    @Test(
        "states make the model unavailable, and requests say why",
        arguments: [
            ("device-not-eligible", .deviceNotEligible), ("switched-off", .appleIntelligenceNotEnabled),
            ("not-ready", .modelNotReady),
        ] as [(String, SystemLanguageModel.Availability.UnavailableReason)])
    func states(state: String, reason: SystemLanguageModel.Availability.UnavailableReason) async throws {
        let model = SystemLanguageModel(
            backend: EngineBackend(
                file: try ScratchModel.file(), environment: ["FM_SIMULATE": state]))
        #expect(model.availability == .unavailable(reason))
        #expect(!model.isAvailable)
        await #expect {
            try await LanguageModelSession(model: model).respond(to: "Hi")
        } throws: { error in
            guard case SystemLanguageModel.Error.assetsUnavailable(let details) = error else { return false }
            return details.debugDescription.contains("FM_SIMULATE")
        }
        await #expect(throws: SystemLanguageModel.Error.self) { try await model.tokenCount(for: "Hi") }
    }

    @Test("states of the server, no state and words that are none leave the model as it is")
    func otherStates() throws {
        for state in ["quota-reached", "approaching-quota", "network-down", "", "on fire"] {
            let backend = EngineBackend(file: try ScratchModel.file(), environment: ["FM_SIMULATE": state])
            #expect(backend.availability == .available, "\(state)")
        }
        #expect(
            EngineBackend(file: Self.file, environment: [:]).availability == .unavailable(.modelNotReady))
    }

    @Test func wordsThatAreNoStatesAreNamed() {
        let complaint = SimulatedState.complaint(about: ["FM_SIMULATE": "on fire"])
        #expect(complaint?.contains("not-ready, approaching-quota") == true && complaint?.contains("'on fire'") == true)
        for environment in [[:], ["FM_SIMULATE": ""], ["FM_SIMULATE": "not-ready"]] {
            #expect(SimulatedState.complaint(about: environment) == nil)
        }
    }
}

/// A file that passes for a model as long as nobody reads its weights.
private enum ScratchModel {
    static func file() throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).gguf")
        try Data(modelBytes(1000)).write(to: url)
        return url
    }
}
