public import Foundation
public import FoundationModels
import Networking

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A model behind any server that speaks the Chat Completions protocol.
///
/// ```swift
/// let model = ChatCompletionsLanguageModel(name: "qwen3", url: URL(string: "http://localhost:8080")!)
/// let session = LanguageModelSession(model: model)
/// ```
///
/// Answers stream: there is a snapshot for each event that the server sends. A response that was to follow a schema, and the
/// arguments of each tool call, are checked here when they are whole, whatever the server promised; what does not fit is an error.
///
/// What all models can run into is thrown as `LanguageModelError` (a rate limit, a conversation that is too long, a time-out, a
/// refusal), everything else as ``RequestError`` or ``APIError``.
public struct ChatCompletionsLanguageModel: LanguageModel {
    /// The model's name, as the server knows it.
    public var name: String

    /// The address of the server. The path of the protocol's version is put behind it (`/v1`) unless it has one.
    public var url: URL

    /// Sent with each request, such as `Authorization`; they win over those of the protocol.
    public var additionalHeaders: [String: String]

    /// Whether the server makes responses follow a schema.
    public var supportsGuidedGeneration: Bool

    private let limits: HTTPLimits

    /// - Parameters:
    ///   - name: The model's name, as the server knows it.
    ///   - url: The address of the server.
    ///   - additionalHeaders: Sent with each request, such as `Authorization`.
    ///   - supportsGuidedGeneration: Whether the server knows `response_format`. A request with a schema fails before it is sent
    ///     when it does not.
    ///   - urlSessionConfiguration: Of it the time-outs (`timeoutIntervalForRequest` is the longest silence) and the headers are used.
    public init(
        name: String, url: URL, additionalHeaders: [String: String] = [:], supportsGuidedGeneration: Bool = true,
        urlSessionConfiguration: URLSessionConfiguration? = nil
    ) {
        self.name = name
        self.url = url
        self.supportsGuidedGeneration = supportsGuidedGeneration
        var headers: [String: String] = [:]
        for case (let name as String, let value as String) in urlSessionConfiguration?.httpAdditionalHeaders ?? [:] {
            headers[name] = value
        }
        self.additionalHeaders = headers.merging(additionalHeaders) { _, given in given }
        limits = urlSessionConfiguration.map(HTTPLimits.init) ?? HTTPLimits()
    }

    public var capabilities: LanguageModelCapabilities {
        var capabilities: [LanguageModelCapabilities.Capability] = [.vision, .toolCalling, .reasoning]
        if supportsGuidedGeneration { capabilities.append(.guidedGeneration) }
        return LanguageModelCapabilities(capabilities)
    }

    public var executorConfiguration: Executor.Configuration {
        Executor.Configuration(
            endpoint: ChatCompletionsEndpoint(
                modelName: name, baseURL: url, headers: additionalHeaders, limits: limits))
    }

    /// Answers with the server's model. Requests of one session share their connections.
    public struct Executor: LanguageModelExecutor {
        public typealias Model = ChatCompletionsLanguageModel

        public struct Configuration: Hashable, Sendable {
            let endpoint: ChatCompletionsEndpoint
        }

        private let client: ChatCompletionsClient

        public init(configuration: Configuration) {
            client = ChatCompletionsClient(endpoint: configuration.endpoint)
        }

        /// Does nothing: the server has its own ways to be ready.
        public func prewarm(model: ChatCompletionsLanguageModel, transcript: Transcript) {}

        public nonisolated(nonsending) func respond(
            to request: LanguageModelExecutorGenerationRequest, model: ChatCompletionsLanguageModel,
            streamingInto channel: LanguageModelExecutorGenerationChannel
        ) async throws {
            var turn = try ChatCompletionsTurn(request, channel: channel)
            do {
                try await turn.run(with: client)
            } catch let failure as ChatCompletionsFailure {
                throw failure.languageModelError ?? ChatCompletionsLanguageModel.error(failure)
            }
        }
    }
}

extension HTTPLimits {
    fileprivate init(_ configuration: URLSessionConfiguration) {
        func seconds(_ interval: TimeInterval) -> Int { Int(min(max(interval.rounded(.up), 1), 1e8)) }
        self.init(
            silenceSeconds: seconds(configuration.timeoutIntervalForRequest),
            totalSeconds: seconds(configuration.timeoutIntervalForResource))
    }
}
