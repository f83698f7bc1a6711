import Foundation
import JSON

/// What the metadata of an adapter says.
package struct AdapterDescription: Sendable, Equatable {
    package let directory: URL
    /// Where its weights are.
    package let weightsFile: URL
    /// `fmadapter-NAME-SIGNATURE`.
    package let identifier: String
    /// 40 hexadecimal digits that name the base model.
    package let baseModelSignature: String
    package let rank: Int
    package let creatorDefined: [String: JSONValue]

    /// The largest metadata that is read.
    private static let metadataLimit = 1 << 20

    package var name: String {
        identifier.split(separator: "-").dropFirst().dropLast().joined(separator: "-")
    }

    package init(directory: URL) throws {
        func invalid(_ text: String) -> SystemLanguageModel.Adapter.AssetError {
            .invalidAsset(.init(debugDescription: "\(directory.path): \(text)"))
        }
        func path(_ name: String) -> URL { directory.appendingPathComponent(name) }
        guard directory.pathExtension == "fmadapter" else { throw invalid("the name does not end in .fmadapter.") }
        let file = directory.appendingPathComponent("metadata.json")
        let bytes: Data
        do {
            let handle = try FileHandle(forReadingFrom: file)
            bytes = try handle.read(upToCount: Self.metadataLimit + 1) ?? Data()
            try handle.close()
        } catch {
            throw invalid("metadata.json cannot be read: \(error.localizedDescription)")
        }
        guard bytes.count <= Self.metadataLimit else { throw invalid("metadata.json is too large.") }
        let metadata: JSONValue
        do {
            metadata = try JSONValue(parsing: Array(bytes))
        } catch {
            throw invalid("metadata.json: \(error)")
        }
        guard let identifier = metadata["adapterIdentifier"]?.stringValue,
            identifier.hasPrefix("fmadapter-"), identifier.split(separator: "-").count >= 3
        else { throw invalid("metadata.json has no adapterIdentifier of the form fmadapter-NAME-SIGNATURE.") }
        guard let signature = metadata["baseModelSignature"]?.stringValue, signature.count == 40,
            signature.allSatisfy(\.isHexDigit)
        else { throw invalid("metadata.json has no baseModelSignature of 40 hexadecimal digits.") }
        guard let rank = metadata["loraRank"]?.numberValue?.intValue, (1...4096).contains(rank) else {
            throw invalid("metadata.json has no loraRank from 1 to 4096.")
        }
        self.directory = directory
        self.identifier = identifier
        baseModelSignature = signature.lowercased()
        self.rank = rank
        creatorDefined =
            metadata["creatorDefined"]?.objectValue.map { object in
                Dictionary(uniqueKeysWithValues: object.map { ($0.key, $0.value) })
            } ?? [:]
        let found = Self.weightsFiles.filter { FileManager.default.fileExists(atPath: path($0).path) }
        guard found.count == 1 else {
            throw invalid(
                found.isEmpty
                    ? "the weights are missing: one of \(Self.weightsFiles.joined(separator: ", ")) must be there."
                    : "there are the weights \(found.joined(separator: " and ")), of which one must go.")
        }
        weightsFile = path(found[0])
    }

    /// GGUF files, and what `peft` writes. The toolkit of Apple's framework calls its own format `adapter_weights.bin`; here
    /// a file of that name is GGUF too.
    private static let weightsFiles = ["adapter_weights.gguf", "adapter_weights.bin", "adapter_model.safetensors"]

    static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 128 && !name.hasPrefix(".")
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-.".contains($0)) }
    }

    static var installationDirectory: URL {
        let environment = ProcessInfo.processInfo.environment
        let data =
            environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? URL(fileURLWithPath: $0) : nil }
            ?? FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share")
        return data.appendingPathComponent("foundationmodels/adapters")
    }

    static func installedDirectories() -> [URL] {
        let found =
            (try? FileManager.default.contentsOfDirectory(at: installationDirectory, includingPropertiesForKeys: nil))
            ?? []
        return found.filter { $0.pathExtension == "fmadapter" }.sorted { $0.path < $1.path }
    }

    static func installed() -> [AdapterDescription] {
        installedDirectories().compactMap { try? AdapterDescription(directory: $0) }
    }
}

extension JSONValue {
    /// The value as Foundation's types have it.
    var foundationValue: Any {
        switch self {
        case .null: NSNull()
        case .bool(let value): value
        case .number(let number): number.intValue.map { $0 as Any } ?? number.doubleValue
        case .string(let string): string
        case .array(let elements): elements.map(\.foundationValue)
        case .object(let object):
            Dictionary(uniqueKeysWithValues: object.map { ($0.key, $0.value.foundationValue) })
        }
    }
}
