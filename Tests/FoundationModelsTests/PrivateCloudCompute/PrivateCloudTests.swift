import Foundation
import FoundationModels
import JSON
import TestSupport
import Testing

@Suite struct PrivateCloudTests {
    private typealias Model = PrivateCloudComputeLanguageModel

    /// A folder for the configuration, so that the user's own plays no part.
    private let scratch = ScratchFolder()

    private func environment(_ more: [String: String] = [:]) -> [String: String] {
        ["XDG_CONFIG_HOME": scratch.path, "HOME": scratch.path].merging(more) { _, new in new }
    }

    private func model(of server: FaultServer, _ more: [String: String] = [:]) -> Model {
        Model(
            environment: environment(
                ["FM_CLOUD_URL": "http://127.0.0.1:\(server.port)", "FM_CLOUD_MODEL": "big"].merging(more) { $1 }))
    }

    private static func answer(_ headers: [String: String] = [:]) -> [FaultServer.Step] {
        let events =
            #"data: {"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}"# + "\n\ndata: [DONE]\n\n"
        let fields = headers.merging(["Content-Type": "text/event-stream"]) { $1 }
        return [FaultServer.head("200 OK", fields), .send(Array(events.utf8))]
    }

    private static func status(_ line: String, _ body: String, _ headers: [String: String] = [:]) -> [FaultServer.Step]
    {
        [FaultServer.head(line, headers), .send(Array(body.utf8))]
    }

    /// What a test expected and did not find.
    private struct Missing: Error {
        let what: String
        init(_ what: String) { self.what = what }
    }

    private func error(_ model: Model) async -> (any Error)? {
        do {
            try await LanguageModelSession(model: model).respond(to: "Hi")
            return nil
        } catch {
            return error
        }
    }

    @Test func answersWithTheServerOfTheFile() async throws {
        let server = FaultServer { _ in Self.answer() }
        defer { server.stop() }
        scratch.write(
            Array(
                """
                {"url": "http://127.0.0.1:\(server.port)/v1", "model": "big", "api_key_variable": "MY_KEY",
                 "headers": {"X-Team": "blue"}, "context_size": 9000, "languages": ["en", "nl"]}
                """.utf8), "foundationmodels/private-cloud.json")
        let model = Model(environment: environment(["MY_KEY": "secret"]))
        #expect(model.isAvailable)
        #expect(try await LanguageModelSession(model: model).respond(to: "Hi").content == "Yes.")
        let request = try #require(server.requests.first)
        #expect(request.headers["authorization"] == "Bearer secret")
        #expect(request.headers["x-team"] == "blue")
        #expect((try? JSONValue(parsing: request.body))?["model"] == "big")
        #expect(try await model.contextSize == 9000)
        #expect(try await model.supportsLocale(Locale(identifier: "nl_BE")))
        #expect(try await !model.supportsLocale(Locale(identifier: "fr_FR")))
    }

