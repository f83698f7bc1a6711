import Foundation
import FoundationModelsServer
import Inference
import JSON
import TestSupport
import Testing

/// `/v1/embeddings` with a small model of random weights that the test writes, alone and beside no model for text.
@Suite struct EmbeddingTests {
    static let model = Result {
        let folder = ScratchFolder()
        let url = URL(fileURLWithPath: "\(folder.path)/tiny.gguf")
        try TinyEncoder.write(to: url)
        return try withExtendedLifetime(folder) { try EmbeddingModel.load(url, threadCount: 1) }
    }

    let server: ModelServer

    init() throws {
        server = ModelServer(
            nil, ModelServer.Configuration(modelName: "none"),
            embedder: .init(name: "tiny", model: try Self.model.get()))
    }

    private func vectors(_ members: String) async throws -> JSONValue {
        let answer = try await server.request("/v1/embeddings", "{\(members)}")
        try #require(answer.status == 200, "\(answer.text)")
        return try JSONValue(parsing: answer.text)
    }

    private func numbers(_ value: JSONValue?) -> [Float] {
        value?.arrayValue?.compactMap { $0.numberValue.map { Float($0.doubleValue) } } ?? []
    }

    @Test func texts() async throws {
        let one = try await vectors(#""model": "tiny", "input": "red green""#)
        #expect(one["object"] == "list" && one["model"] == "tiny")
        #expect(one["usage"] == ["prompt_tokens": 4, "total_tokens": 4])
        #expect(one["data"]?.arrayValue?.count == 1)
        let vector = numbers(one["data"]?[0]?["embedding"])
        #expect(vector.count == TinyEncoder.width)
        #expect(abs(vector.reduce(0) { $0 + $1 * $1 } - 1) < 1e-5)

        // In the order of the request, whatever their lengths, and as tokens.
        let list = try await vectors(#""input": ["one two three", "red green", "blue"]"#)
        #expect(list["data"]?.arrayValue?.compactMap { $0["index"] } == [0, 1, 2])
        #expect(list["data"]?[0]?["object"] == "embedding")
        #expect(numbers(list["data"]?[1]?["embedding"]) == vector)
        #expect(list["usage"]?["prompt_tokens"] == 12)
        let tokens = try await server.request("/tokenize", #"{"content": "red green", "add_special": true}"#)
        let ids = try #require(try JSONValue(parsing: tokens.text)["tokens"])
        #expect(ids == [2, 4, 5, 3])
        #expect(numbers(try await vectors("\"input\": \(ids.text())")["data"]?[0]?["embedding"]) == vector)
        #expect(numbers(try await vectors("\"input\": [[4], \(ids.text())]")["data"]?[1]?["embedding"]) == vector)
    }

    @Test func formats() async throws {
        let floats = try await vectors(#""input": "red", "encoding_format": "float", "user": "somebody""#)
        let packed = try await vectors(#""input": "red", "encoding_format": "base64""#)
        let data = try #require(Data(base64Encoded: packed["data"]?[0]?["embedding"]?.stringValue ?? ""))
        let unpacked = stride(from: 0, to: data.count, by: 4).map { start in
            Float(bitPattern: data[start..<start + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
        }
        #expect(unpacked == numbers(floats["data"]?[0]?["embedding"]))

        let short = numbers(try await vectors(#""input": "red", "dimensions": 8"#)["data"]?[0]?["embedding"])
        #expect(short.count == 8)
        #expect(abs(short.reduce(0) { $0 + $1 * $1 } - 1) < 1e-5)
        let whole = numbers(try await vectors(#""input": "red", "dimensions": 32"#)["data"]?[0]?["embedding"])
        #expect(whole == unpacked)
    }

    @Test(arguments: [
        (#""model": "tiny""#, 400, "missing_required_parameter", "input"),
        (#""input": """#, 400, "invalid_value", "input"),
        (#""input": []"#, 400, "invalid_value", "input"),
        (#""input": ["red", ""]"#, 400, "invalid_value", "input[1]"),
        (#""input": [[]]"#, 400, "invalid_value", "input[0]"),
        (#""input": {}"#, 400, "invalid_type", "input"),
        (#""input": ["red", 4]"#, 400, "invalid_type", "input[1]"),
        (#""input": [4, "red"]"#, 400, "invalid_type", "input[1]"),
        (#""input": [12]"#, 400, "invalid_value", "input"),
        (#""input": [[4], [-1]]"#, 400, "invalid_value", "input[1]"),
        (#""input": "red", "encoding_format": "hex""#, 400, "invalid_value", "encoding_format"),
        (#""input": "red", "dimensions": 0"#, 400, "invalid_value", "dimensions"),
        (#""input": "red", "dimensions": 33"#, 400, "invalid_value", "dimensions"),
        (#""input": "red", "inputs": 1"#, 400, "unknown_parameter", "inputs"),
        (#""input": "red", "model": "other""#, 404, "model_not_found", "model"),
    ])
    func refusals(members: String, status: Int, code: String, parameter: String) async throws {
        let answer = try await server.request("/v1/embeddings", "{\(members)}")
        let error = try JSONValue(parsing: answer.text)["error"]
        #expect(answer.status == status, "\(answer.text)")
        #expect(error?["code"] == .string(code) && error?["param"] == .string(parameter), "\(answer.text)")
    }

    @Test func aTextThatIsTooLongIsNamed() async throws {
        let long = [String](repeating: "red", count: TinyEncoder.context).joined(separator: " ")
        let answer = try await server.request("/v1/embeddings", "{\"input\": [\"red\", \"\(long)\"]}")
        let error = try JSONValue(parsing: answer.text)["error"]
        #expect(answer.status == 400 && error?["code"] == "context_length_exceeded" && error?["param"] == "input[1]")
        #expect(error?["message"]?.stringValue?.contains("66 tokens") == true, "\(answer.text)")
    }

    @Test func aModelForEmbeddingsWritesNoText() async throws {
        for (path, body) in [
            ("/v1/chat/completions", #"{"model": "tiny", "messages": [{"role": "user", "content": "red"}]}"#),
            ("/v1/completions", #"{"prompt": "red"}"#),
        ] {
            let answer = try await server.request(path, body)
            let error = try JSONValue(parsing: answer.text)["error"]
            #expect(answer.status == 400 && error?["code"] == "unsupported_model", "\(answer.text)")
            #expect(error?["message"]?.stringValue?.contains("makes embeddings") == true)
        }
        let models = try await server.request("/v1/models", "", method: "GET")
        #expect(try JSONValue(parsing: models.text)["data"]?.arrayValue?.compactMap { $0["id"] } == ["tiny"])
        #expect(try await server.request("/v1/models/tiny", "", method: "GET").status == 200)
        #expect(try await server.request("/v1/models/none", "", method: "GET").status == 404)
    }
}

extension ServedModelTests {
    /// Both kinds of models in one server.
    @Suite struct EmbeddingsBesideTextTests {
        @Test func eachIsAskedForWhatItDoes() async throws {
            let server = ModelServer(
                try ServedModel.engine.get(), ModelServer.Configuration(modelName: "small"),
                embedder: .init(name: "tiny", model: try EmbeddingTests.model.get()))
            func error(_ path: String, _ body: String) async throws -> (Int, JSONValue?) {
                let answer = try await server.request(path, body)
                return (answer.status, try JSONValue(parsing: answer.text)["error"]?["message"])
            }
            #expect(try await error("/v1/embeddings", #"{"model": "tiny", "input": "red"}"#).0 == 200)
            #expect(try await error("/v1/embeddings", #"{"input": "red"}"#).0 == 200)
            let (status, message) = try await error("/v1/embeddings", #"{"model": "small", "input": "red"}"#)
            #expect(status == 400 && message?.stringValue?.contains("'tiny' does") == true)
            let chat = #""messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1"#
            #expect(try await error("/v1/chat/completions", "{\"model\": \"small\", \(chat)}").0 == 200)
            #expect(try await error("/v1/chat/completions", "{\"model\": \"tiny\", \(chat)}").0 == 400)
            let models = try await server.request("/v1/models", "", method: "GET")
            let names = try JSONValue(parsing: models.text)["data"]?.arrayValue?.compactMap { $0["id"] }
            #expect(names == ["small", "tiny"])

            let alone = try ServedModel.server()
            let refused = try await alone.request("/v1/embeddings", #"{"input": "red"}"#)
            #expect(refused.status == 400 && refused.text.contains("has no model that does"))
        }
    }
}
