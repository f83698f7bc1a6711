import Foundation
import FoundationModelsServer
import Inference
import JSON
import TestSupport
import Testing

/// A server whose model has an adapter answers as the model does into which it is merged.
@Suite struct AdapterTests {
    let folder = ScratchFolder()

    private func server(_ file: URL, _ adapter: Adapter? = nil) throws -> ModelServer {
        var configuration = ModelServer.Configuration(modelName: "tiny")
        configuration.adapter = adapter
        return ModelServer(
            try Engine.load(file, options: EngineOptions(threadCount: 1, concurrentRequests: 2)), configuration)
    }

    @Test func everyKindOfRequestUsesIt() async throws {
        func url(_ name: String) -> URL { URL(fileURLWithPath: "\(folder.path)/\(name)") }
        try TinyModel.write(to: url("base.gguf"), context: 4096) { writer in
            let fixture = AdapterFixture(
                writer, architecture: "qwen2", alpha: 8, matrices: AdapterFixture.matrices(writer, layers: 2),
                seed: "server")
            try? fixture.gguf.write(to: url("adapter.gguf"))
            try? fixture.merged(into: writer).write(to: url("merged.gguf"))
        }
        let adapter = try Adapter(
            AdapterFile(url("adapter.gguf")), for: ModelConfiguration(GGUFFile(url("base.gguf"))))
        let plain = try server(url("base.gguf"))
        let adapted = try server(url("base.gguf"), adapter)
        let merged = try server(url("merged.gguf"))

        func outcome(_ server: ModelServer, _ path: String, _ body: String) async throws -> JSONValue {
            let answer = try await server.request(path, body)
            try #require(answer.status == 200, "\(answer.text)")
            return try #require(try JSONValue(parsing: answer.text)["choices"])
        }
        let message = #""messages": [{"role": "user", "content": "the tin"}], "temperature": 0, "max_tokens": 12"#
        let tool =
            #", "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"enum": ["one", "two", "three", "four"]}}, "required": ["a"]}}}], "tool_choice": "required", "parallel_tool_calls": false"#
        for (path, body) in [
            ("/v1/chat/completions", "{\(message)}"),
            ("/v1/completions", #"{"prompt": "the tin", "temperature": 0, "max_tokens": 12}"#),
        ] {
            let expected = try await outcome(merged, path, body)
            #expect(try await outcome(adapted, path, body) == expected, "\(path)")
            #expect(try await outcome(plain, path, body) != expected, "\(path)")
        }
        func arguments(_ server: ModelServer) async throws -> JSONValue? {
            let choice = try await outcome(server, "/v1/chat/completions", "{\(message)\(tool)}")[0]
            return choice?["message"]?["tool_calls"]?[0]?["function"]?["arguments"]
        }
        let expected = try #require(try await arguments(merged))
        #expect(try await arguments(adapted) == expected)
    }
}