    @Test(arguments: [
        (#"{"data": [{"id": "small"}, {"id": "big", "max_model_len": 4096}]}"#, 4096),
        (#"{"data": [{"id": "big", "context_length": 8192}]}"#, 8192),
        (#"{"data": [{"id": "other", "meta": {"n_ctx_train": 2048}}]}"#, 2048),
        (#"{"data": [{"id": "big"}]}"#, nil), ("[]", nil),
    ])
    func asksTheServerForTheContextSize(document: String, size: Int?) async throws {
        let server = FaultServer { _ in Self.status("200 OK", document) }
        defer { server.stop() }
        let model = model(of: server)
        if let size {
            #expect(try await model.contextSize == size)
            #expect(try await model.contextSize == size)
            #expect(server.requests.map(\.path) == ["/v1/models"])
        } else {
            await #expect(throws: Model.Error.self) { try await model.contextSize }
        }
    }

    @Test func withoutAServerItIsUnavailable() async {
        let model = Model(environment: environment())
        #expect(model.availability == .unavailable(.deviceNotEligible))
        guard case Model.Error.serviceUnavailable(let details)? = await error(model) else {
            Issue.record("no error")
            return
        }
        #expect(details.debugDescription.contains("FM_CLOUD_URL"))
    }

    @Test(arguments: [
        ("{", [:]), ("[]", [:]), (#"{"url": 3}"#, [:]), (#"{"url": "ftp://h", "model": "m"}"#, [:]),
        (#"{"url": "http://h"}"#, [:]), (#"{"urls": "http://h"}"#, [:]),
        (#"{"url": "http://h", "model": "m", "api_key_variable": "NONE_SUCH"}"#, [:]),
        (#"{"url": "http://h", "model": "m", "context_size": 0}"#, [:]),
        (#"{"url": "http://h", "model": "m", "languages": "en"}"#, [:]),
        (#"{"url": "http://h", "model": "m", "headers": {"a": 1}}"#, [:]),
        ("{}", ["FM_CLOUD_URL": "localhost:80", "FM_CLOUD_MODEL": "m"]),
        ("{}", ["FM_CLOUD_URL": "http://h", "FM_CLOUD_MODEL": "m", "FM_CLOUD_CONTEXT_SIZE": "many"]),
    ])
    func aFaultyConfigurationIsTold(file: String, variables: [String: String]) async {
        scratch.write(Array(file.utf8), "foundationmodels/private-cloud.json")
        let model = Model(environment: environment(variables))
        #expect(model.availability == .unavailable(.systemNotReady))
        guard case Model.Error.serviceUnavailable? = await error(model) else {
            Issue.record("no error")
            return
        }
    }

    @Test func theQuotaIsRead() async throws {
        let server = FaultServer { request in
            switch request.number {
            case 0: Self.answer(["x-quota-limit": "100", "x-quota-remaining": "60", "x-quota-reset": "3600"])
            case 1: Self.answer(["x-quota-limit": "100", "x-quota-remaining": "9", "x-quota-reset": "3600"])
            case 2:
                Self.answer([
                    "x-ratelimit-limit-tokens": "100", "x-ratelimit-remaining-tokens": "0",
                    "x-ratelimit-reset-tokens": "20s",
                ])
            case 3:
                Self.answer([
                    "x-ratelimit-limit-tokens": "100", "x-ratelimit-remaining-tokens": "50",
                    "x-ratelimit-reset-tokens": "80000s",
                ])
            default:
                Self.status(
                    "429 Too Many Requests", #"{"error": {"message": "all used", "code": "insufficient_quota"}}"#,
                    ["Retry-After": "7200"])
            }
        }
        defer { server.stop() }
        let model = model(of: server)
        let session = LanguageModelSession(model: model)
        func isApproaching() -> Bool? {
            if case .belowLimit(let below) = model.quotaUsage.status { below.isApproachingLimit } else { nil }
        }
        #expect(isApproaching() == false)
        try await session.respond(to: "a")
        #expect(isApproaching() == false)
        try await session.respond(to: "b")
        #expect(isApproaching() == true)
        #expect(model.quotaUsage.limitIncreaseSuggestion != nil)
        #expect((model.quotaUsage.resetDate?.timeIntervalSinceNow ?? 0) > 3000)
        // A rate limit that is used up is no quota.
        try await session.respond(to: "c")
        #expect(isApproaching() == true)
        try await session.respond(to: "d")
        #expect(isApproaching() == false)
        guard case Model.Error.quotaLimitReached(let details)? = await error(model) else {
            Issue.record("no error")
            return
        }
        #expect((details.resetDate?.timeIntervalSinceNow ?? 0) > 7000)
        #expect(details.limitIncreaseSuggestion != nil)
        #expect(model.quotaUsage.isLimitReached)
        // Another model of the same server knows it too.
        #expect(self.model(of: server).quotaUsage.isLimitReached)
    }

    @Test func faultsAreTypedErrors() async throws {
        let server = FaultServer { request in
            switch request.number {
            case 0: Self.status("429 Too Many Requests", "", ["Retry-After": "5"])
            case 1: Self.status("503 Service Unavailable", "later")
            case 2: Self.status("401 Unauthorized", "")
            case 3: [FaultServer.head("200 OK", ["Content-Type": "text/event-stream"]), .pause(0.05), .reset]
            default: Self.status("200 OK", "data: nonsense\n\n")
            }
        }
        let model = model(of: server)
        guard case LanguageModelError.rateLimited? = await error(model) else { throw Missing("no rate limit") }
        #expect(!model.quotaUsage.isLimitReached)
        guard case Model.Error.serviceUnavailable? = await error(model) else { throw Missing("503") }
        guard case Model.Error.serviceUnavailable? = await error(model) else { throw Missing("401") }
        guard case Model.Error.networkFailure? = await error(model) else { throw Missing("reset") }
        guard case Model.Error.serviceUnavailable? = await error(model) else { throw Missing("nonsense") }
        #expect(model.isAvailable)
        server.stop()
        guard case Model.Error.networkFailure? = await error(model) else { throw Missing("gone") }
        #expect(model.availability == .unavailable(.systemNotReady))
    }

    @Test(arguments: SimulatedState.allCases)
    func statesCanBeSimulated(state: SimulatedState) async throws {
        let server = FaultServer { _ in Self.answer() }
        defer { server.stop() }
        let model = model(of: server, ["FM_SIMULATE": state.rawValue])
        let error = await error(model)
        switch state {
        case .deviceNotEligible: #expect(model.availability == .unavailable(.deviceNotEligible))
        case .switchedOff, .notReady: #expect(model.availability == .unavailable(.systemNotReady))
        case .approachingQuota:
            #expect(error == nil)
            guard case .belowLimit(let below) = model.quotaUsage.status else { throw Missing("not below") }
            #expect(below.isApproachingLimit)
        case .quotaReached:
            #expect(model.quotaUsage.isLimitReached && model.quotaUsage.resetDate != nil)
            guard case Model.Error.quotaLimitReached? = error else { throw Missing("\(String(describing: error))") }
        case .networkDown:
            guard case Model.Error.networkFailure? = error else { throw Missing("\(String(describing: error))") }
        }
        if state != .approachingQuota { #expect(error != nil && server.requests.isEmpty) }
    }
}
