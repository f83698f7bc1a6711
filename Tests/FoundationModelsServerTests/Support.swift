import Foundation
import FoundationModelsServer
import Inference
import JSON
import Testing

/// The tests that share one model, one after the other: they look at what it keeps and how long its answers take.
@Suite(.serialized) enum ServedModelTests {}

/// The model that `./test` names, loaded once.
enum ServedModel {
    static let engine = Result {
        let name = ProcessInfo.processInfo.environment["FM_MODEL"] ?? "smollm2-135m"
        return try Engine.load(
            ModelStore().resolve(name).url, options: EngineOptions(contextSize: 1024, concurrentRequests: 2))
    }

    static func server(_ change: (inout ModelServer.Configuration) -> Void = { _ in }) throws -> ModelServer {
        var configuration = ModelServer.Configuration(modelName: "small")
        configuration.concurrentRequests = 2
        change(&configuration)
        return ModelServer(try engine.get(), configuration)
    }
}

extension ModelServer {
    typealias Answer = (status: Int, text: String, headers: [String: String])

    /// Brings a request without a connection and takes the whole answer.
    func request(
        _ path: String, _ body: String, method: String = "POST", headers: [String: [String]] = [:]
    ) async throws -> Answer {
        try await onThread { try self.blockingRequest(path, body, method: method, headers: headers) }
    }

    private func blockingRequest(
        _ path: String, _ body: String, method: String, headers: [String: [String]]
    ) throws -> Answer {
        var all = ["host": ["localhost"], "content-type": ["application/json"]]
        all.merge(headers) { $1 }
        let head = HTTPRequestHead(method: method, path: path, headers: all)
        let response = screen(head) ?? answer(HTTPRequest(head: head, body: Array(body.utf8)))
        var bytes: [UInt8] = []
        switch response.body {
        case .bytes(let body): bytes = body
        case .stream(let stream):
            while let piece = try stream.next() { bytes += piece }
            stream.end()
        }
        return (
            response.status, String(decoding: bytes, as: UTF8.self),
            Dictionary(response.headers.map { ($0.name, $0.value) }) { first, _ in first }
        )
    }

    func chat(_ members: String) async throws -> JSONValue {
        let answer = try await request("/v1/chat/completions", "{\(members)}")
        try #require(answer.status == 200, "\(answer.text)")
        return try JSONValue(parsing: answer.text)
    }
}

extension JSONValue {
    subscript(index: Int) -> JSONValue? {
        guard let array = arrayValue, array.indices.contains(index) else { return Optional.none }
        return array[index]
    }
}

/// The values of the events of a stream, without its `[DONE]`.
func events(_ text: String) throws -> [JSONValue] {
    try text.components(separatedBy: "\n\n").filter { !$0.isEmpty && $0 != "data: [DONE]" }.map { line in
        try #require(line.hasPrefix("data: "))
        return try JSONValue(parsing: String(line.dropFirst(6)))
    }
}

/// Does what waits on a thread of its own: on Swift's cooperative pool it would keep the answer it waits for from being made.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Swift.Result { try body() }) }.start()
    }
}
