import Foundation
import FoundationModels
import FoundationModelsServer
import FoundationModelsTesting
import Inference
import TestSupport
import Testing
import fm

/// The commands that ask the server of Private Cloud Compute.
@Suite struct PrivateCloudCommandTests {
    private func fixture(_ port: UInt16, _ more: [String: String] = [:]) -> CommandFixture {
        var fixture = CommandFixture()
        fixture.variables = [
            "FM_CLOUD_URL": "http://127.0.0.1:\(port)/v1", "FM_CLOUD_MODEL": "big", "FM_CLOUD_API_KEY": "secret",
        ].merging(more) { $1 }
        return fixture
    }

    private static func list(_ headers: [String: String]) -> [FaultServer.Step] {
        [
            FaultServer.head("200 OK", headers.merging(["Content-Type": "application/json"]) { $1 }),
            .send(Array(#"{"object": "list", "data": [{"id": "big"}]}"#.utf8)),
        ]
    }

    @Test(
        "fm quota-usage asks the server",
        arguments: [
            (["x-quota-limit": "100", "x-quota-remaining": "60", "x-quota-reset": "60"], "below the limit"),
            (["x-quota-limit": "100", "x-quota-remaining": "5", "x-quota-reset": "60"], "approaching the limit"),
            (["x-quota-limit": "100", "x-quota-remaining": "0", "x-quota-reset": "60"], "limit reached"),
        ])
    func quotas(headers: [String: String], status: String) async throws {
        let server = FaultServer { _ in Self.list(headers) }
        defer { server.stop() }
        let told = await fixture(server.port).run(["quota-usage"])
        #expect(told.code == .success && told.output.hasPrefix("\(status), counting begins anew at "), "\(told)")
        #expect(server.requests.map(\.path) == ["/v1/models"])
        #expect(server.requests.first?.headers["authorization"] == "Bearer secret")
        let json = await fixture(server.port).run(["quota-usage", "--json"])
        #expect(json.output.contains("\"status\": \"\(status)\""))
    }

    @Test func aServerThatSaysNothingOrIsNotThereIsTold() async throws {
        let silent = FaultServer { _ in Self.list([:]) }
        let port = silent.port
        let nothing = await fixture(port).run(["quota-usage"])
        #expect(nothing.code == .unavailable && nothing.messages.contains("says nothing about a quota"))
        silent.stop()
        let refusing = FaultServer { _ in [.reset] }
        defer { refusing.stop() }
        let away = await fixture(refusing.port).run(["quota-usage"])
        #expect(away.code == .unavailable && away.messages.contains("could not be reached"), "\(away)")
        let none = await CommandFixture().run(["quota-usage"])
        #expect(none.code == .unavailable && none.messages.contains("set FM_CLOUD_URL"), "\(none)")
    }

    @Test(
        "states for tests are those of the quota too",
        arguments: [
            ("approaching-quota", ExitCode.success, "approaching the limit"),
            ("quota-reached", .success, "limit reached"),
            ("network-down", .unavailable, "takes the network down"),
            ("switched-off", .unavailable, "makes the server unavailable"),
        ])
    func simulated(state: String, code: ExitCode, text: String) async throws {
        // Nothing is asked: nobody listens there.
        let told = await fixture(9, ["FM_SIMULATE": state]).run(["quota-usage"])
        #expect(told.code == code && (told.output + told.messages).contains(text), "\(told)")
        // Nor need there be a server.
        var bare = CommandFixture()
        bare.variables = ["FM_SIMULATE": state]
        let alone = await bare.run(["quota-usage"])
        #expect(alone.code == code && alone.output == told.output && alone.messages == told.messages, "\(alone)")
        let said = await bare.run(["respond", "--model", "pcc", "Hi"], makeModel: Context.models(bare.environment))
        #expect(said.code == .unavailable && said.messages.contains("FM_SIMULATE"), "\(said)")
    }

    @Test func respondAnswersWithTheServer() async throws {
        let events =
            #"data: {"choices":[{"delta":{"content":"Yes."},"finish_reason":"stop"}]}"# + "\n\ndata: [DONE]\n\n"
        let server = FaultServer { _ in
            [FaultServer.head("200 OK", ["Content-Type": "text/event-stream"]), .send(Array(events.utf8))]
        }
        defer { server.stop() }
        let fixture = fixture(server.port)
        let said = await fixture.run(
            ["respond", "--model", "pcc", "Hi"], makeModel: Context.models(fixture.environment))
        #expect(said.code == .success && said.output == "Yes.\n", "\(said)")
        let bare = CommandFixture()
        let none = await bare.run(["respond", "--model", "pcc", "Hi"], makeModel: Context.models(bare.environment))
        #expect(none.code == .unavailable && none.messages.contains("FM_CLOUD_URL"), "\(none)")
        // Commands that need the weights say so.
        let count = await fixture.run(["token-count", "--model", "pcc", "Hi"])
        #expect(count.code == .usage, "\(count)")
    }

    @Test func aModelFileOfThatNameGoesBeforeTheServer() async throws {
        let fixture = CommandFixture()
        fixture.installModel("pcc")
        let said = await fixture.run(["respond", "--model", "pcc", "Hi"], [[.text("from the file")]])
        #expect(said.output == "from the file\n")
    }

    @Test(
        "fm available tells the states for tests",
        arguments: [
            ("device-not-eligible", "deviceNotEligible"), ("switched-off", "appleIntelligenceNotEnabled"),
            ("not-ready", "modelNotReady"), ("quota-reached", nil), ("", nil),
        ] as [(String, String?)])
    func available(state: String, reason: String?) async throws {
        var fixture = CommandFixture()
        fixture.installModel()
        fixture.variables = ["FM_SIMULATE": state]
        let told = await fixture.run(["available", "--json"])
        #expect(told.code == (reason == nil ? .success : .unavailable))
        #expect(told.output.contains(reason.map { "\"reason\": \"\($0)\"" } ?? "\"reason\": null"), "\(told)")
    }

    @Test("the quota of fm serve is what the client shows, before, while and after it is used")
    func ourOwnServer() async throws {
        let name = ProcessInfo.processInfo.environment["FM_MODEL"] ?? "smollm2-135m"
        let file = try ModelStore().resolve(name).url
        let engine = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try Engine.load(file, options: EngineOptions(contextSize: 1024), trace: nil) })
            }
        }
        var configuration = ModelServer.Configuration(modelName: "big")
        configuration.access = AccessPolicy(tokens: ["secret"])
        configuration.allowance = .init(tokensPerDay: 20)
        let socket = try ListeningSocket(host: "127.0.0.1", port: 0)
        let http = HTTPServer(socket, handler: ModelServer(engine, configuration))
        defer { http.stop() }
        let fixture = fixture(UInt16(socket.port))
        func quota() async -> CommandFixture.Outcome { await fixture.run(["quota-usage"]) }
        func respond() async -> CommandFixture.Outcome {
            await fixture.run(
                ["respond", "--model", "pcc", "--greedy", "--max-tokens", "4", "Hi"],
                makeModel: Context.models(fixture.environment))
        }
        #expect(await quota().output.hasPrefix("below the limit"))
        let first = await respond()
        #expect(first.code == .success && !first.output.isEmpty, "\(first)")
        // The template's own words alone are more than that.
        #expect(await quota().output.hasPrefix("limit reached, counting begins anew at "))
        let second = await respond()
        #expect(second.code == .unavailable && second.messages.contains("The quota is used up"), "\(second)")
        let model = PrivateCloudComputeLanguageModel(environment: fixture.environment)
        #expect(model.quotaUsage.isLimitReached && model.quotaUsage.limitIncreaseSuggestion != nil)
        #expect(try #require(model.quotaUsage.resetDate) > Date().addingTimeInterval(80_000))
    }
}
