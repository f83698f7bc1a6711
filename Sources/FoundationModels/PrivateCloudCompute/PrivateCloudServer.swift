import Foundation
import JSON
import Networking
import Synchronization

/// A server that the user has configured, and what is known of it. The same for all models of one process.
final class PrivateCloudServer: PrivateCloudService {
    private struct State {
        var quota: PrivateCloudQuota?
        var contextSize: Int?
        /// Until when the server is held to be away, because a request did not reach it.
        var awayUntil: ContinuousClock.Instant?
    }

    /// How long a server that was not reached counts as away.
    private static let patience = Duration.seconds(10)

    private let configuration: PrivateCloudConfiguration
    private let client: ChatCompletionsClient
    private let environment: [String: String]
    private let state = Mutex(State())

    init(_ configuration: PrivateCloudConfiguration, environment: [String: String]) {
        self.configuration = configuration
        self.environment = environment
        client = ChatCompletionsClient(endpoint: configuration.endpoint)
    }

    private var simulation: SimulatedState? { SimulatedState.state(in: environment) }

    var identifier: String { "\(configuration.endpoint.baseURL.absoluteString)#\(configuration.endpoint.modelName)" }

    var availability: PrivateCloudComputeLanguageModel.Availability {
        switch simulation {
        case .deviceNotEligible?: return .unavailable(.deviceNotEligible)
        case .switchedOff?, .notReady?: return .unavailable(.systemNotReady)
        default: break
        }
        let isAway = state.withLock { $0.awayUntil.map { $0 > .now } ?? false }
        return isAway ? .unavailable(.systemNotReady) : .available
    }

    var quotaUsage: PrivateCloudComputeLanguageModel.QuotaUsage {
        switch simulation {
        case .approachingQuota?: PrivateCloudQuota(limit: 100, remaining: 5, resetDate: nil).usage
        case .quotaReached?: PrivateCloudQuota(limit: 100, remaining: 0, resetDate: Self.tomorrow).usage
        default: state.withLock { $0.quota ?? PrivateCloudQuota() }.usage
        }
    }

    private static var tomorrow: Date { Calendar.current.startOfDay(for: Date()).addingTimeInterval(86_400) }

    var capabilities: LanguageModelCapabilities {
        LanguageModelCapabilities([.vision, .guidedGeneration, .reasoning, .toolCalling])
    }

    func prewarm(_ transcript: Transcript) {}

    func supportedLanguages() async throws -> Set<Locale.Language> {
        let codes =
            configuration.languages
            ?? ["en", "zh", "fr", "es", "pt", "de", "it", "nl", "ru", "ja", "ko", "vi", "tr", "ar"]
        return Set(codes.map { Locale.Language(identifier: $0) })
    }

    func askForQuotaUsage() async throws -> PrivateCloudComputeLanguageModel.QuotaUsage? {
        switch simulation {
        case .approachingQuota?, .quotaReached?: return quotaUsage
        default: try checkSimulation()
        }
        // Every answer of a server that counts says it; the list of models costs nothing.
        do { _ = try await models() } catch PrivateCloudComputeLanguageModel.Error.quotaLimitReached {
            return quotaUsage
        }
        return state.withLock { $0.quota }?.usage
    }

    /// The server's list of its models.
    private func models() async throws -> JSONValue {
        do {
            let (head, models) = try await client.document("models")
            note(head)
            return models
        } catch let failure as ChatCompletionsFailure {
            throw error(failure)
        }
    }

    private func note(_ head: HTTPHead) {
        state.withLock { state in
            state.awayUntil = nil
            if let quota = PrivateCloudQuota(head) { state.quota = quota }
        }
    }

    func contextSize() async throws -> Int {
        if let size = configuration.contextSize ?? state.withLock({ $0.contextSize }) { return size }
        try checkSimulation()
        let models = try await models()
        let entries = models["data"]?.arrayValue ?? []
        let entry = entries.first { $0["id"]?.stringValue == configuration.endpoint.modelName } ?? entries.first
        // vLLM and SGLang, routers of many providers, llama.cpp's server.
        let size =
            (entry?["max_model_len"] ?? entry?["context_length"] ?? entry?["context_window"]
            ?? entry?["meta"]?["n_ctx"] ?? entry?["meta"]?["n_ctx_train"])?.numberValue?.intValue
        guard let size, size > 0 else {
            throw PrivateCloudComputeLanguageModel.Error.serviceUnavailable(
                .init(
                    debugDescription: "\(configuration.endpoint.baseURL.absoluteString) does not say how many tokens "
                        + "\(configuration.endpoint.modelName) reads at once. Set FM_CLOUD_CONTEXT_SIZE."))
        }
        state.withLock { $0.contextSize = size }
        return size
    }

