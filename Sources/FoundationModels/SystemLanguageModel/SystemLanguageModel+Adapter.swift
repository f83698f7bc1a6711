import Foundation

extension SystemLanguageModel {
    /// Weights that change what the model does, made for one base model (`Documentation/Adapters.md`).
    ///
    /// The base's weights are shared: sessions with different adapters and without any run on one model in memory, at the
    /// same time.
    public struct Adapter {
        let weights: AdapterWeights

        private var description: AdapterDescription { weights.description }

        /// What the adapter's maker wrote into it.
        public var creatorDefinedMetadata: [String: Any] { description.creatorDefined.mapValues(\.foundationValue) }

        /// - Parameter fileURL: A directory with the ending `.fmadapter`.
        /// - Throws: ``AssetError/invalidAsset(_:)``.
        public init(fileURL: URL) throws {
            weights = try AdapterWeights(AdapterDescription(directory: fileURL))
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
            weights = try AdapterWeights(found)
        }

        /// Reads the adapter and checks all of it against the model in use, so that the first request need not wait for that.
        /// There is nothing to compile on this platform.
        ///
        /// - Throws: ``AssetError``, or ``SystemLanguageModel/Error/assetsUnavailable(_:)`` when there is no model.
        @concurrent
        public func compile() async throws {
            _ = try await weights.adapter(for: EngineBackend.standard.file)
        }

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
                case .compatibleAdapterNotFound(let context):
                    "There is no adapter for this model. \(context.debugDescription)"
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
