import Foundation
import FoundationModels
import Testing

@Suite struct AdapterTests {
    private static let signature = String(repeating: "ab", count: 20)

    static func metadata(rank: Int = 1, signature: String = signature) -> String {
        """
        {"adapterIdentifier": "fmadapter-my-poems-abab", "baseModelSignature": "\(signature)", "loraRank": \(rank),
         "creatorDefined": {"author": "Ann", "epochs": 3}}
        """
    }

    /// What peft writes for a change of rank 1 to the output of the first layer's feed-forward block.
    static func weights(rows: Int = 8, columns: Int = 4, value: Float = 0.5) -> [String: Data] {
        let module = "base_model.model.model.layers.0.mlp.down_proj"
        let aBytes = 4 * columns
        let header = """
            {"\(module).lora_A.weight": {"dtype": "F32", "shape": [1, \(columns)], "data_offsets": [0, \(aBytes)]}, \
            "\(module).lora_B.weight": {"dtype": "F32", "shape": [\(rows), 1], \
            "data_offsets": [\(aBytes), \(aBytes + 4 * rows)]}}
            """
        var data = withUnsafeBytes(of: UInt64(header.utf8.count).littleEndian) { Data($0) } + Data(header.utf8)
        for _ in 0..<rows + columns { withUnsafeBytes(of: value) { data.append(contentsOf: $0) } }
        let configuration = #"{"peft_type": "LORA", "r": 1, "lora_alpha": 2}"#
        return ["adapter_model.safetensors": data, "adapter_config.json": Data(configuration.utf8)]
    }

    static func directory(
        _ metadata: String?, named name: String = "a.fmadapter", files: [String: Data] = weights()
    ) throws -> URL {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent(UUID().uuidString).appendingPathComponent(name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        if let metadata {
            try Data(metadata.utf8).write(to: directory.appendingPathComponent("metadata.json"))
        }
        for (file, data) in files { try data.write(to: directory.appendingPathComponent(file)) }
        return directory
    }

    @Test func aWholeAdapterIsRead() throws {
        let adapter = try SystemLanguageModel.Adapter(fileURL: Self.directory(Self.metadata()))
        #expect(adapter.creatorDefinedMetadata["author"] as? String == "Ann")
        #expect(adapter.creatorDefinedMetadata["epochs"] as? Int == 3)
    }

    private static let wrongMetadata: [(String?, String)] = [
        (nil, "metadata.json cannot be read"), ("{", "invalid JSON"), ("{}", "no adapterIdentifier"),
        (#"{"adapterIdentifier": "fmadapter-a-b", "baseModelSignature": "xyz"}"#, "no baseModelSignature"),
        (metadata(rank: -1), "no loraRank"), (metadata(rank: 16), "the greatest of the weights is 1"),
    ]

    @Test(arguments: wrongMetadata)
    func brokenAdaptersSayWhatIsWrong(_ metadata: String?, _ fault: String) throws {
        try expectInvalid(fault, Self.directory(metadata))
    }

    private func expectInvalid(_ fault: String, _ directory: URL) throws {
        let error = #expect(throws: SystemLanguageModel.Adapter.AssetError.self) {
            try SystemLanguageModel.Adapter(fileURL: directory)
        }
        guard case .invalidAsset(let context)? = error else {
            Issue.record("another error")
            return
        }
        #expect(context.debugDescription.contains(fault), "\(context.debugDescription)")
        #expect(error?.recoverySuggestion != nil)
    }

    @Test func weightsMustBeThereOnceAndRight() throws {
        try expectInvalid("the weights are missing", Self.directory(Self.metadata(), files: [:]))
        try expectInvalid(
            "not a GGUF file", Self.directory(Self.metadata(), files: ["adapter_weights.bin": Data("0000".utf8)]))
        try expectInvalid(
            "of which one must go",
            Self.directory(Self.metadata(), files: Self.weights().merging(["adapter_weights.gguf": Data()]) { $1 }))
        try expectInvalid(
            "adapter_config.json",
            Self.directory(Self.metadata(), files: Self.weights().filter { $0.key != "adapter_config.json" }))
        try expectInvalid(".fmadapter", Self.directory(Self.metadata(), named: "a.zip"))
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