    func respond(
        to request: LanguageModelExecutorGenerationRequest,
        streamingInto channel: LanguageModelExecutorGenerationChannel
    ) async throws {
        try checkSimulation()
        var turn = try ChatCompletionsTurn(request, channel: channel)
        do {
            try await turn.run(with: client) { note($0) }
        } catch let failure as ChatCompletionsFailure {
            throw error(failure)
        }
    }

    private func checkSimulation() throws {
        typealias Error = PrivateCloudComputeLanguageModel.Error
        switch simulation {
        case .deviceNotEligible?, .switchedOff?, .notReady?:
            throw Error.serviceUnavailable(.init(debugDescription: "FM_SIMULATE makes the server unavailable."))
        case .networkDown?:
            throw Error.networkFailure(.init(debugDescription: "FM_SIMULATE takes the network down."))
        case .quotaReached?:
            throw Error.quotaLimitReached(
                .init(
                    limitIncreaseSuggestion: quotaUsage.limitIncreaseSuggestion, resetDate: quotaUsage.resetDate,
                    debugDescription: "FM_SIMULATE uses the quota up."))
        case .approachingQuota?, nil:
            guard configuration == .simulated else { return }
            throw Error.serviceUnavailable(
                .init(debugDescription: "FM_SIMULATE names a quota, and no server answers: set FM_CLOUD_URL."))
        }
    }

    /// The failure as the model's error, and a note of what it says about the server.
    private func error(_ failure: ChatCompletionsFailure) -> any Swift.Error {
        typealias Error = PrivateCloudComputeLanguageModel.Error
        if failure.isQuotaExhaustion {
            let quota = state.withLock { state -> PrivateCloudQuota in
                var quota = state.quota ?? PrivateCloudQuota()
                quota.limit = quota.limit ?? 1
                quota.remaining = 0
                quota.resetDate = failure.retryDate ?? quota.resetDate
                state.quota = quota
                return quota
            }
            return Error.quotaLimitReached(
                .init(
                    limitIncreaseSuggestion: quota.usage.limitIncreaseSuggestion, resetDate: quota.resetDate,
                    debugDescription: failure.description))
        }
        if let error = failure.languageModelError { return error }
        switch failure {
        case .connection, .interrupted:
            if case .connection = failure {
                state.withLock { $0.awayUntil = .now + Self.patience }
            }
            return Error.networkFailure(.init(debugDescription: failure.description))
        default: return Error.serviceUnavailable(.init(debugDescription: failure.description))
        }
    }
}

/// The servers of this process, so that all models of one server know the same of it.
final class PrivateCloudLibrary: Sendable {
    static let shared = PrivateCloudLibrary()

    private struct Key: Hashable {
        let configuration: PrivateCloudConfiguration
        let simulation: SimulatedState?
    }

    private let servers = Mutex<[Key: PrivateCloudServer]>([:])

    /// The server that the environment and the configuration file name.
    func service(environment: [String: String]) -> any PrivateCloudService {
        do throws(PrivateCloudConfiguration.Invalid) {
            let simulation = SimulatedState.state(in: environment)
            guard
                let configuration = try PrivateCloudConfiguration.read(environment: environment)
                    ?? simulation.map({ _ in .simulated })
            else {
                return UnusablePrivateCloud(
                    availability: .unavailable(.deviceNotEligible),
                    reason: "No server is configured for PrivateCloudComputeLanguageModel: set FM_CLOUD_URL and "
                        + "FM_CLOUD_MODEL, or write them into \(PrivateCloudConfiguration.path(environment: environment))."
                )
            }
            let key = Key(configuration: configuration, simulation: simulation)
            return servers.withLock { servers in
                if let server = servers[key] { return server }
                let server = PrivateCloudServer(configuration, environment: environment)
                servers[key] = server
                return server
            }
        } catch {
            return UnusablePrivateCloud(availability: .unavailable(.systemNotReady), reason: error.description)
        }
    }
}
