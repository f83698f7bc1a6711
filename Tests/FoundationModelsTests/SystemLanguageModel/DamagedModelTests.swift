import Foundation
import FoundationModels
import TestSupport
import Testing

/// A model file that cannot be read is no available model.
@Suite struct DamagedModelTests {
    let folder = ScratchFolder()

    private func model() -> SystemLanguageModel {
        SystemLanguageModel(
            backend: EngineBackend(file: URL(fileURLWithPath: "\(folder.path)/a.gguf"), environment: [:]))
    }

    @Test func itIsUnavailableAndRequestsSayWhy() async throws {
        folder.write(Array("GGUF, and then nothing of the kind".utf8), "a.gguf")
        #expect(model().availability == .unavailable(.modelNotReady))
        await #expect {
            try await LanguageModelSession(model: model()).respond(to: "Hi")
        } throws: { error in
            guard case SystemLanguageModel.Error.assetsUnavailable(let details) = error else { return false }
            return details.debugDescription.contains("a.gguf cannot be read as a model: ")
        }
    }

    @Test func aModelForEmbeddingsIsNone() async throws {
        try TinyEncoder.write(to: URL(fileURLWithPath: "\(folder.path)/a.gguf"))
        #expect(model().availability == .unavailable(.modelNotReady))
        await #expect {
            try await LanguageModelSession(model: model()).respond(to: "Hi")
        } throws: { error in
            guard case SystemLanguageModel.Error.assetsUnavailable(let details) = error else { return false }
            return details.debugDescription.contains("a.gguf makes embeddings and writes no text")
        }
    }

    @Test func aFileThatIsMendedIsSeen() {
        // Cut off inside its weights.
        folder.write(Array(modelBytes(1000).prefix(900)), "a.gguf")
        #expect(!model().isAvailable)
        folder.write(modelBytes(1000), "a.gguf")
        #expect(model().isAvailable)
    }
}
