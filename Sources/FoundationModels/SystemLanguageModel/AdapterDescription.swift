import Foundation
import JSON

/// What is known of an adapter before its weights are read: what its metadata says, where it has any.
package struct AdapterDescription: Sendable, Equatable {
    /// The directory, or the file of weights by itself.
    package let location: URL
    /// Where its weights are.
    package let weightsFile: URL
    /// `fmadapter-NAME-SIGNATURE`; the path of weights without metadata.
    package let identifier: String
    /// 40 hexadecimal digits that name the base model; nil without metadata.
    package let baseModelSignature: String?
    /// Nil without metadata.
    package let rank: Int?
    package let creatorDefined: [String: JSONValue]

    /// The largest metadata that is read.
    private static let metadataLimit = 1 << 20

    package var name: String {
        identifier.split(separator: "-").dropFirst().dropLast().joined(separator: "-")
    }

    /// - Parameter path: A directory `.fmadapter`, another one with weights as `peft` saves it, or a file of weights.
    package init(path: URL) throws {
        self = path.pathExtension == "fmadapter" ? try Self(directory: path) : try Self(weights: path)
    }

    private init(weights path: URL) throws {
        location = path
        identifier = path.path
        baseModelSignature = nil
        rank = nil
        creatorDefined = [:]
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path.path, isDirectory: &isDirectory) else {
            throw Self.invalid(path, "there is no such file.")
        }
        weightsFile = isDirectory.boolValue ? try Self.weightsFile(in: path) : path
    }

    private static func invalid(_ location: URL, _ text: String) -> SystemLanguageModel.Adapter.AssetError {
        .invalidAsset(.init(debugDescription: "\(location.path): \(text)"))
    }

    package init(directory: URL) throws {
        func invalid(_ text: String) -> SystemLanguageModel.Adapter.AssetError { Self.invalid(directory, text) }
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
        location = directory
        self.identifier = identifier
        baseModelSignature = signature.lowercased()
        self.rank = rank
        creatorDefined =
            metadata["creatorDefined"]?.objectValue.map { object in
                Dictionary(uniqueKeysWithValues: object.map { ($0.key, $0.value) })
            } ?? [:]
        weightsFile = try Self.weightsFile(in: directory)
    }

    private static func weightsFile(in directory: URL) throws -> URL {
        func path(_ name: String) -> URL { directory.appendingPathComponent(name) }
        let found = weightsFiles.filter { FileManager.default.fileExists(atPath: path($0).path) }
        guard found.count == 1 else {
            throw invalid(
                directory,
                found.isEmpty
                    ? "the weights are missing: one of \(weightsFiles.joined(separator: ", ")) must be there."
                    : "there are the weights \(found.joined(separator: " and ")), of which one must go.")
        }
        return path(found[0])
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
