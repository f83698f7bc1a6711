import Foundation
import Observation

/// A model on a server that the user runs or rents: any that speaks the Chat Completions protocol.
///
/// The server is named by the variables `FM_CLOUD_URL`, `FM_CLOUD_MODEL` and `FM_CLOUD_API_KEY`, or by the file
/// `foundationmodels/private-cloud.json` in `~/.config` with the keys `url`, `model` and `api_key`. Until one is, the model is
/// unavailable, and says so. `FM_SIMULATE` brings about states that a program has to cope with.
public final class PrivateCloudComputeLanguageModel: Sendable {
    let service: any PrivateCloudService

    package init(service: any PrivateCloudService) { self.service = service }

    public convenience init() { self.init(environment: ProcessInfo.processInfo.environment) }

    package convenience init(environment: [String: String]) {
        self.init(service: PrivateCloudLibrary.shared.service(environment: environment))
    }
}

extension PrivateCloudComputeLanguageModel: nonisolated Observable {}

extension PrivateCloudComputeLanguageModel {
    @frozen
    public enum Availability: Equatable, Sendable {
        case available
        case unavailable(UnavailableReason)

        public enum UnavailableReason: Hashable, Sendable {
            /// No server is configured.
            case deviceNotEligible
            /// The server cannot be used at the moment.
            case systemNotReady
        }
    }

    /// Whether the server can be used, and why not.
    public var availability: Availability { service.availability }

    public var isAvailable: Bool { availability == .available }

    /// How much of what the user may use has been used.
    public var quotaUsage: QuotaUsage { service.quotaUsage }

    /// Asks the server how much has been used, without a request to its model. Nil when it does not say.
    package nonisolated(nonsending) func askForQuotaUsage() async throws -> QuotaUsage? {
        try await service.askForQuotaUsage()
    }

    /// The number of tokens that the server's model can read at once.
    public nonisolated(nonsending) var contextSize: Int {
        get async throws { try await service.contextSize() }
    }

    /// The languages in which the server's model answers well.
    public nonisolated(nonsending) var supportedLanguages: Set<Locale.Language> {
        get async throws { try await service.supportedLanguages() }
    }

    /// Whether the server's model answers well in the language of a locale.
    public nonisolated(nonsending) func supportsLocale(_ locale: Locale = Locale.current) async throws -> Bool {
        try await supportedLanguages.supports(locale)
    }
}

extension PrivateCloudComputeLanguageModel: LanguageModel {
    public var capabilities: LanguageModelCapabilities { service.capabilities }

    public var executorConfiguration: Executor.Configuration {
        Executor.Configuration(service: service.identifier)
    }

    /// Answers with the server's model.
    public struct Executor: LanguageModelExecutor {
        public typealias Model = PrivateCloudComputeLanguageModel

        public struct Configuration: Hashable, Sendable {
            let service: String
        }

        public init(configuration: Configuration) {}

        public func prewarm(model: PrivateCloudComputeLanguageModel, transcript: Transcript) {
            model.service.prewarm(transcript)
        }

        public nonisolated(nonsending) func respond(
            to request: LanguageModelExecutorGenerationRequest, model: PrivateCloudComputeLanguageModel,
            streamingInto channel: LanguageModelExecutorGenerationChannel
        ) async throws {
            try await model.service.respond(to: request, streamingInto: channel)
        }
    }
}
