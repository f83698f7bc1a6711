import Foundation
import FoundationModels
import Testing

@Suite struct AdapterTests {
    private static let signature = String(repeating: "ab", count: 20)

    private func adapter(_ metadata: String?, named name: String = "a.fmadapter", weights: Bool = true) throws -> URL {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString).appendingPathComponent(name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        if let metadata {
            try Data(metadata.utf8).write(to: directory.appendingPathComponent("metadata.json"))
        }
        if weights { try Data([0]).write(to: directory.appendingPathComponent("adapter_weights.bin")) }
        return directory
    }

    private static let metadata = """
        {"adapterIdentifier": "fmadapter-my-poems-abab", "baseModelSignature": "\(signature)", "loraRank": 16,
         "creatorDefined": {"author": "Ann", "epochs": 3}}
        """

    @Test func aWholeAdapterIsRead() async throws {
        let adapter = try SystemLanguageModel.Adapter(fileURL: adapter(Self.metadata))
        #expect(adapter.creatorDefinedMetadata["author"] as? String == "Ann")
        #expect(adapter.creatorDefinedMetadata["epochs"] as? Int == 3)
        try await adapter.compile()
    }

    @Test(
        arguments: [
            (nil, "metadata.json cannot be read"), ("{", "invalid JSON"), ("{}", "no adapterIdentifier"),
            (#"{"adapterIdentifier": "fmadapter-a-b", "baseModelSignature": "xyz"}"#, "no baseModelSignature"),
            (
                "{\"adapterIdentifier\": \"fmadapter-a-b\", \"baseModelSignature\": \"\(signature)\", \"loraRank\": -1}",
                "no loraRank"
            ),
        ] as [(String?, String)])
    func brokenAdaptersSayWhatIsWrong(_ metadata: String?, _ fault: String) throws {
        let error = #expect(throws: SystemLanguageModel.Adapter.AssetError.self) {
            try SystemLanguageModel.Adapter(fileURL: adapter(metadata))
        }
        guard case .invalidAsset(let context)? = error else {
            Issue.record("another error")
            return
        }
        #expect(context.debugDescription.contains(fault))
        #expect(error?.recoverySuggestion != nil)
    }

    @Test func weightsMustBeThere() throws {
        #expect(throws: SystemLanguageModel.Adapter.AssetError.self) {
            try SystemLanguageModel.Adapter(fileURL: adapter(Self.metadata, weights: false))
        }
        #expect(throws: SystemLanguageModel.Adapter.AssetError.self) {
            try SystemLanguageModel.Adapter(fileURL: adapter(Self.metadata, named: "a.zip"))
        }
    }

    @Test func names() {
        for (name, isName) in [("../../etc", false), ("", false), ("no-such-adapter", true)] {
            do {
                _ = try SystemLanguageModel.Adapter(name: name)
                Issue.record("no error")
            } catch SystemLanguageModel.Adapter.AssetError.invalidAdapterName {
                #expect(!isName)
            } catch SystemLanguageModel.Adapter.AssetError.compatibleAdapterNotFound {
                #expect(isName)
            } catch {
                Issue.record(error)
            }
        }
        #expect(SystemLanguageModel.Adapter.compatibleAdapterIdentifiers(name: "no-such-adapter").isEmpty)
    }
}
