import Foundation

/// A server as the framework sees it.
package protocol PrivateCloudService: Sendable {
    /// Tells one server from another.
    var identifier: String { get }
    var availability: PrivateCloudComputeLanguageModel.Availability { get }
    var quotaUsage: PrivateCloudComputeLanguageModel.QuotaUsage { get }
    var capabilities: LanguageModelCapabilities { get }

    /// Asks the server; nil when it says nothing about a quota.
    func askForQuotaUsage() async throws -> PrivateCloudComputeLanguageModel.QuotaUsage?
    func contextSize() async throws -> Int
    func supportedLanguages() async throws -> Set<Locale.Language>
    func prewarm(_ transcript: Transcript)
    func respond(
        to request: LanguageModelExecutorGenerationRequest,
        streamingInto channel: LanguageModelExecutorGenerationChannel
    ) async throws
}

/// Stands where no server can be asked.
struct UnusablePrivateCloud: PrivateCloudService {
    let availability: PrivateCloudComputeLanguageModel.Availability
    /// Why, and what to do.
    let reason: String

    var identifier: String { "none" }
    var quotaUsage: PrivateCloudComputeLanguageModel.QuotaUsage { PrivateCloudQuota().usage }
    var capabilities: LanguageModelCapabilities {
        LanguageModelCapabilities([.vision, .guidedGeneration, .reasoning, .toolCalling])
    }

    private var error: PrivateCloudComputeLanguageModel.Error {
        .serviceUnavailable(.init(debugDescription: reason))
    }

    func askForQuotaUsage() async throws -> PrivateCloudComputeLanguageModel.QuotaUsage? { throw error }
    func contextSize() async throws -> Int { throw error }
    func supportedLanguages() async throws -> Set<Locale.Language> { throw error }
    func prewarm(_ transcript: Transcript) {}

    func respond(
        to request: LanguageModelExecutorGenerationRequest,
        streamingInto channel: LanguageModelExecutorGenerationChannel
    ) async throws {
        throw error
    }
}
