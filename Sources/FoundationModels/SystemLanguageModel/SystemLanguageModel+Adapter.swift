import Foundation
import JSON

extension SystemLanguageModel {
    /// Weights that change what the model does, made for one base model.
    public struct Adapter {
        let description: AdapterDescription

        /// What the adapter's maker wrote into it.
        public var creatorDefinedMetadata: [String: Any] { description.creatorDefined.mapValues(\.foundationValue) }

        /// - Parameter fileURL: A directory with the ending `.fmadapter`.
        /// - Throws: ``AssetError/invalidAsset(_:)``.
        public init(fileURL: URL) throws {
            description = try AdapterDescription(directory: fileURL)
        }

        /// - Parameter name: The name of an installed adapter.
        /// - Throws: ``AssetError/invalidAdapterName(_:)``, or ``AssetError/compatibleAdapterNotFound(_:)``.
        public init(name: String) throws {
            guard AdapterDescription.isName(name) else {
                throw AssetError.invalidAdapterName(
                    .init(
                        debugDescription: "\"\(name)\" is no name of an adapter: letters, digits, '_', '-' and '.' are."
                    ))
            }
            guard let found = AdapterDescription.installed().last(where: { $0.name == name }) else {
                throw AssetError.compatibleAdapterNotFound(
                    .init(
                        debugDescription:
                            "No adapter \"\(name)\" is installed in \(AdapterDescription.installationDirectory.path)."))
            }
            description = found
        }

        /// Checks that the adapter is whole. There is nothing to compile on this platform.
        @concurrent
        public func compile() async throws { try description.validate() }

        /// The identifiers of the installed adapters of a name.
        public static func compatibleAdapterIdentifiers(name: String) -> [String] {
            AdapterDescription.installed().filter { $0.name == name }.map(\.identifier)
        }

        /// Removes installed adapters that cannot be read any more.
        public static func removeObsoleteAdapters() throws {
            for directory in AdapterDescription.installedDirectories()
            where (try? AdapterDescription(directory: directory)) == nil {
                try FileManager.default.removeItem(at: directory)
            }
        }

        public enum AssetError: Swift.Error, LocalizedError {
            case invalidAsset(Context)
            case invalidAdapterName(Context)
            case compatibleAdapterNotFound(Context)

            public struct Context: Sendable {
                public let debugDescription: String

                public init(debugDescription: String) { self.debugDescription = debugDescription }
            }

            public var errorDescription: String? {
                switch self {
                case .invalidAsset(let context): "The adapter cannot be used. \(context.debugDescription)"
                case .invalidAdapterName(let context): "The name of the adapter is wrong. \(context.debugDescription)"
                case .compatibleAdapterNotFound(let context): "There is no such adapter. \(context.debugDescription)"
                }
            }

            public var recoverySuggestion: String? {
                switch self {
                case .invalidAsset: "Get the adapter again, or one that was made for this model."
                case .invalidAdapterName: "Ask for the name that the adapter's metadata has."
                case .compatibleAdapterNotFound: "Install an adapter that was made for this model."
                }
            }
        }
    }
}

/// What the metadata of an adapter says.
package struct AdapterDescription: Sendable, Equatable {
    package let directory: URL
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

    package var weightsFile: URL { directory.appendingPathComponent("adapter_weights.bin") }

    package init(directory: URL) throws {
        func invalid(_ text: String) -> SystemLanguageModel.Adapter.AssetError {
            .invalidAsset(.init(debugDescription: "\(directory.path): \(text)"))
        }
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
        try validate()
    }

    func validate() throws {
        guard FileManager.default.fileExists(atPath: weightsFile.path) else {
            throw SystemLanguageModel.Adapter.AssetError.invalidAsset(
                .init(debugDescription: "\(directory.path): adapter_weights.bin is missing."))
        }
    }

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
    fileprivate var foundationValue: Any {
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
